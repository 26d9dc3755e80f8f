package policy

import (
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/internal/glob"
	"github.com/pawlkit/pawl/tools"
)

// A matter is what a call is about, ready to be compared with rules.
type matter struct {
	spec        *tools.Spec
	fingerprint string
	project     string
	rules       []Rule  // of the host and the project, without those of Rules.Hard
	asks        []*Rule // of these, what asks about the call

	Subject
	places []place  // Paths
	hosts  []string // Hosts; "" for one that can't be compared
	texts  []text   // Texts, and others that may be commands
	words  bool     // a rule about words names the tool
	odd    bool     // Args can't be compared
	sure   bool     // all can be compared, and no path leads elsewhere
}

// compare fills in what is compared. Paths are below root.
func (m *matter) compare(root string) {
	m.odd = slices.ContainsFunc(m.Args, func(w string) bool {
		return !utf8.ValidString(w) || strings.Contains(w, "\x00")
	})
	m.sure = !m.odd && m.addedPlaces == 0
	m.readWords()
	for _, p := range m.Paths {
		if p != "" {
			at, sure := placeOf(root, p)
			m.places, m.sure = append(m.places, at), m.sure && sure
		}
	}
	for _, h := range m.Hosts {
		if h != "" {
			host, plain := hostOf(h)
			m.hosts, m.sure = append(m.hosts, host), m.sure && plain
		}
	}
	m.asks = m.find(tools.Ask, m.rules)
}

// find returns the rules with an effect that the call matches.
func (m *matter) find(effect tools.Effect, rules []Rule) (found []*Rule) {
	for i := range rules {
		r := &rules[i]
		matches := r.covers
		if effect == tools.Allow {
			matches = r.permits
		}
		if r.Effect == effect && r.about(m.spec.Name) && !r.ended() && matches(m) {
			found = append(found, r)
		}
	}
	return found
}

// about reports whether a rule is about a tool.
func (r *Rule) about(tool string) bool {
	ok, _ := path.Match(r.Tool, tool)
	return ok
}

func (r *Rule) ended() bool { return !r.Until.IsZero() && !time.Now().Before(r.Until) }

// covers reports whether a rule that denies or asks is about a call. It matches widely.
func (r *Rule) covers(m *matter) bool {
	near := func(p place) bool {
		return len(p.names) == 0 || slices.ContainsFunc(p.names, func(name string) bool {
			return inside(r.Path, name) ||
				!m.spec.ReadOnly && len(m.Args)+len(m.Texts) == m.addedTexts && above(r.Path, name, p.folder)
		})
	}
	among, unsure := r.inTexts(m)
	return (len(r.Args) == 0 || m.odd || within(r.Args, m.Args) || among || unsure) &&
		(r.Path == "" || slices.ContainsFunc(m.places, near)) &&
		(r.Host == "" || slices.ContainsFunc(m.hosts, func(h string) bool { return h == "" || onHost(r.Host, h) }))
}

// permits reports whether a rule that allows is for a call. It matches exactly.
func (r *Rule) permits(m *matter) bool {
	if m.oneText() || r.Fingerprint != "" && r.Fingerprint != m.fingerprint ||
		slices.ContainsFunc(m.asks, func(ask *Rule) bool { return !r.asNarrowAs(ask) }) {
		return false
	}
	if !r.conditional() {
		return true
	}
	words := m.Args
	if n := len(r.Args); !r.Exact && len(words) > n {
		words = words[:n]
	}
	if !m.sure || len(r.Args) > 0 && m.More || !slices.Equal(r.Args, words) {
		return false
	}
	var paths []string
	for _, p := range m.places {
		paths = append(paths, p.names[0]) // it has names, and all of them are the same
	}
	return r.allAre(r.Path, paths, glob.Match) && r.allAre(r.Host, m.hosts, onHost)
}

// allAre reports whether all paths or hosts of a call, and at least one, are as a condition says.
// Without a condition they may be any, but there is none if the rule is exact.
func (r *Rule) allAre(condition string, of []string, match func(pattern, s string) bool) bool {
	if condition == "" {
		return !r.Exact || len(of) == 0
	}
	return len(of) > 0 && !slices.ContainsFunc(of, func(s string) bool {
		return s != condition && (r.Exact || !match(condition, s))
	})
}

// asNarrowAs reports whether all calls that a rule permits are among those that another asks about,
// given that this is so for one call. Each * of a pattern stands for two letters here, because ?
// and [a-z] of the other aren't as wide.
func (r *Rule) asNarrowAs(ask *Rule) bool {
	tool, file := strings.ReplaceAll(r.Tool, "*", "**"), strings.ReplaceAll(r.Path, "*", "**")
	return (r.Tool == ask.Tool || ask.about(tool)) &&
		(r.Exact || within(ask.Args, r.Args) && (ask.Host == "" || onHost(ask.Host, r.Host)) &&
			(r.Path == ask.Path || ask.Path == "" || r.Path != "" && inside(ask.Path, file)))
}

// within reports whether the words of a rule are among others, in this order.
func within(rule, words []string) bool {
	for _, w := range words {
		if len(rule) > 0 && foldWord(rule[0]) == foldWord(w) {
			rule = rule[1:]
		}
	}
	return len(rule) == 0
}

func onHost(pattern, host string) bool {
	parent, below := strings.CutPrefix(pattern, "*")
	return pattern == host || below && strings.HasSuffix(host, parent)
}

// inside reports whether a pattern is for a file, or for a folder that it is in.
func inside(pattern, name string) bool { return glob.Match(path.Join(fold(pattern), "**"), fold(name)) }

// above reports whether a pattern is for something that may be in a folder. A pattern such as
// "**/*.key" is only if the folder is known to be one: it would be for each file otherwise.
func above(pattern, name string, folder bool) bool {
	for dir := fold(pattern); dir != "."; {
		dir = path.Dir(dir)
		if glob.Match(dir, fold(name)) && (folder || !strings.Contains(dir, "**")) {
			return true
		}
	}
	return false
}

// fold folds each part of a path.
func fold(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = glob.Fold(p)
	}
	return strings.Join(parts, "/")
}
