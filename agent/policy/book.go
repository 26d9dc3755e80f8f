package policy

import (
	"context"
	"slices"
	"sync"
)

// A Book keeps the grants of projects, and the modes of sessions. It is read at each call, and its
// errors deny. [File] and [InMemory] are books; a host may write one over its database. Its methods
// may be called from several goroutines and processes at a time.
type Book interface {
	// Rules returns the rules of a project, without those that have ended.
	Rules(ctx context.Context, project string) ([]Rule, error)
	// Put adds a rule. It replaces one that says the same, with the same By.
	Put(ctx context.Context, project string, r Rule) error
	// Drop removes the rule that says the same, with the same By, if there is one.
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
	Version  int               `json:"version"`
	Projects map[string][]Rule `json:"projects"`
	Modes    map[string]Mode   `json:"modes"`
}

func newContents() *contents {
	return &contents{fileVersion, make(map[string][]Rule), make(map[string]Mode)}
}

// rules returns the rules of a project that haven't ended, without those that are the same as drop.
func (c *contents) rules(project string, drop ...Rule) []Rule {
	return slices.DeleteFunc(slices.Clone(c.Projects[project]), func(r Rule) bool {
		return r.ended() || slices.ContainsFunc(drop, r.same)
	})
}

// A book is a Book in a file, or in memory.
type book struct {
	path string // of the file, or ""

	mu     sync.Mutex
	memory *contents // guarded by mu
}

// InMemory returns a book of this process. It keeps what [File] keeps.
func InMemory() Book { return &book{memory: newContents()} }

// use calls a function with the contents, and keeps them if it changes them.
func (b *book) use(ctx context.Context, change bool, f func(*contents) error) error {
	if b.path != "" {
		return b.useFile(ctx, change, f)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return f(b.memory)
}

// Rules returns the rules of a project.
func (b *book) Rules(ctx context.Context, project string) (rules []Rule, err error) {
	err = b.use(ctx, false, func(c *contents) error {
		rules = c.rules(project)
		return nil
	})
	return rules, err
}

// Put adds a rule.
func (b *book) Put(ctx context.Context, project string, r Rule) error {
	if problem := r.problem(); problem != "" {
		return invalid("the rule can't apply: %s", problem)
	}
	return b.use(ctx, true, func(c *contents) error {
		rules := append(c.rules(project, r), r)
		if len(rules) > maxRules {
			return invalid("the project %q has %d rules; drop some before you put others", project, maxRules)
		}
		c.Projects[project] = rules
		return nil
	})
}

// Drop removes a rule.
func (b *book) Drop(ctx context.Context, project string, r Rule) error {
	return b.use(ctx, true, func(c *contents) error {
		c.Projects[project] = c.rules(project, r)
		return nil
	})
}

// Mode returns the mode of a session.
func (b *book) Mode(ctx context.Context, session string) (m Mode, err error) {
	err = b.use(ctx, false, func(c *contents) error {
		m = c.Modes[session]
		return nil
	})
	return m, err
}

// SetMode sets the mode of a session.
func (b *book) SetMode(ctx context.Context, session string, m Mode) error {
	return b.use(ctx, true, func(c *contents) error {
		delete(c.Modes, session)
		if m == "" {
			return nil
		}
		if len(c.Modes) == maxModes {
			return invalid("%d sessions have a mode; forget those of sessions that were deleted", maxModes)
		}
		c.Modes[session] = m
		return nil
	})
}
