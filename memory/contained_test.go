package memory_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// panickingStore panics.
type panickingStore struct{}

func (panickingStore) Put(context.Context, string, string) error   { panic("put") }
func (panickingStore) Get(context.Context, string) (string, error) { panic("get") }
func panickingFinder([]memory.Group) []memory.Subgoal              { panic("find") }
func panickingTokenizer(string) int                                { panic("count") }
func manyResults() []provider.Message {
	return talk("go", step("a", "x", "{}", strings.Repeat("word ", 4_000)),
		step("b", "x", `{"b":1}`, strings.Repeat("word ", 4_000)))
}

// TestForeignCodeThatPanicsLeavesTheRequestBeingMade has each piece of it panic.
func TestForeignCodeThatPanicsLeavesTheRequestBeingMade(t *testing.T) {
	for name, cfg := range map[string]memory.Config{
		"finder":  {Subgoals: panickingFinder},
		"store":   {Store: panickingStore{}},
		"counter": {Counter: &memory.Estimator{Tokenize: panickingTokenizer}},
	} {
		cfg.Rules = []memory.Rule{{When: memory.AtTokens(3_000)}}
		c, err := memory.New(cfg)
		require.NoError(t, err)
		messages := manyResults()
		out, err := c.Prepare(t.Context(), &provider.Request{System: "s", Messages: messages},
			memory.Context{Screen: "x"})
		require.NoError(t, err, name)
		require.NotNil(t, out.Report, name)
		require.True(t, out.Report.Changed(), name)
		sound(t, out.Messages)
		if name != "counter" { // whose pieces are estimated
			require.NotEmpty(t, out.Warnings, name)
			require.Contains(t, strings.Join(out.Warnings, " "), "panicked", name)
		}
	}
	_, err := memory.ReadBack(t.Context(), panickingStore{}, json.RawMessage(`{"handle":"m-1"}`))
	require.ErrorContains(t, err, "panicked")
}

// A brokenError panics when it is read.
type brokenError struct{}

func (*brokenError) Error() string { panic("no text") }

// A failingStore fails with an error that can't be read.
type failingStore struct{}

func (failingStore) Put(context.Context, string, string) error   { return &brokenError{} }
func (failingStore) Get(context.Context, string) (string, error) { return "", (*brokenError)(nil) }

func TestErrorsThatPanicAreWarnings(t *testing.T) {
	broken := strategy{"broken", func(*memory.View) ([]memory.Edit, error) { return nil, &brokenError{} }}
	c, err := memory.New(memory.Config{Store: failingStore{}, Rules: []memory.Rule{{When: memory.AtTokens(3_000)}},
		Steps: []memory.Step{{Strategy: broken}, {Strategy: memory.CutResults{}}, {Strategy: memory.Slide{}}}})
	require.NoError(t, err)
	out, err := c.Prepare(t.Context(), &provider.Request{Messages: manyResults()}, memory.Context{})
	require.NoError(t, err)
	require.True(t, out.Report.Changed())
	warnings := strings.Join(out.Warnings, "\n")
	require.Contains(t, warnings, "the strategy returned an error that panics: no text")
	require.Contains(t, warnings, "the store returned an error that panics: no text")
	_, err = memory.ReadBack(t.Context(), failingStore{}, json.RawMessage(`{"handle":"m-1"}`))
	require.ErrorContains(t, err, "the store returned an error that panics: no text")
}

// TestStrategiesAreGivenFiguresThatAddUp counts with figures that no text has.
func TestStrategiesAreGivenFiguresThatAddUp(t *testing.T) {
	for _, n := range []int{math.MaxInt, math.MinInt, -1} {
		look := strategy{"look", func(v *memory.View) ([]memory.Edit, error) {
			sum := 0
			add := func(n int) {
				require.GreaterOrEqual(t, n, 0)
				sum += n
				require.GreaterOrEqual(t, sum, 0)
			}
			for i := range v.Groups {
				add(v.Groups[i].Tokens)
			}
			for range 1_000 {
				add(v.Counter.CountText("x"))
				add(v.Counter.CountMessage(&v.Groups[0].Messages[0]))
				add(v.Counter.CountTool(&provider.Tool{Name: "x"}))
			}
			return nil, nil
		}}
		c, err := memory.New(memory.Config{Counter: &memory.Estimator{Tokenize: func(string) int { return n }}})
		require.NoError(t, err)
		_, _ = c.Compact(t.Context(), &provider.Request{Messages: manyResults()}, memory.Context{}, 0,
			[]memory.Step{{Strategy: look}})
		_, _ = c.Compact(t.Context(), &provider.Request{Messages: manyResults()}, memory.Context{}, 0, nil)
	}
}

// TestAnEventThatNobodyKnowsFiresNothing has words that stand for thresholds.
func TestAnEventThatNobodyKnowsFiresNothing(t *testing.T) {
	c, err := memory.New(memory.Config{Rules: []memory.Rule{{When: memory.AtShare(.7)},
		{When: memory.AtTokens(100_000)}, {When: memory.OnPhase()}}})
	require.NoError(t, err)
	out, err := c.Prepare(t.Context(), &provider.Request{Messages: manyResults()}, memory.Context{}, "", "share",
		"tokens", "weather", memory.SubgoalDone)
	require.NoError(t, err)
	require.Nil(t, out.Report)
}
