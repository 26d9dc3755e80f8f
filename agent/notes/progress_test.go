package notes_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/provider"
)

func one(context.Context, *notes.Input) (int, error) { return 1, nil }

func TestProgressNotesHaveDefaults(t *testing.T) {
	p, err := notes.ProgressOf("", one).WithDefaults()
	require.NoError(t, err)
	require.Equal(t, "checkpoint", p.Category)
	require.Equal(t, []float64{.25, .5, .75}, p.At)
}

func TestProgressNotesThatAreWrongAreRefused(t *testing.T) {
	for want, p := range map[string]notes.Progress{
		"there is no Write": {},
		"is reserved":       notes.ProgressOf("context_reset", one),
		"At are [1.5]":      notes.ProgressOf("a", one, 1.5),
		"chan int": notes.ProgressOf("a", func(context.Context, *notes.Input) (chan int, error) {
			return nil, nil
		}),
		"At are [0.5 0]": notes.ProgressOf("a", one, .5, 0),
	} {
		_, err := p.WithDefaults()
		require.ErrorContains(t, err, want)
	}
}

func TestNotesAreReadByCategoryUpToTheFirstThatIsOfAnotherType(t *testing.T) {
	written := func(category, note string, failed error) *machine.NoteWritten {
		return (&notes.Input{Category: category, Index: 4}).Fact(json.RawMessage(note), failed)
	}
	facts := []machine.Fact{&machine.RunStarted{}, written("a", "1", nil), written("b", "2", nil),
		written("a", "3", errors.New("down")), written("a", "4", nil), written("a", `"x"`, nil), written("a", "5", nil)}
	found, err := notes.Read[int](facts, "a")
	require.Equal(t, []int{1, 4}, found)
	require.ErrorContains(t, err, `note 4 of category "a" isn't a int`)
	found, err = notes.Read[int](facts, "b")
	require.NoError(t, err)
	require.Equal(t, []int{2}, found)
}

func TestTheFactOfANoteSaysWhatItTookAndWhyThereIsNone(t *testing.T) {
	in := &notes.Input{Category: "a", Index: 2, Share: .5}
	require.Equal(t, &machine.NoteWritten{Category: "a", Index: 2, Share: .5, Note: json.RawMessage("1")},
		in.Fact(json.RawMessage("1"), nil), "nothing was booked")
	in.Book(provider.Usage{Input: 3}, 7)
	f := in.Fact(json.RawMessage("1"), errors.New("down"))
	require.Equal(t, &machine.NoteWritten{Category: "a", Index: 2, Share: .5, Error: "down",
		Usage: provider.Usage{Input: 3}, Cost: 7, Priced: true}, f)
	in.Book(provider.Usage{Input: 1}, 0)
	in.Book(provider.Usage{Input: 1}, 1)
	f = in.Fact(json.RawMessage("1"), nil)
	require.False(t, f.Priced, "some of it isn't")
	require.Equal(t, provider.Money(8), f.Cost)
	for name, note := range map[string]string{"no JSON": `{"a":`, "nothing": "",
		"nested too deep": strings.Repeat("[", 2_000) + strings.Repeat("]", 2_000),
		"too long":        `"` + strings.Repeat("x", 65<<10) + `"`} {
		f := in.Fact(json.RawMessage(note), nil)
		require.NotEmpty(t, f.Error, name)
		require.Empty(t, f.Note, name)
	}
}
