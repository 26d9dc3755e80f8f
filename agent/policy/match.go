package policy

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/tools"
)

// about reports whether a rule is about a tool, now.
func (r *Rule) about(tool string, now time.Time) bool {
	ok, _ := path.Match(r.Tool, tool)
	return (ok || r.Tool == tool) && (r.Until.IsZero() || now.Before(r.Until))
}

// covers reports whether a rule that denies or asks is about what the call is about. It matches
// widely. changes says that the call may change something: then the folder of a file counts, too.
func (r *Rule) covers(t *target, changes bool) bool {
	return (len(r.Args) == 0 || t.odd || within(r.Args, t.folded)) &&
		(r.Path == "" || slices.ContainsFunc(t.places, func(p place) bool {
			return p.names == nil || slices.ContainsFunc(p.names, func(name string) bool {
				self, below, above := matchPath(folded(r.Path), folded(name))
				return self || below || above && changes
			})
		})) &&
		(r.Host == "" || slices.ContainsFunc(t.hosts, func(h string) bool { return h == "" || matchHost(r.Host, h) }))
}

// permits reports whether a rule that allows is for what the call is about. It matches exactly.
func (r *Rule) permits(t *target, fingerprint, scope string) bool {
	if r.Fingerprint != "" && r.Fingerprint != fingerprint || r.Scope != "" && r.Scope != scope {
		return false
	}
	if len(r.Args) == 0 && r.Path == "" && r.Host == "" {
		return true
	}
	if !t.sure() || len(r.Args) > 0 && (t.More || len(t.Args) < len(r.Args) ||
		!slices.Equal(r.Args, t.Args[:len(r.Args)])) {
		return false
	}
	if r.Exact && (len(t.Args) != len(r.Args) || r.Path == "" && len(t.places) > 0) {
		return false
	}
	return (r.Path == "" || len(t.places) > 0 && !slices.ContainsFunc(t.places, func(p place) bool {
		self, _, _ := matchPath(r.Path, p.names[0])
		return r.Exact && p.names[0] != r.Path || !r.Exact && !self
	})) && (r.Host == "" || len(t.hosts) > 0 && !slices.ContainsFunc(t.hosts, func(h string) bool {
		return !matchHost(r.Host, h)
	}))
}

// answers reports whether a rule that allows is at least as narrow as one that asks.
func (r *Rule) answers(ask *Rule) bool {
	return (r.Exact || len(r.Args) >= len(ask.Args)) && (r.Path != "" || ask.Path == "") &&
		(r.Host != "" || ask.Host == "")
}

// within reports whether the words of a rule are among others, in this order.
func within(rule, words []string) bool {
	for _, w := range words {
		if r := fold(rule[0]); r == w || base(r) == base(w) && base(r) != "" {
			if rule = rule[1:]; len(rule) == 0 {
				return true
			}
		}
	}
	return false
}

func matchHost(pattern, host string) bool {
	if parent, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(host, parent)
	}
	return pattern == host
}

// folded folds each part of a path. What follows a colon names a stream on Windows.
func folded(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if colon := strings.IndexByte(p, ':'); colon > 0 {
			p = p[:colon]
		}
		parts[i] = fold(p)
	}
	return strings.Join(parts, "/")
}

// matchPath reports whether a pattern is for a name, for a folder that the name is below, and for
// something that is below the name.
func matchPath(pattern, name string) (self, below, above bool) {
	ps := strings.Split(pattern, "/")
	at := make([]bool, len(ps)+1) // at[i]: the first i parts of the pattern match so far
	at[0] = true
	skip := func() {
		for i, p := range ps {
			at[i+1] = at[i+1] || at[i] && p == "**"
		}
	}
	skip()
	parts := strings.Split(name, "/")
	if name == "." {
		parts = nil
	}
	for _, part := range parts {
		below = below || at[len(ps)]
		next := make([]bool, len(ps)+1)
		for i, p := range ps {
			switch ok, _ := path.Match(p, part); {
			case p == "**":
				next[i] = next[i] || at[i]
			case ok:
				next[i+1] = next[i+1] || at[i]
			}
		}
		at = next
		skip()
	}
	return at[len(ps)], below, slices.Contains(at[:len(ps)], true)
}

// narrowest returns the rule that asks with the most words.
func narrowest(asks []*Rule) (r *Rule) {
	for _, a := range asks {
		if r == nil || len(a.Args) > len(r.Args) {
			r = a
		}
	}
	return r
}

// selected returns the rules with an effect that are about a call.
func selected(rules []Rule, effect tools.Effect, tool string, fits func(*Rule) bool, now time.Time) (list []*Rule) {
	for i := range rules {
		if r := &rules[i]; r.Effect == effect && r.about(tool, now) && fits(r) {
			list = append(list, r)
		}
	}
	return list
}
