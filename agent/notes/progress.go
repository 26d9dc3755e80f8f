package notes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/schema"
)

// Progress says that notes are written when a session's conversation fills certain shares of
// the model's window: what was found out, what was decided, what remains to be done, in a form that
// the host chooses. The notes are facts ([machine.NoteWritten]), so they survive the run and can be
// read by another agent, with [Read]. They are written before a compaction that is due at the
// same time.
type Progress struct {
	// Category names the notes; empty: "checkpoint". "context_reset" is reserved.
	Category string
	// At are shares of the window, without its reserve; nil: .25, .5 and .75. A note is written
	// when a share is reached, and again if it is reached after the conversation was below it. A
	// step that reaches several shares writes one note.
	At []float64
	// Write writes a note of at most 64 KiB within 2 minutes: see [ProgressOf] and
	// [ByModel]. An error is a warning, and the run continues. If it hasn't returned 5 s after
	// the end of its context, it is abandoned: see Agent.Abandoned.
	Write func(ctx context.Context, in *Input) (json.RawMessage, error)

	err error // why notes of that type can't be written
}

// ProgressOf returns Progress whose notes are of type T. With [ByModel] as write, a
// model writes them. If encoding/json can't encode T, agent.New returns an error.
func ProgressOf[T any](category string, write func(context.Context, *Input) (T, error), at ...float64) Progress {
	err := schema.Encodable(reflect.TypeFor[T]())
	if write == nil {
		return Progress{Category: category, At: at, err: err}
	}
	return Progress{Category: category, At: at, err: err,
		Write: func(ctx context.Context, in *Input) (json.RawMessage, error) {
			v, err := write(ctx, in)
			if err != nil {
				return nil, err
			}
			return machine.Marshal(v)
		}}
}

// Read returns the notes of a category among facts, oldest first. If a note isn't a T, it
// returns the notes before it and an error.
func Read[T any](facts []machine.Fact, category string) (out []T, err error) {
	for _, f := range facts {
		c, ok := f.(*machine.NoteWritten)
		if !ok || c.Category != category || c.Error != "" {
			continue
		}
		var v T
		if err := json.Unmarshal(c.Note, &v); err != nil {
			return out, fmt.Errorf("notes: note %d of category %q isn't a %T: %w", c.Index, category, v, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// WithDefaults returns p with its defaults set, or an error that says what is wrong with it. The
// agent calls it.
func (p Progress) WithDefaults() (Progress, error) {
	p.Category = cmp.Or(p.Category, "checkpoint")
	if len(p.At) == 0 {
		p.At = []float64{.25, .5, .75}
	}
	switch {
	case p.err != nil:
		return p, p.err
	case p.Write == nil:
		return p, errors.New("there is no Write; give a function, for example ProgressOf with ByModel")
	case p.Category == machine.ContextResetCategory:
		return p, fmt.Errorf("the category %q is reserved", p.Category)
	case slices.ContainsFunc(p.At, func(at float64) bool { return !(at > 0 && at <= 1) }):
		return p, fmt.Errorf("the marks At are %v; they are shares of the window, above 0 and up to 1", p.At)
	}
	return p, nil
}
