package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
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
	Projects map[string][]Rule      `json:"projects,omitempty"`
	Modes    map[string]sessionMode `json:"modes,omitempty"`
}

// A sessionMode is the mode of a session, and when it was set.
type sessionMode struct {
	Mode Mode      `json:"mode"`
	At   time.Time `json:"at"`
}

func (c *contents) rules(project string, now time.Time) []Rule {
	return slices.DeleteFunc(slices.Clone(c.Projects[project]), func(r Rule) bool { return !r.about(r.Tool, now) })
}

func (c *contents) put(project string, r Rule, now time.Time) error {
	if problem := r.problem(); problem != "" {
		return fault.Wrap(fault.Invalid, fmt.Errorf("policy: the rule: %w", errors.New(problem)))
	}
	c.drop(project, r, now)
	if len(c.Projects[project]) >= maxRules {
		return fault.New(fault.Invalid, fmt.Sprintf("policy: the project %q has %d rules; drop some before you put others",
			project, maxRules))
	}
	if c.Projects == nil {
		c.Projects = make(map[string][]Rule)
	}
	r.Args = slices.Clone(r.Args)
	c.Projects[project] = append(c.Projects[project], r)
	return nil
}

// drop also removes rules that have ended.
func (c *contents) drop(project string, r Rule, now time.Time) {
	rest := slices.DeleteFunc(c.rules(project, now), r.same)
	if delete(c.Projects, project); len(rest) > 0 {
		c.Projects[project] = rest
	}
}

func (c *contents) setMode(session string, m Mode, now time.Time) {
	if delete(c.Modes, session); m == "" {
		return
	}
	if c.Modes == nil {
		c.Modes = make(map[string]sessionMode)
	}
	c.Modes[session] = sessionMode{m, now}
	if len(c.Modes) > maxModes {
		delete(c.Modes, slices.MinFunc(slices.Collect(maps.Keys(c.Modes)), func(a, b string) int {
			return cmp.Or(c.Modes[a].At.Compare(c.Modes[b].At), cmp.Compare(a, b))
		}))
	}
}

// InMemory returns a book of this process. It keeps what [File] keeps.
func InMemory() Book { return new(inMemory) }

type inMemory struct {
	mu sync.Mutex
	contents
}

// Rules returns the rules of a project.
func (b *inMemory) Rules(_ context.Context, project string) ([]Rule, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rules(project, time.Now()), nil
}

// Put adds a rule.
func (b *inMemory) Put(_ context.Context, project string, r Rule) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.put(project, r, time.Now())
}

// Drop removes a rule.
func (b *inMemory) Drop(_ context.Context, project string, r Rule) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(project, r, time.Now())
	return nil
}

// Mode returns the mode of a session.
func (b *inMemory) Mode(_ context.Context, session string) (Mode, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Modes[session].Mode, nil
}

// SetMode sets the mode of a session.
func (b *inMemory) SetMode(_ context.Context, session string, m Mode) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setMode(session, m, time.Now())
	return nil
}
