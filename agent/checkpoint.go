package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// Checkpoints have a note written whenever a session's conversation has filled another share of the model's window: what
// was found out, what was decided, what is still to be done, in whatever form a host gives it. The notes are facts
// ([Checkpointed]), so that they survive the run and can be read by another agent, with [CheckpointNotes]. They come before a compaction
// that is due at the same time.
type Checkpoints struct {
	// Category says what the notes are; empty: "checkpoint". "handoff" is taken.
	Category string
	// At are shares of the window less its reserve; nil: .25, .5 and .75. Each fires once when it is reached, and again after the
	// share was below it. A step that reaches several makes one note.
	At []float64
	// Write writes a note of at most 64 KiB, within 2 minutes: see [CheckpointsOf] and [ModelNote]. An error is a warning, and
	// the run goes on. If it doesn't return within 5 s after the end of its context it is left behind: see [Agent.LeftBehind].
	Write func(ctx context.Context, in *NoteInput) (json.RawMessage, error)

	err error // why notes of that type can't be written
}

// CheckpointsOf returns Checkpoints whose notes are T's. With [ModelNote] as write a model writes them. A type that
// encoding/json can't write is an error of [New].
func CheckpointsOf[T any](category string, write func(context.Context, *NoteInput) (T, error), at ...float64) Checkpoints {
	err := schema.Encodable(reflect.TypeFor[T]())
	return Checkpoints{Category: category, At: at, err: err, Write: func(ctx context.Context, in *NoteInput) (json.RawMessage, error) {
		v, err := write(ctx, in)
		if err != nil {
			return nil, err
		}
		return marshal(v)
	}}
}

// CheckpointNotes returns the notes of a category among facts, oldest first. One that is no T is an error.
func CheckpointNotes[T any](facts []Fact, category string) (notes []T, err error) {
	for _, f := range facts {
		c, ok := f.(Checkpointed)
		if !ok || c.Category != category || c.Error != "" {
			continue
		}
		var v T
		if err := json.Unmarshal(c.Note, &v); err != nil {
			return notes, fmt.Errorf("agent: note %d of category %q isn't a %T: %w", c.Index, category, v, err)
		}
		notes = append(notes, v)
	}
	return notes, nil
}

// A NoteState is the newest note of a category.
type NoteState struct {
	Category string  `json:"category"`
	Index    int     `json:"index"`
	Share    float64 `json:"share"`
}

// noted returns the newest note of a category.
func (s *State) noted(category string) NoteState {
	for _, n := range s.Notes {
		if n.Category == category {
			return n
		}
	}
	return NoteState{Category: category}
}

func (m *Machine) checkpointed(r *RunState, f *Checkpointed) string {
	was := m.s.noted(f.Category)
	switch {
	case f.Category == "" || f.Index != was.Index+1:
		return fmt.Sprintf("it is note %d of category %q after note %d", f.Index, f.Category, was.Index)
	case !(f.Share >= 0):
		return "its share is none"
	}
	if f.Category == handoffCategory { // it comes with the hand-off, or says why there is none
		r.HandoffDue = false
	}
	now := NoteState{f.Category, f.Index, f.Share}
	m.s.Notes = slices.Clone(m.s.Notes) // still() shares it
	if i := slices.Index(m.s.Notes, was); i >= 0 {
		m.s.Notes[i] = now
	} else {
		m.s.Notes = append(m.s.Notes, now)
	}
	r.book(f.Usage, f.Cost, f.Priced)
	return ""
}

// addCheckpoints checks what is configured.
func (g *gear) addCheckpoints() error {
	g.Checkpoints = slices.Clone(g.Checkpoints)
	known := map[string]bool{handoffCategory: true}
	for i := range g.Checkpoints {
		c := &g.Checkpoints[i]
		bad := func(problem string) error {
			return &ConfigError{Field: fmt.Sprintf("Memory.Checkpoints[%d]", i), Problem: problem}
		}
		if c.err != nil {
			return &ConfigError{Field: fmt.Sprintf("Memory.Checkpoints[%d]", i), Problem: c.err.Error(), Err: c.err}
		}
		if c.Category == "" {
			c.Category = "checkpoint"
		}
		if len(c.At) == 0 {
			c.At = []float64{.25, .5, .75}
		}
		switch {
		case c.Write == nil:
			return bad("Write is nil; give a function, for example CheckpointsOf with ModelNote")
		case known[c.Category]:
			return bad(fmt.Sprintf("the category %q is taken", c.Category))
		case slices.ContainsFunc(c.At, func(at float64) bool { return !(at > 0 && at <= 1) }):
			return bad(fmt.Sprintf("At is %v; the marks are shares of the window, above 0 and up to 1", c.At))
		}
		known[c.Category] = true
	}
	return nil
}

// maxNote is how long a note may be, in bytes.
const maxNote = 64 << 10

// soundNote says why a log can't keep a note.
func soundNote(note json.RawMessage) error {
	switch {
	case len(note) > maxNote:
		return fmt.Errorf("it has %d bytes; notes have at most %d", len(note), maxNote)
	case !json.Valid(note) || tooDeep(note):
		return errors.New("it is no JSON, or nested too deep")
	}
	return nil
}

// checkpoint writes the notes that are due at this share of the window.
func (x *exec) checkpoint(share float64, req *provider.Request, budget int) error {
	g, rc := x.a.memory, x.recall
	for i := range g.Checkpoints {
		if len(rc.marks) == i {
			rc.marks = append(rc.marks, memory.NewThresholds(g.Checkpoints[i].At...))
			rc.marks[i].Cross(x.m.s.noted(g.Checkpoints[i].Category).Share) // what has fired before a restart
		}
		if len(rc.marks[i].Cross(share)) == 0 {
			continue
		}
		c := &g.Checkpoints[i]
		in := x.noteInput(c.Category, share, req, g.Counter, budget/2)
		note, err := write(x, in, c.Write)
		if x.ctx.Err() != nil {
			x.brokenOff(in)
			return context.Cause(x.ctx)
		}
		if err == nil {
			err = soundNote(note)
		}
		if err != nil {
			x.warn(fmt.Sprintf("writing note %d of category %q: %v", in.Index, c.Category, err))
		}
		if err := x.recordNote(in, note, err); err != nil {
			return err
		}
	}
	return nil
}

// noteFact returns the fact of a note that was written, or of why there is none.
func (x *exec) noteFact(in *NoteInput, note json.RawMessage, problem error) Checkpointed {
	f := Checkpointed{Category: in.Category, Index: in.Index, Share: in.Share, Note: note}
	f.Usage, f.Cost, f.Priced = in.booked()
	if problem != nil {
		f.Note, f.Error = nil, x.a.redact(strings.ToValidUTF8(problem.Error(), "\uFFFD"))
	}
	return f
}

// brokenOff records what a note has taken that was being written when the run's context ended. loop ends the run.
func (x *exec) brokenOff(in *NoteInput) {
	if used, _, _ := in.booked(); used.Total() > 0 && !x.lostLog() {
		_ = x.recordNote(in, nil, context.Cause(x.ctx))
	}
}

// lostLog reports whether the run has ended because its log is another's.
func (x *exec) lostLog() bool {
	var busy *BusyError
	return errors.As(context.Cause(x.ctx), &busy)
}

// recordNote records a note, or why there is none and what the attempt took.
func (x *exec) recordNote(in *NoteInput, note json.RawMessage, problem error) error {
	f := x.noteFact(in, x.redactJSON(note), problem)
	x.lock()
	f.Meta = x.stamp(0, "")
	err := x.recordLocked(nil, f)
	x.mu.Unlock()
	if err == nil {
		x.flush()
	}
	return err
}
