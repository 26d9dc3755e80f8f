package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// TestAThresholdIsArmedAgainByItsOwnCompaction crosses it again in a single step.
func TestAThresholdIsArmedAgainByItsOwnCompaction(t *testing.T) {
	for name, rule := range map[string]memory.Rule{
		"share": {When: memory.AtShare(.7)}, "tokens": {When: memory.AtTokens(14_000)},
	} {
		c, err := memory.New(memory.Config{Window: memory.Window{Size: 24_096}, Rules: []memory.Rule{rule}})
		require.NoError(t, err)
		req := &provider.Request{Messages: []provider.Message{provider.User("go")}}
		for i := range 8 {
			req.Messages = append(req.Messages,
				step(fmt.Sprint(i), "look", fmt.Sprint(i), strings.Repeat("word ", 1_300))...)
		}
		for i := range 3 {
			out, err := c.Prepare(t.Context(), req, memory.Context{})
			require.NoError(t, err)
			require.NotNil(t, out.Report, "%s, crossing %d", name, i)
			require.True(t, out.Report.Changed())
			req.Messages = out.Messages
			for k := range 4 { // at once
				req.Messages = append(req.Messages, step(fmt.Sprintf("%d-%d", i, k), "look", fmt.Sprintf("%d.%d", i, k),
					strings.Repeat("word ", 1_300))...)
			}
		}
	}
}

// TestACompactionByHandArmsAThresholdAgain crosses it before and after.
func TestACompactionByHandArmsAThresholdAgain(t *testing.T) {
	asked := 0
	never := strategy{"never", func(*memory.View) ([]memory.Edit, error) { asked++; return nil, nil }}
	c, err := memory.New(
		memory.Config{Rules: []memory.Rule{{When: memory.AtTokens(3_000), Steps: []memory.Step{{Strategy: never}}}}})
	require.NoError(t, err)
	req := &provider.Request{Messages: talk("go", step("a", "x", "{}", strings.Repeat("word ", 4_000)))}
	prepare := func(messages []provider.Message) {
		_, err := c.Prepare(t.Context(), &provider.Request{Messages: messages}, memory.Context{})
		require.NoError(t, err)
	}
	prepare(req.Messages)
	require.Equal(t, 1, asked)
	out, err := c.Compact(t.Context(), req, memory.Context{}, 0, []memory.Step{{Strategy: memory.Slide{}}})
	require.NoError(t, err)
	require.Less(t, out.Count.Total, 3_000)
	prepare(append(out.Messages, step("b", "x", "{}", strings.Repeat("word ", 4_000))...))
	require.Equal(t, 2, asked)
}

// TestACompactionThatWasBrokenOffIsDueAgain cancels it.
func TestACompactionThatWasBrokenOffIsDueAgain(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the person left")
	tries := 0
	leaves := strategy{"leaves", func(*memory.View) ([]memory.Edit, error) {
		if tries++; tries == 1 {
			cancel(why)
		}
		return nil, nil
	}}
	c, err := memory.New(memory.Config{Rules: []memory.Rule{{When: memory.AtTokens(1_000)}},
		Steps: []memory.Step{{Strategy: leaves}, {Strategy: memory.Slide{}}}})
	require.NoError(t, err)
	req := &provider.Request{Messages: worked()}
	_, err = c.Prepare(ctx, req, memory.Context{})
	require.ErrorIs(t, err, why)
	out, err := c.Prepare(t.Context(), req, memory.Context{})
	require.NoError(t, err)
	require.NotNil(t, out.Report, "nothing had happened to the conversation")
	require.True(t, out.Report.Changed())
}

// TestAFullWindowIsNotCompactedAtEveryStep has no rule: the window alone.
func TestAFullWindowIsNotCompactedAtEveryStep(t *testing.T) {
	for name, steps := range map[string][]memory.Step{"default": nil, "none": {}} {
		c, err := memory.New(memory.Config{Window: memory.Window{Size: 24_096}, Rules: []memory.Rule{}, Steps: steps})
		require.NoError(t, err)
		req := &provider.Request{Messages: []provider.Message{provider.User("go")}}
		compactions := 0
		for i := range 200 {
			req.Messages = append(req.Messages,
				step(fmt.Sprint(i), "look", fmt.Sprintf(`{"n":%d}`, i), strings.Repeat("word ", 300))...)
			out, err := c.Prepare(t.Context(), req, memory.Context{})
			require.NoError(t, err)
			require.LessOrEqual(t, out.Count.Total, out.Budget)
			if out.Report != nil {
				compactions++
			}
			req.Messages = out.Messages
		}
		require.Positive(t, compactions)
		require.Less(t, compactions, 15, "%s: each breaks the prompt cache", name)
	}
}
