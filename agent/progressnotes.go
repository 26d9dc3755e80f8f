package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// ProgressNotes are notes that are written when a session's conversation fills certain shares of
// the model's window: what was found out, what was decided, what remains to be done, in a form that
// the host chooses. The notes are facts ([machine.NoteWritten]), so they survive the run and can be
// read by another agent, with [ReadNotes]. They are written before a compaction that is due at the
// same time.
type ProgressNotes struct {
	// Category names the notes; empty: "checkpoint". "context_reset" is reserved.
	Category string
	// At are shares of the window, without its reserve; nil: .25, .5 and .75. A note is written
	// when a share is reached, and again if it is reached after the conversation was below it. A
	// step that reaches several shares writes one note.
	At []float64
	// Write writes a note of at most 64 KiB within 2 minutes: see [ProgressNotesOf] and
	// [ModelNote]. An error is a warning, and the run continues. If it hasn't returned 5 s after
	// the end of its context, it is abandoned: see [Agent.Abandoned].
	Write func(ctx context.Context, in *NoteInput) (json.RawMessage, error)

	err error // why notes of that type can't be written
}

// ProgressNotesOf returns ProgressNotes whose notes are of type T. With [ModelNote] as write, a
// model writes them. If encoding/json can't encode T, [New] returns an error.
func ProgressNotesOf[T any](category string, write func(context.Context, *NoteInput) (T, error),
	at ...float64) ProgressNotes {
	err := schema.Encodable(reflect.TypeFor[T]())
	return ProgressNotes{Category: category, At: at, err: err,
		Write: func(ctx context.Context, in *NoteInput) (json.RawMessage, error) {
			v, err := write(ctx, in)
			if err != nil {
				return nil, err
			}
			return machine.Marshal(v)
		}}
}

// ReadNotes returns the notes of a category among facts, oldest first. If a note isn't a T, it
// returns the notes before it and an error.
func ReadNotes[T any](facts []Fact, category string) (notes []T, err error) {
	for _, f := range facts {
		c, ok := f.(*machine.NoteWritten)
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

// addProgressNotes checks Memory.ProgressNotes and sets their defaults.
func (g *memoryConfig) addProgressNotes() error {
	g.ProgressNotes = slices.Clone(g.ProgressNotes)
	known := map[string]bool{machine.ContextResetCategory: true}
	for i := range g.ProgressNotes {
		c := &g.ProgressNotes[i]
		bad := func(problem string) error {
			return &ArgError{Field: fmt.Sprintf("Config.Memory.ProgressNotes[%d]", i), Problem: problem}
		}
		if c.err != nil {
			return &ArgError{Field: fmt.Sprintf("Config.Memory.ProgressNotes[%d]", i), Problem: c.err.Error(),
				Err: c.err}
		}
		if c.Category == "" {
			c.Category = "checkpoint"
		}
		if len(c.At) == 0 {
			c.At = []float64{.25, .5, .75}
		}
		switch {
		case c.Write == nil:
			return bad("Write is nil; give a function, for example ProgressNotesOf with ModelNote")
		case known[c.Category]:
			return bad(fmt.Sprintf("the category %q is taken", c.Category))
		case slices.ContainsFunc(c.At, func(at float64) bool { return !(at > 0 && at <= 1) }):
			return bad(fmt.Sprintf("At is %v; the marks are shares of the window, above 0 and up to 1", c.At))
		}
		known[c.Category] = true
	}
	return nil
}

// maxNote is the maximum length of a note, in bytes.
const maxNote = 64 << 10

// checkNote returns why a note can't be recorded.
func checkNote(note json.RawMessage) error {
	switch {
	case len(note) > maxNote:
		return fmt.Errorf("it has %d bytes; notes have at most %d", len(note), maxNote)
	case !json.Valid(note) || machine.TooDeep(note):
		return errors.New("it is no JSON, or nested too deep")
	}
	return nil
}

// writeDueNotes writes the notes that are due at a share of the window.
func (x *driver) writeDueNotes(share float64, req *provider.Request, budget int) error {
	g, rc := x.agent.memoryConfig, x.memory
	for i := range g.ProgressNotes {
		if len(rc.marks) == i {
			rc.marks = append(rc.marks, memory.NewThresholds(g.ProgressNotes[i].At...))
			rc.marks[i].Cross(x.State().Note(g.ProgressNotes[i].Category).Share) // what has fired before a restart
		}
		if len(rc.marks[i].Cross(share)) == 0 {
			continue
		}
		c := &g.ProgressNotes[i]
		in := x.noteInput(c.Category, share, req, g.Counter, budget/2)
		note, err := write(x, in, c.Write)
		if x.ctx.Err() != nil {
			x.appendBrokenOff(in)
			return causeOf(x.ctx)
		}
		if err == nil {
			err = checkNote(note)
		}
		if err != nil {
			x.memoryWarning(fmt.Sprintf("writing note %d of category %q: %v", in.Index, c.Category, err))
		}
		if err := x.appendNote(in, note, err); err != nil {
			return err
		}
	}
	return nil
}

// noteFact returns the fact of a note that was written, or of why there is none.
func (x *driver) noteFact(in *NoteInput, note json.RawMessage, problem error) *machine.NoteWritten {
	f := &machine.NoteWritten{Category: in.Category, Index: in.Index, Share: in.Share, Note: note}
	f.Usage, f.Cost, f.Priced = in.booked()
	if problem != nil {
		f.Note, f.Error = nil, problem.Error()
	}
	return f
}

// appendBrokenOff appends the usage of a note that was being written when the run's context ended.
// loop ends the run.
func (x *driver) appendBrokenOff(in *NoteInput) {
	if used, _, _ := in.booked(); used.Total() > 0 && !x.LeaseLost() {
		_ = x.appendNote(in, nil, causeOf(x.ctx))
	}
}

// appendNote appends a note, or why there is none, with the usage.
func (x *driver) appendNote(in *NoteInput, note json.RawMessage, problem error) error {
	err := x.append(x.noteFact(in, note, problem))
	x.flush()
	return err
}
