package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// wordCounter counts words, so that tests can say exactly what fits.
type wordCounter struct{}

func (wordCounter) CountText(text string) int    { return len(strings.Fields(text)) }
func (wordCounter) CountTool(*provider.Tool) int { return 0 }
func (c wordCounter) CountMessage(m *provider.Message) (n int) {
	for _, p := range m.Parts {
		if n += c.CountText(p.Text); p.Result != nil {
			n += c.CountText(p.Result.Text())
		}
	}
	return n
}

func wordsOf(n int) string { return strings.Repeat("word ", n) }

func counted(messages []provider.Message) (n int) {
	for i := range messages {
		n += wordCounter{}.CountMessage(&messages[i])
	}
	return n
}

// fit brings messages into a window of budget words, and returns the names of the window's steps.
func fit(t *testing.T, budget int, messages []provider.Message, steps ...memory.Step) (*memory.Prepared, []string) {
	t.Helper()
	c, err := memory.New(memory.Config{Counter: wordCounter{}, Window: memory.Window{Size: budget + 1, Reserve: 1},
		Rules: []memory.Rule{{When: memory.OnPhase()}}, Steps: append([]memory.Step{{Strategy: idle}}, steps...)})
	require.NoError(t, err)
	out, err := c.Prepare(t.Context(), &provider.Request{Messages: messages}, memory.Context{})
	require.NoError(t, err)
	require.Equal(t, budget, out.Budget)
	require.LessOrEqual(t, out.Count.Total, budget)
	var names []string
	if out.Report != nil {
		for _, s := range out.Report.Steps {
			if strings.HasPrefix(s.Strategy, "window: ") {
				names = append(names, s.Strategy)
			}
		}
	}
	return out, names
}

// idle does nothing.
var idle = strategy{"idle", func(*memory.View) ([]memory.Edit, error) { return nil, nil }}

// without returns a step that puts a note in the place of a call's group; empty: nothing.
func without(id, note string) memory.Step {
	return memory.Step{Strategy: strategy{"without", func(v *memory.View) ([]memory.Edit, error) {
		for i := range v.Groups {
			if _, ok := results(v.Groups[i].Messages)[id]; ok {
				e := memory.Edit{Group: i, Drop: true}
				if note != "" {
					e.Note = &memory.Note{Kind: "test", Text: note}
				}
				return []memory.Edit{e}, nil
			}
		}
		return nil, nil
	}}}
}

func TestARequestThatFillsItsWindowExactlyIsLeftAsItIs(t *testing.T) {
	messages := talk("go", step("a", "x", "{}", wordsOf(100)), step("b", "x", "{}", wordsOf(100)))
	out, names := fit(t, counted(messages), messages)
	require.Nil(t, out.Report)
	require.Empty(t, names)

	// what the steps of the pipeline bring there too
	out, _ = fit(t, counted(messages)-1, messages, without("a", ""))
	after := counted(out.Messages)
	out, names = fit(t, after, messages, without("a", ""))
	require.Empty(t, names)
	require.Equal(t, out.Budget, out.Count.Total)
	_, names = fit(t, after-1, messages, without("a", ""))
	require.Equal(t, []string{"window: drop"}, names)
}

// TestTextsAreCutFirstOnlyIfWhatMustStayDoesNotFit: dropping comes first while it can help.
func TestTextsAreCutFirstOnlyIfWhatMustStayDoesNotFit(t *testing.T) {
	messages := talk("go "+wordsOf(1000), step("a", "x", "{}", wordsOf(900)))
	// All but the call and the last five groups, of a word each, stays in any case. Of these one
	// stays, if they fit into half of the room that is left.
	stays := counted(messages) - 900 - 5
	_, names := fit(t, stays+3, messages)
	require.Equal(t, "window: drop", names[0])
	_, names = fit(t, stays+2, messages)
	require.Equal(t, "window: cut", names[0])
}

func TestNoMoreGroupsAreDroppedThanFreeHalfOfTheWindow(t *testing.T) {
	var steps [][]provider.Message
	for i := range 6 {
		steps = append(steps, step(fmt.Sprint("c", i), "x", "{}", wordsOf(100)))
	}
	messages := talk("go", steps...)
	half := counted(messages) - 400 // five of 100 words, with room of 100 for the note
	for budget, left := range map[int]int{2 * half: 1, 2*half + 2: 1, 2*half - 2: 0} {
		out, names := fit(t, budget, messages)
		require.Equal(t, []string{"window: drop"}, names)
		stay := 0
		for id := range results(out.Messages) {
			if strings.HasPrefix(id, "c") {
				stay++
			}
		}
		require.Equal(t, left, stay, "budget %d", budget)
	}
}

func TestNotesOutliveOldGroups(t *testing.T) {
	messages := talk("go", step("a", "x", "{}", wordsOf(300)), step("b", "x", "{}", wordsOf(300)))
	out, names := fit(t, 200, messages, without("a", "the keys are under the mat"))
	require.Equal(t, []string{"window: drop"}, names)
	require.Contains(t, asJSON(t, out.Messages), "under the mat")
	require.NotContains(t, results(out.Messages), "b")
}
