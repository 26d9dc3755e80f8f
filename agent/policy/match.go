package policy

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/tools"
)

// A matter is what a call is about, ready to be compared with rules.
type matter struct {
	spec               *tools.Spec
	fingerprint, scope string
	root, project      string
	inProject          bool // it belongs to a project

	Subject
	places []place  // Paths
	hosts  []string // Hosts; "" for one that can't be compared
	odd    bool     // Args can't be compared
	sure   bool     // all can be compared, and no path leads elsewhere
	asked  *Rule    // the narrowest rule that asks, unless it is hard
}

// compare fills in what is compared.
func (m *matter) compare() {
	for _, w := range m.Args {
		m.odd = m.odd || !utf8.ValidString(w) || strings.IndexByte(w, 0) >= 0
	}
	m.sure = !m.odd
	for _, p := range m.Paths {
		if p != "" {
			m.places = append(m.places, placeOf(m.root, p))
			m.sure = m.sure && m.places[len(m.places)-1].sure
		}
	}
	for _, h := range m.Hosts {
		host, plain := hostOf(h)
		m.hosts = append(m.hosts, host)
		m.sure = m.sure && plain
	}
}

// find returns the rule with an effect that the call matches; of several, the one with most words.
func (m *matter) find(effect tools.Effect, rules []Rule) (found *Rule) {
	now := time.Now()
	for i := range rules {
		r := &rules[i]
		fits, narrower := r.covers, found == nil || len(r.Args) > len(found.Args)
		if effect == tools.Allow {
			fits = r.permits
		}
		if min(r.Effect, tools.Deny) == effect && narrower && r.about(m.spec.Name, now) && fits(m) {
			found = r
		}
	}
	return found
}

// about reports whether a rule is about a tool, now.
func (r *Rule) about(tool string, now time.Time) bool {
	ok, _ := path.Match(r.Tool, tool)
	return (ok || r.Tool == tool || r.Tool == "*") && (r.Until.IsZero() || now.Before(r.Until))
}

// covers reports whether a rule that denies or asks is about a call. It matches widely.
func (r *Rule) covers(m *matter) bool {
	near := func(name string) bool {
		self, below, above := glob(folded(r.Path), folded(name))
		return self || below || above && !m.spec.ReadOnly && len(m.Args) == 0
	}
	return (len(r.Args) == 0 || m.odd || within(r.Args, m.Args)) &&
		(r.Path == "" || slices.ContainsFunc(m.places, func(p place) bool {
			return p.names == nil || slices.ContainsFunc(p.names, near)
		})) &&
		(r.Host == "" || slices.ContainsFunc(m.hosts, func(h string) bool { return h == "" || onHost(r.Host, h) }))
}

// permits reports whether a rule that allows is for a call. It matches exactly. If a rule asks, it
// has to be at least as narrow.
func (r *Rule) permits(m *matter) bool {
	n, ask := len(r.Args), m.asked
	switch {
	case r.Fingerprint != "" && r.Fingerprint != m.fingerprint, r.Scope != "" && r.Scope != m.scope,
		ask != nil && (!r.Exact && n < len(ask.Args) || r.Path == "" && ask.Path != "" ||
			r.Host == "" && ask.Host != ""):
		return false
	case n+len(r.Path)+len(r.Host) == 0:
		return true
	case !m.sure, n > 0 && m.More, len(m.Args) < n || !slices.Equal(r.Args, m.Args[:n]),
		r.Exact && (len(m.Args) > n || r.Path == "" && len(m.places) > 0),
		r.Path != "" && len(m.places) == 0, r.Host != "" && len(m.hosts) == 0:
		return false
	}
	return !slices.ContainsFunc(m.places, func(p place) bool {
		self, _, _ := glob(r.Path, p.names[0])
		return r.Path != "" && !(r.Path == p.names[0] || self && !r.Exact)
	}) && !slices.ContainsFunc(m.hosts, func(h string) bool { return r.Host != "" && !onHost(r.Host, h) })
}

// within reports whether the words of a rule are among others, in this order.
func within(rule, words []string) bool {
	for _, w := range words {
		r, w := fold(rule[0]), fold(w)
		if r == w || base(r) == base(w) && base(r) != "" {
			if rule = rule[1:]; len(rule) == 0 {
				return true
			}
		}
	}
	return false
}

func onHost(pattern, host string) bool {
	parent, below := strings.CutPrefix(pattern, "*")
	return pattern == host || below && strings.HasSuffix(host, parent)
}

// folded folds each part of a path. What follows a colon names a stream on Windows.
func folded(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		file, _, _ := strings.Cut(p, ":")
		parts[i] = fold(cmp.Or(file, p))
	}
	return strings.Join(parts, "/")
}

// glob reports whether a pattern is for a name, for a folder that the name is below, and for
// something that may be below the name.
func glob(pattern, name string) (self, below, above bool) {
	parts := strings.Split(name, "/")
	if name == "." {
		parts = nil
	}
	n := len(parts)
	at := make([]bool, n+1) // at[i]: the pattern so far matches the first i parts
	at[0] = true
	for p := range strings.SplitSeq(pattern, "/") {
		above = above || at[n]
		next := make([]bool, n+1)
		for i := range next {
			if p == "**" {
				next[i] = at[i] || i > 0 && next[i-1]
			} else if i > 0 && at[i-1] {
				next[i], _ = path.Match(p, parts[i-1])
			}
		}
		at = next
	}
	return at[n], slices.Contains(at[:n], true), above
}
