package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// factsOf is a summariser that keeps the facts that it is given.
func factsOf(r *provider.Request) (string, provider.StopReason, error) {
	var facts []string
	for line := range strings.Lines(r.LastUserText()) {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "fact-") {
				facts = append(facts, word)
			}
		}
	}
	return strings.Join(facts, " "), provider.StopDone, nil
}

// longRun is 300 steps of about 1,300 tokens. It returns the last request, the tokens of each, and
// the shares of each request that are the one before, where nothing was compacted in between.
func longRun(t *testing.T, steps []memory.Step) (last *provider.Request, tokens []int, same []float64) {
	t.Helper()
	c, err := memory.New(memory.Config{
		Window: memory.Window{Size: 128_000}, Steps: steps, Store: &memory.MapStore{}, Subgoals: subgoals,
		Rules: []memory.Rule{{When: memory.AtShare(.4), Target: .15}},
	})
	require.NoError(t, err)
	req := &provider.Request{System: "be good", Messages: []provider.Message{provider.User("the goal: build the site")}}
	req.Messages = append(req.Messages, step("open", "begin", `{"name":"the whole site"}`, "ok")...)
	for i := range 300 {
		fact := ""
		if i%10 == 3 {
			fact = fmt.Sprintf("fact-%d-is-%d ", i, i*i)
		}
		req.Messages = append(req.Messages,
			step(fmt.Sprint(i), "look", fmt.Sprintf(`{"n":%d}`, i), fact+strings.Repeat("word ", 1_000))...)
		before := 0
		if len(tokens) > 0 {
			before = tokens[len(tokens)-1]
		}
		out, err := c.Prepare(t.Context(), req, memory.Context{})
		require.NoError(t, err)
		require.Empty(t, out.Warnings)
		require.LessOrEqual(t, out.Count.Total, out.Budget, "step %d", i)
		require.Equal(t, "the goal: build the site", out.Messages[0].Text(), "step %d", i)
		require.Contains(t, results(out.Messages), "open", "step %d: the open subgoal", i)
		if i%50 == 0 || out.Report != nil {
			sound(t, out.Messages)
		}
		if out.Report == nil && before > 0 {
			same = append(same, float64(before)/float64(out.Count.Total))
		}
		tokens = append(tokens, out.Count.Total)
		req.Messages, last = out.Messages, out.Request
	}
	return last, tokens, same
}

// TestAFactOfStep3IsKnownAtStep300 runs with a summary, and with a strategy that drops the fact.
func TestAFactOfStep3IsKnownAtStep300(t *testing.T) {
	s := summarise(t, memory.Summary{Provider: answers(factsOf)})
	last, tokens, same := longRun(t, memory.DefaultSteps(s))
	require.Contains(t, asJSON(t, last.Messages), "fact-3-is-9")
	require.Contains(t, asJSON(t, last.Messages), "fact-293-is-85849")

	const each, budget = 1_360, 123_904 // without compaction each request is longer than the one before by a step
	whole, with := 0, 0
	for i := 0; i*each < budget && i < len(tokens); i++ {
		whole += i * each
		with += tokens[i]
	}
	require.LessOrEqual(t, float64(with), .6*float64(whole), "up to where the run without compaction overflows")

	sum := 0.0
	for _, share := range same {
		sum += share
	}
	require.GreaterOrEqual(t, sum/float64(len(same)), .9, "requests begin with the one before")
	require.Greater(t, len(same), 270, "compactions are rare")

	last, _, _ = longRun(t, []memory.Step{{Strategy: memory.Slide{}}})
	require.NotContains(t, asJSON(t, last.Messages), "fact-3-is-9", "the test can fail")
}
