package memory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"context"
	"iter"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// finished has a subgoal that spans much, of which little must go.
func finished() []provider.Message {
	long := strings.Repeat("and so on ", 300)
	return talk("go", step("b", "begin", `{"name":"x"}`, "ok "+long), step("w", "look", "{}", "found "+long),
		step("d", "done", `{"name":"x","facts":["the id is 4711"]}`, "well done "+long),
		step("z", "look", `{"z":1}`, "later "+long))
}

// TestWhatGoesWithAnEndOfASubgoalIsInItsPlaceToo summarises or moves out a beginning: the end that
// goes with it is not lost.
func TestWhatGoesWithAnEndOfASubgoalIsInItsPlaceToo(t *testing.T) {
	const target = 2_900 // the first group alone would do
	s := summarise(t, memory.Summary{MaxOutput: 100,
		Provider: answers(func(r *provider.Request) (string, provider.StopReason, error) {
			if strings.Contains(r.LastUserText(), "4711") && strings.Contains(r.LastUserText(), "well done") {
				return "the id is 4711", provider.StopDone, nil
			}
			return "no id", provider.StopDone, nil
		})})
	out := compact(t, memory.Config{Subgoals: subgoals}, target, finished(), memory.Step{Strategy: s})
	require.NotContains(t, results(out.Messages), "b")
	require.NotContains(t, results(out.Messages), "d", "both ends go")
	require.Contains(t, results(out.Messages), "w")
	require.Contains(t, asJSON(t, out.Messages), "the id is 4711")

	store := &memory.MapStore{}
	out = compact(t, memory.Config{Subgoals: subgoals, Store: store}, target, finished(),
		memory.Step{Strategy: memory.Offload{}})
	require.NotContains(t, results(out.Messages), "d")
	note := out.Messages[1].Text()
	text, err := store.Get(t.Context(), note[strings.Index(note, "m-"):][:18])
	require.NoError(t, err)
	require.Contains(t, text, "4711")
	require.Equal(t, 2, out.Report.Steps[0].Dropped)

	all := memory.CountRequest(nil, &provider.Request{Messages: finished()}).Total
	out = compact(t, memory.Config{Subgoals: subgoals}, all-1_500, finished(), memory.Step{Strategy: memory.Slide{}})
	require.Equal(t, 2, out.Report.Steps[0].Dropped, "both ends are enough")
	require.Contains(t, results(out.Messages), "w")
}

// TestASummaryThatBreaksOffKeepsWhatItHas fails at the third of several pieces.
func TestASummaryThatBreaksOffKeepsWhatItHas(t *testing.T) {
	calls := 0
	s := summarise(t,
		memory.Summary{MaxInput: 2_000, Provider: answers(func(*provider.Request) (string, provider.StopReason, error) {
			if calls++; calls == 3 {
				return "", "", errors.New("down")
			}
			return fmt.Sprintf("summary %d", calls), provider.StopDone, nil
		})})
	out := compact(t, memory.Config{}, 0, talk("go", pieces()...), memory.Step{Strategy: s})
	require.Equal(t, 3, calls, "no further piece is asked for")
	require.Contains(t, out.Messages[1].Text(), "summary 2")
	left := results(out.Messages)
	require.NotContains(t, left, "0")
	require.Contains(t, left, "11")
	require.Equal(t, 1, out.Report.Steps[0].Notes)
	require.Contains(t, out.Report.Steps[0].Error, "down")
	require.Equal(t, []string{"summarise: " + out.Report.Steps[0].Error}, out.Warnings)
}

func pieces() (steps [][]provider.Message) {
	for i := range 12 {
		steps = append(steps,
			step(fmt.Sprint(i), "look", fmt.Sprint(i), fmt.Sprintf("fact %d %s", i, strings.Repeat("and so on ", 150))))
	}
	return steps
}

// TestTheTimeoutBoundsTheWholeSummary has pieces that are slow each.
func TestTheTimeoutBoundsTheWholeSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := provider.Func(func(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) {
				select {
				case <-ctx.Done():
					yield(provider.Chunk{}, ctx.Err())
				case <-time.After(25 * time.Second):
					_ = yield(provider.Start("m"), nil) && yield(provider.Text("short"), nil) &&
						yield(provider.End(provider.StopDone, provider.Usage{Input: 1}), nil)
				}
			}
		})
		begin := time.Now()
		out := compact(t, memory.Config{}, 0, talk("go", pieces()...),
			memory.Step{Strategy: summarise(t, memory.Summary{MaxInput: 2_000, Provider: slow})})
		require.Equal(t, time.Minute, time.Since(begin))
		require.Contains(t, out.Messages[1].Text(), "short", "what was done by then")
		require.Len(t, out.Warnings, 1)
	})
}
