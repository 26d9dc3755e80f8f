package policy

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"
)

// A Book keeps the grants of projects, and the modes of sessions. It is read at each call, and its
// errors deny. [File] and [InMemory] are books; a host may write one over its database. Its methods
// may be called from several goroutines and processes at a time.
type Book interface {
	// Rules returns the rules of a project, without those that have ended.
	Rules(ctx context.Context, project string) ([]Rule, error)
	// Put adds a rule. It replaces one that says the same under the same ID.
	Put(ctx context.Context, project string, r Rule) error
	// Drop removes the rule that says the same under the same ID, if there is one.
	Drop(ctx context.Context, project string, r Rule) error
	// Mode returns the mode of a session, or "" if none was set.
	Mode(ctx context.Context, session string) (Mode, error)
	// SetMode sets the mode of a session; "" forgets it.
	SetMode(ctx context.Context, session string, m Mode) error
}

// How much a book keeps.
const (
	maxRules = 1000 // of a project
	maxModes = 4096
)

// contents are what a book keeps.
type contents struct {
	Version  int                    `json:"version"`
	Projects map[string][]Rule      `json:"projects"`
	Modes    map[string]sessionMode `json:"modes"`
}

// A sessionMode is the mode of a session, and when it was set.
type sessionMode struct {
	Mode Mode      `json:"mode"`
	At   time.Time `json:"at"`
}

func newContents() *contents {
	return &contents{fileVersion, make(map[string][]Rule), make(map[string]sessionMode)}
}

// rules returns the rules of a project that haven't ended.
func (c *contents) rules(project string) []Rule {
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(c.Projects[project]), func(r Rule) bool { return !r.about(r.Tool, now) })
}

// put replaces the rule that says the same as r by more, which is r or nothing.
func (c *contents) put(project string, r Rule, more ...Rule) error {
	rules := append(slices.DeleteFunc(c.rules(project), func(o Rule) bool {
		return o.Tool == r.Tool && reflect.DeepEqual(o.said(), r.said())
	}), more...)
	if len(rules) > maxRules {
		return invalid("the project %q has %d rules; drop some before you put others", project, maxRules)
	}
	if c.Projects[project] = rules; len(rules) == 0 {
		delete(c.Projects, project)
	}
	return nil
}

func (c *contents) setMode(session string, m Mode) error {
	if c.Modes[session] = (sessionMode{m, time.Now().UTC().Round(0)}); m == "" {
		delete(c.Modes, session)
	}
	if len(c.Modes) > maxModes {
		delete(c.Modes, slices.MinFunc(slices.Collect(maps.Keys(c.Modes)), func(a, b string) int {
			return cmp.Or(c.Modes[a].At.Compare(c.Modes[b].At), cmp.Compare(a, b))
		}))
	}
	return nil
}

// A book is a Book: use calls a function with the contents, which may change them if change is set.
type book struct {
	use func(ctx context.Context, change bool, f func(*contents) error) error
}

// Rules returns the rules of a project.
func (b book) Rules(ctx context.Context, project string) (rules []Rule, err error) {
	err = b.use(ctx, false, func(c *contents) error {
		rules = c.rules(project)
		return nil
	})
	return rules, err
}

// Put adds a rule.
func (b book) Put(ctx context.Context, project string, r Rule) error {
	if problem := r.problem(); problem != "" {
		return invalid("the rule can't apply: %s", problem)
	}
	return b.use(ctx, true, func(c *contents) error { return c.put(project, r, r) })
}

// Drop removes a rule.
func (b book) Drop(ctx context.Context, project string, r Rule) error {
	return b.use(ctx, true, func(c *contents) error { return c.put(project, r) })
}

// Mode returns the mode of a session.
func (b book) Mode(ctx context.Context, session string) (m Mode, err error) {
	err = b.use(ctx, false, func(c *contents) error {
		m = c.Modes[session].Mode
		return nil
	})
	return m, err
}

// SetMode sets the mode of a session.
func (b book) SetMode(ctx context.Context, session string, m Mode) error {
	return b.use(ctx, true, func(c *contents) error { return c.setMode(session, m) })
}

// InMemory returns a book of this process. It keeps what [File] keeps.
func InMemory() Book {
	var mu sync.Mutex
	c := newContents()
	return book{func(_ context.Context, _ bool, f func(*contents) error) error {
		mu.Lock()
		defer mu.Unlock()
		return f(c)
	}}
}
