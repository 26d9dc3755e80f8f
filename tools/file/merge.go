package file

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

// An Action is what merging does to a file.
type Action string

// The actions.
const (
	Create  Action = "create"
	Replace Action = "replace"
	Delete  Action = "delete"
)

// A Change is a change of one file by a [Staging].
type Change struct {
	Name   string `json:"name"`
	Action Action `json:"action"`
	// Merged says that the file has changed in the workspace, too, and gets both changes.
	Merged bool `json:"merged,omitempty"`
}

// A Conflict is a file whose changes by the staging and in the workspace exclude each other. The
// workspace keeps Theirs. A nil content means that there is no file; the content of an empty file
// isn't nil.
type Conflict struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	Base   []byte `json:"base"` // when it was read
	Ours   []byte `json:"ours"` // in the staging
	Theirs []byte `json:"theirs"`
}

// A MergeResult is the result of a merge.
type MergeResult struct {
	Applied   []Change   `json:"applied"`   // changes that are in the workspace now
	Conflicts []Conflict `json:"conflicts"` // changes that aren't
	Unchanged []string   `json:"unchanged"` // files that had the staged content in the workspace already
}

// A step is the merge of one file without a conflict.
type step struct {
	Change
	f    *staged
	data []byte   // nil: delete
	old  *Content // the file in the workspace; nil: none
}

// Changes returns the changes of the staging, ordered by name, relative to the versions that were
// read.
func (s *Staging) Changes() []Change {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []Change
	for _, name := range s.changed() {
		f := s.store.files[name]
		c := Change{Name: name, Action: Replace}
		switch {
		case f.Now == "":
			c.Action = Delete
		case f.Base == "":
			c.Action = Create
		}
		out = append(out, c)
	}
	return out
}

// changed returns the names of the changed files in order. mu is held.
func (s *Staging) changed() []string {
	if s.closed {
		return nil
	}
	names := slices.Sorted(maps.Keys(s.store.files))
	return slices.DeleteFunc(names, func(n string) bool { return !s.store.files[n].changed() })
}

// Diff returns what Merge would do now as a unified diff between the current and the merged
// workspace, for a person who approves it. Conflicts follow, each with its reason and the change of
// the staging.
func (s *Staging) Diff(ctx context.Context) (string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(ctx, "."); err != nil {
		return "", err
	}
	steps, res, err := s.plan(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	side := func(prefix, name string, data []byte) string {
		if data == nil {
			return "/dev/null"
		}
		return show(prefix + name)
	}
	put := func(name string, from, to []byte) {
		a, z := side("a/", name, from), side("b/", name, to)
		if len(from) == 0 && len(to) == 0 { // an empty file is created or deleted
			b.WriteString("--- " + a + "\n+++ " + z + "\n")
			return
		}
		b.WriteString(diff.Unified(a, z, from, to))
	}
	for _, st := range steps {
		var old []byte
		if st.old != nil {
			old = st.old.Data
		}
		put(st.Name, old, st.data)
	}
	for _, c := range res.Conflicts {
		b.WriteString("# conflict in " + show(c.Name) + ": " + c.Reason + "\n")
		put(c.Name, c.Base, c.Ours)
	}
	return b.String(), nil
}

// Merge applies the changes to the workspace. It holds the workspace's write lock, so merges and
// tools that write are serialized.
//
// If a file has the version that was read, it gets the new content and keeps its permissions. If
// somebody has changed it in the meantime, it gets both changes, provided that they are in
// different lines with at least one unchanged line between them. Everything else is a [Conflict]:
// both changed the same lines, or a binary file; one side created or deleted the file and the other
// changed it; or the staging wrote it without reading it, and it exists. If there is a conflict,
// nothing is merged.
//
// If a write fails, Merge reverts the earlier ones and returns an error and a result whose Applied
// has the changes that couldn't be reverted (usually none). Merged files count as read from then
// on, so merging again does nothing.
func (s *Staging) Merge(ctx context.Context) (*MergeResult, error) {
	done, err := s.ws.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx, "."); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		steps, res, err := s.plan(ctx)
		if err != nil {
			return nil, err
		}
		if len(res.Conflicts) > 0 {
			return res, nil
		}
		res.Applied, err = s.apply(ctx, steps)
		if err != nil && len(res.Applied) == 0 && attempt < attempts &&
			(errors.Is(err, ErrChanged) || errors.Is(err, fs.ErrExist)) {
			continue // somebody changed a file in between: plan again
		}
		if err != nil {
			return res, err
		}
		return res, s.recordMerged(steps, res.Unchanged)
	}
}

// plan compares the staged files with the workspace. mu is held.
func (s *Staging) plan(ctx context.Context) ([]step, *MergeResult, error) {
	res := &MergeResult{Applied: []Change{}, Conflicts: []Conflict{}, Unchanged: []string{}}
	var steps []step
	for _, name := range s.changed() {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		f := s.store.files[name]
		st := step{Change: Change{Name: name}, f: f}
		c := Conflict{Name: name}
		var err error
		if f.Base != "" {
			if c.Base, err = s.bytes(f.Base); err != nil {
				return nil, nil, explain(name, err)
			}
		}
		if f.Now != "" {
			if c.Ours, err = s.bytes(f.Now); err != nil {
				return nil, nil, explain(name, err)
			}
		}
		st.old, err = s.live(name)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.class != fault.Invalid && e.class != fault.Denied && e.class != fault.NotFound {
				return nil, nil, err
			}
			c.Reason = e.Problem
			res.Conflicts = append(res.Conflicts, c)
			continue
		}
		if st.old != nil {
			c.Theirs = st.old.Data
		}
		switch judge(&c, &st) {
		case clash:
			res.Conflicts = append(res.Conflicts, c)
		case nothing:
			res.Unchanged = append(res.Unchanged, name)
		default:
			steps = append(steps, st)
		}
	}
	return steps, res, nil
}

// live returns a file of the workspace, nil if there is none. An *Error means that the name isn't a
// regular file.
func (s *Staging) live(name string) (*Content, error) {
	if real, err := s.ws.resolve(name); err == nil && real != name {
		return nil, newError(name, fault.Invalid, nil, "one of its directories has become a symbolic link")
	}
	_, info, err := s.ws.writable(name)
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, nil
	}
	return s.ws.current(name)
}

type verdict int

const (
	doable verdict = iota
	nothing
	clash
)

// judge decides on one file: the workspace's version wins unless the staging clearly changed
// something else.
func judge(c *Conflict, st *step) verdict {
	same := func(a, b []byte) bool { return (a == nil) == (b == nil) && string(a) == string(b) }
	st.data = c.Ours
	switch {
	case same(c.Ours, c.Theirs):
		return nothing
	case same(c.Base, c.Theirs):
		switch {
		case c.Ours == nil:
			st.Action = Delete
		case c.Theirs == nil:
			st.Action = Create
		default:
			st.Action = Replace
		}
		return doable
	case c.Theirs == nil:
		c.Reason = "it was deleted in the meantime"
		return clash
	case c.Ours == nil:
		c.Reason = "the staging deletes it, but it was changed in the meantime"
		return clash
	case diff.Binary(c.Ours) || diff.Binary(c.Theirs) || diff.Binary(c.Base):
		c.Reason = "it is binary, and was changed in the meantime"
		return clash
	case c.Base == nil:
		c.Reason = "it was written without being read, and it exists"
		return clash
	}
	merged, conflicts := diff.Merge(c.Base, c.Ours, c.Theirs)
	switch {
	case conflicts > 0:
		c.Reason = "the same lines were changed in the meantime, in " + count(conflicts, "place")
		return clash
	case same(merged, c.Theirs):
		return nothing
	}
	st.data, st.Action, st.Merged = merged, Replace, true
	return doable
}

// apply writes the steps: all of them or, if one fails, none. It returns the changes that are in
// effect.
func (s *Staging) apply(ctx context.Context, steps []step) ([]Change, error) {
	applied := make([]Change, 0, len(steps))
	for i := range steps {
		st := &steps[i]
		err := ctx.Err()
		if err == nil {
			if st.data == nil {
				err = s.ws.remove(st.Name, st.old)
			} else {
				err = s.ws.put(st.Name, st.data, st.old, st.f.Mode)
			}
		}
		if err != nil {
			left, undoErr := s.undo(steps[:i])
			return left, errors.Join(err, undoErr)
		}
		applied = append(applied, st.Change)
	}
	return applied, nil
}

// undo reverts steps, the last one first, unless somebody has changed the file since. It returns
// the steps that remain in effect.
func (s *Staging) undo(steps []step) (left []Change, err error) {
	for _, st := range slices.Backward(steps) {
		var one error
		ours := &Content{Data: st.data}
		switch {
		case st.old == nil:
			one = s.ws.remove(st.Name, ours)
		case st.data == nil:
			one = s.ws.put(st.Name, st.old.Data, nil, st.old.Mode)
		default:
			one = s.ws.put(st.Name, st.old.Data, ours, st.old.Mode)
		}
		if one != nil {
			left = append(left, st.Change)
			err = errors.Join(err,
				newError(st.Name, fault.Of(one), one, "the change couldn't be reverted: %s", one.Error()))
		}
	}
	slices.Reverse(left)
	return left, err
}

// recordMerged records that merged files have their staged content in the workspace. mu is held.
func (s *Staging) recordMerged(steps []step, unchanged []string) error {
	var list []staged
	for _, st := range steps {
		f := staged{Name: st.Name, Mode: st.f.Mode}
		if st.data != nil {
			sum, err := s.store.keep(st.Name, st.data, s.ws.cfg.MaxStaged)
			if err != nil {
				sum = "" // over the limit: read it again when needed
			}
			f.Base, f.Now, f.BaseSize, f.NowSize = sum, sum, int64(len(st.data)), int64(len(st.data))
		}
		list = append(list, f)
	}
	for _, name := range unchanged {
		list = append(list, staged{Name: name})
	}
	if len(list) == 0 {
		return nil
	}
	return explain(".", s.store.set(list...))
}
