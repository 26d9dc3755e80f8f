package memory_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// answers is a provider that answers with what f makes of the request.
func answers(f func(*provider.Request) (string, provider.StopReason, error)) provider.Provider {
	return provider.Func(func(_ context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			text, stop, err := f(req)
			if !yield(provider.Start("m"), nil) || text != "" && !yield(provider.Text(text), nil) {
				return
			}
			if err != nil {
				yield(provider.Chunk{}, err)
				return
			}
			yield(provider.End(stop, provider.Usage{Input: 700, Output: 50}), nil)
		}
	})
}

func worked() []provider.Message {
	return talk("build the site", step("a", "cms.create", "{}", "page 42 "+strings.Repeat("and so on ", 400)),
		step("b", "cms.create", "{}", "page 43 "+strings.Repeat("and so on ", 400)))
}

func TestASummaryTakesThePlaceOfWhatItSays(t *testing.T) {
	var asked []*provider.Request
	s := summarise(t, memory.Summary{Model: "cheap",
		Provider: answers(func(r *provider.Request) (string, provider.StopReason, error) {
			asked = append(asked, r)
			return "pages 42 and 43 were made", provider.StopDone, nil
		})})
	out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: s})
	require.Len(t, results(out.Messages), 5)
	require.Contains(t, out.Messages[1].Text(), "pages 42 and 43 were made")
	require.Equal(t, memory.StepReport{Strategy: "summarise", Before: out.Report.Before, After: out.Report.After,
		Dropped: 2, Notes: 1,
		Usage: provider.Usage{Input: 700, Output: 50}}, out.Report.Steps[0])
	require.Len(t, asked, 1)
	require.Equal(t, "cheap", asked[0].Model)
	require.Equal(t, "summary", asked[0].Labels.Kind)
	require.Equal(t, 1_000, asked[0].MaxOutput)
	require.Contains(t, asked[0].LastUserText(), "build the site", "the goal")
	require.Contains(t, asked[0].LastUserText(), "result of cms.create: page 42")
	require.Equal(t, 750, s.Spent())

	more := append(append([]provider.Message(nil), out.Messages...), worked()[1:]...)
	compact(t, memory.Config{}, 0, out.Messages, memory.Step{Strategy: s})
	require.Len(t, asked, 1, "a summary alone isn't summarised again")
	c, err := memory.New(memory.Config{})
	require.NoError(t, err)
	_, err = c.Compact(t.Context(), &provider.Request{Messages: more}, memory.Context{}, 0,
		[]memory.Step{{Strategy: s}})
	require.NoError(t, err)
	require.Contains(t, asked[1].LastUserText(), "pages 42 and 43 were made", "the summary before goes into the next")
}

func TestASummaryThatCannotBeUsedFallsToTheNextStrategy(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		answer func(*provider.Request) (string, provider.StopReason, error)
		want   error
	}{
		"fails": {func(*provider.Request) (string, provider.StopReason, error) { return "half", "", boom }, boom},
		"empty": {func(*provider.Request) (string, provider.StopReason, error) {
			return " \n", provider.StopDone, nil
		}, memory.ErrEmptySummary},
		"too long": {func(*provider.Request) (string, provider.StopReason, error) {
			return strings.Repeat("x ", 2_000), provider.StopDone, nil
		}, memory.ErrSummaryTooLong},
		"cut": {func(*provider.Request) (string, provider.StopReason, error) {
			return "pages", provider.StopLength, nil
		}, memory.ErrSummaryTooLong},
		"filtered": {func(*provider.Request) (string, provider.StopReason, error) {
			return "pages", provider.StopFiltered, nil
		}, nil},
		"panics": {func(*provider.Request) (string, provider.StopReason, error) { panic("no") }, nil},
	} {
		s := summarise(t, memory.Summary{Provider: answers(c.answer)})
		out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: s}, memory.Step{Strategy: memory.Slide{}})
		require.Len(t, results(out.Messages), 5, "%s: the next strategy freed what was needed", name)
		require.Len(t, out.Warnings, 1, name)
		if c.want != nil {
			require.Contains(t, out.Warnings[0], c.want.Error(), name)
		}
	}
}

func TestASummariserThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := provider.Func(func(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) {
				<-ctx.Done()
				yield(provider.Chunk{}, context.Cause(ctx))
			}
		})
		begin := time.Now()
		out := compact(t, memory.Config{}, 0, worked(),
			memory.Step{Strategy: summarise(t, memory.Summary{Provider: hangs})}, memory.Step{Strategy: memory.Slide{}})
		require.Equal(t, time.Minute, time.Since(begin))
		require.Len(t, results(out.Messages), 5)
		require.Contains(t, out.Warnings[0], "deadline")

		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the person left")
		go func() { <-time.After(time.Second); cancel(why) }()
		c, err := memory.New(memory.Config{})
		require.NoError(t, err)
		_, err = c.Compact(ctx, &provider.Request{Messages: worked()}, memory.Context{}, 0,
			[]memory.Step{{Strategy: summarise(t, memory.Summary{Provider: hangs})}})
		require.ErrorIs(t, err, why, "who cancels gets no half compaction")
	})
}

func TestAnEndlessSummaryIsCut(t *testing.T) {
	chunks := 0
	s := summarise(t,
		memory.Summary{
			Provider: provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
				return func(yield func(provider.Chunk, error) bool) {
					for ok := yield(provider.Start("m"), nil); ok && chunks < 10_000; chunks++ {
						ok = yield(provider.Text(strings.Repeat("more text ", 100)), nil)
					}
				}
			})})
	out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: s})
	require.Equal(t, 66, chunks)
	require.Contains(t, out.Report.Steps[0].Error, memory.ErrSummaryTooLong.Error())
	require.Greater(t, s.Spent(), 4_900, "what was written so far is counted")
}

func TestSummariesHaveABudgetOfTheirOwn(t *testing.T) {
	calls := 0
	s := summarise(t,
		memory.Summary{Spend: 6_000, Provider: answers(func(*provider.Request) (string, provider.StopReason, error) {
			calls++
			return "short", provider.StopDone, nil
		})})
	for range 20 {
		out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: s})
		if len(out.Warnings) > 0 {
			require.Contains(t, out.Warnings[0], memory.ErrSummaryBudget.Error())
		}
	}
	require.Positive(t, calls)
	require.Less(t, calls, 9)
	require.LessOrEqual(t, s.Spent(), 6_000)
}

func TestALongConversationIsSummarisedPieceByPiece(t *testing.T) {
	var inputs []string
	s := summarise(t, memory.Summary{MaxInput: 2_000,
		Provider: answers(func(r *provider.Request) (string, provider.StopReason, error) {
			inputs = append(inputs, r.LastUserText())
			return fmt.Sprintf("summary %d", len(inputs)), provider.StopDone, nil
		})})
	var steps [][]provider.Message
	for i := range 12 {
		steps = append(steps,
			step(fmt.Sprint(i), "look", "{}", fmt.Sprintf("fact %d %s", i, strings.Repeat("and so on ", 150))))
	}
	out := compact(t, memory.Config{}, 0, talk("go", steps...), memory.Step{Strategy: s})
	require.Greater(t, len(inputs), 2)
	require.Contains(t, inputs[1], "summary 1")
	require.Contains(t, inputs[len(inputs)-1], "fact 11")
	require.Contains(t, out.Messages[1].Text(), fmt.Sprintf("summary %d", len(inputs)))
	for _, in := range inputs {
		require.Less(t, memory.NewEstimator(provider.ModelInfo{}).CountText(in), 2_600)
	}
}

func TestKeyFactsOutliveSummaries(t *testing.T) {
	messages := talk("go", step("b", "begin", `{"name":"x"}`, "ok"),
		step("w", "look", "{}", strings.Repeat("found it. ", 100)),
		step("d", "done", `{"facts":["the id is 4711"]}`, "ok"),
		step("z", "look", "{}", strings.Repeat("more of it. ", 100)))
	s := summarise(t, memory.Summary{Provider: says("nothing worth saying")})
	out := compact(t, memory.Config{Subgoals: subgoals}, 0, messages, memory.Step{Strategy: memory.Subgoals{}},
		memory.Step{Strategy: s})
	require.Len(t, out.Messages, 1+1+10)
	require.Contains(t, out.Messages[1].Text(), "the id is 4711")
	require.Contains(t, out.Messages[1].Text(), "nothing worth saying")
}

func TestASummaryNeedsAProvider(t *testing.T) {
	_, err := memory.NewSummarise(memory.Summary{})
	require.ErrorContains(t, err, "Summary.Provider")
}
