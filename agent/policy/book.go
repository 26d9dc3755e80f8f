package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/file"
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

// contents are what a book keeps.
type contents struct {
	Projects map[string][]Rule `json:"projects"`
	Modes    map[string]Mode   `json:"modes"`
}

func newContents() *contents {
	return &contents{make(map[string][]Rule), make(map[string]Mode)}
}

// rules returns the rules of a project that haven't ended, without those that are the same as drop.
func (c *contents) rules(project string, drop ...Rule) []Rule {
	return slices.DeleteFunc(append([]Rule{}, c.Projects[project]...), func(r Rule) bool {
		return r.ended() || slices.ContainsFunc(drop, r.same)
	})
}

// A book is a Book in a file, or in memory.
type book struct {
	path string // of the file, or ""

	mu     sync.Mutex
	memory *contents // guarded by mu
}

// InMemory returns a book of this process.
func InMemory() Book { return &book{memory: newContents()} }

// Rules returns the rules of a project.
func (b *book) Rules(ctx context.Context, project string) (rules []Rule, err error) {
	err = b.use(ctx, false, func(c *contents) { rules = c.rules(project) })
	return rules, err
}

// Put adds a rule.
func (b *book) Put(ctx context.Context, project string, r Rule) error {
	if problem := r.problem(); problem != "" {
		return invalid("the rule can't apply: %s", problem)
	}
	return b.use(ctx, true, func(c *contents) { c.Projects[project] = append(c.rules(project, r), r) })
}

// Drop removes a rule.
func (b *book) Drop(ctx context.Context, project string, r Rule) error {
	return b.use(ctx, true, func(c *contents) { c.Projects[project] = c.rules(project, r) })
}

// Mode returns the mode of a session.
func (b *book) Mode(ctx context.Context, session string) (m Mode, err error) {
	err = b.use(ctx, false, func(c *contents) { m = c.Modes[session] })
	return m, err
}

// SetMode sets the mode of a session.
func (b *book) SetMode(ctx context.Context, session string, m Mode) error {
	return b.use(ctx, true, func(c *contents) {
		if c.Modes[session] = m; m == "" {
			delete(c.Modes, session)
		}
	})
}

// use calls a function with the contents, and keeps them if it changes them.
func (b *book) use(ctx context.Context, change bool, f func(*contents)) error {
	if b.path == "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		f(b.memory)
		return nil
	}
	for left := maxTries; ; left-- {
		err := b.try(ctx, change, f)
		switch {
		case err == nil:
			return nil
		case left > 0 && (errors.Is(err, file.ErrChanged) || errors.Is(err, fs.ErrExist)): // by somebody else
		default:
			return fault.NewFixable(fmt.Sprintf("policy: the file of grants %s can't be used: %v", b.path, err),
				"correct it, or remove it to take back what it permits", err)
		}
	}
}

const (
	maxFile  = 1 << 20 // bytes
	maxTries = 1000    // of a change while others change the file
)

// File returns a book that is kept in a file, for all processes of one machine. The file and its
// directory are created with the first grant, with the permissions 0600 and 0700. A file that
// others may write, that isn't what this package writes, or that has more than 1 MiB (some 5,000
// rules) is a *[fault.FixableError], and denies all calls; a change that makes it longer is
// refused. A relative path is below the working directory, as it is now.
//
// Writers of several processes lose nothing, and readers see all of a change or nothing of it: see
// package file.
//
// Keep it where the agent can't write it. The [Set] denies calls that name it as a path below the
// project's directory, but a program that the agent may run can write what its user can.
func File(path string) Book {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return &book{path: path}
}

// try is use for a file. It fails if the file is changed meanwhile.
func (b *book) try(ctx context.Context, change bool, f func(*contents)) error {
	dir, name := filepath.Split(b.path)
	if change {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	c, old := newContents(), file.Content{}
	ws, err := file.Open(dir, file.Config{FileMode: 0o600, MaxRead: maxFile, MaxWrite: maxFile, Sync: true})
	if err == nil {
		defer ws.Close()
		if old, err = ws.Read(ctx, name); err == nil {
			err = decode(old.Data, c)
		}
	}
	if runtime.GOOS != "windows" && old.Mode.Perm()&0o022 != 0 {
		err = fmt.Errorf("others may write it (%v)", old.Mode.Perm())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f(c); !change {
		return nil
	}
	text, _ := json.MarshalIndent(c, "", "  ") // of texts
	_, err = ws.Write(ctx, name, append(text, '\n'), file.WriteOptions{Version: old.Version})
	return err
}
