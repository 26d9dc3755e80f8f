package memory_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// priced is a provider whose prices are known.
type priced struct{ provider.Provider }

func (priced) Info() provider.ModelInfo {
	return provider.ModelInfo{ID: "cheap", Prices: &provider.Prices{Input: provider.USD, Output: 2 * provider.USD}}
}

// TestASummaryIsMadeOnBehalfOfTheRequest has budgets and lanes of the request hold for the
// summariser's calls.
func TestASummaryIsMadeOnBehalfOfTheRequest(t *testing.T) {
	var asked []*provider.Request
	s := summarise(t, memory.Summary{Labels: provider.Labels{Agent: "summariser"},
		Provider: answers(func(r *provider.Request) (string, provider.StopReason, error) {
			asked = append(asked, r)
			return "short", provider.StopDone, nil
		})})
	of := provider.Labels{Session: "s", Run: "r", Step: 7, Pipeline: "p", Task: "t", Agent: "writer", Kind: "step",
		Trace: "x"}
	want := of
	want.Agent, want.Kind = "summariser", "summary"
	for _, interactive := range []bool{true, false} {
		asked = nil
		c, err := memory.New(memory.Config{Rules: []memory.Rule{{When: memory.AtTokens(1_000)}},
			Steps: []memory.Step{{Strategy: s}}})
		require.NoError(t, err)
		req := &provider.Request{Messages: worked(), Labels: of, Interactive: interactive, Priority: 80}
		_, err = c.Prepare(t.Context(), req, memory.Context{})
		require.NoError(t, err)
		_, err = c.Compact(t.Context(), req, memory.Context{}, 0, nil)
		require.NoError(t, err)
		require.Len(t, asked, 2, "by a rule and by hand")
		for _, r := range asked {
			require.Equal(t, want, r.Labels)
			require.Equal(t, interactive, r.Interactive)
			require.Equal(t, 80, r.Priority)
		}
	}
}

// TestWhatSummariesUseIsReported counts good, failed, cut and refused calls.
func TestWhatSummariesUseIsReported(t *testing.T) {
	reported := provider.Usage{Input: 700, Output: 50}
	for name, c := range map[string]struct {
		answer func(*provider.Request) (string, provider.StopReason, error)
		check  func(*testing.T, provider.Usage)
	}{
		"good": {func(*provider.Request) (string, provider.StopReason, error) {
			return "short", provider.StopDone, nil
		},
			func(t *testing.T, u provider.Usage) { require.Equal(t, reported, u) }},
		"cut": {func(*provider.Request) (string, provider.StopReason, error) {
			return "short", provider.StopLength, nil
		},
			func(t *testing.T, u provider.Usage) { require.Equal(t, reported, u) }},
		"broken off": {func(*provider.Request) (string, provider.StopReason, error) {
			return "one two three", "", errors.New("boom")
		},
			func(t *testing.T, u provider.Usage) {
				require.True(t, u.Estimated)
				require.Greater(t, u.Input, int64(500))
				require.InDelta(t, 5, float64(u.Output), 2, "what was written")
			}},
		"refused": {func(*provider.Request) (string, provider.StopReason, error) {
			return "", "", fault.New(fault.UserFixable, "no money")
		},
			func(t *testing.T, u provider.Usage) { require.Zero(t, u) }},
		"panics": {func(*provider.Request) (string, provider.StopReason, error) { panic("no") },
			func(t *testing.T, u provider.Usage) {
				require.True(t, u.Estimated)
				require.Equal(t, int64(1_000), u.Output, "as much as it may have")
			}},
	} {
		t.Run(name, func(t *testing.T) {
			s := summarise(t, memory.Summary{Provider: priced{answers(c.answer)}})
			comp, err := memory.New(memory.Config{})
			require.NoError(t, err)
			out, err := comp.Compact(t.Context(), &provider.Request{Messages: worked()}, memory.Context{}, 0,
				[]memory.Step{{Strategy: s}, {Strategy: memory.Slide{}}})
			require.NoError(t, err)
			u := out.Report.Steps[0].Usage
			c.check(t, u)
			require.Equal(t, provider.Money(u.Input+2*u.Output), out.Report.Steps[0].Cost)
			require.Equal(t, u, out.Report.Usage())
			require.Equal(t, out.Report.Steps[0].Cost, out.Report.Cost())
			used, cost, priced := comp.Used()
			require.True(t, priced)
			require.Equal(t, u, used)
			require.Equal(t, out.Report.Cost(), cost)
			require.Equal(t, int(u.Total()), s.Spent(), "the same figures")
		})
	}
}

func TestWhatASummaryUsedIsKnownEvenIfTheRequestCannotBeMade(t *testing.T) {
	s := summarise(t, memory.Summary{Provider: answers(func(*provider.Request) (string, provider.StopReason, error) {
		return "short", provider.StopDone, nil
	})})
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 8_192}, Steps: []memory.Step{{Strategy: s}}})
	require.NoError(t, err)
	_, err = c.Prepare(t.Context(), &provider.Request{System: strings.Repeat("rule ", 8_000), Messages: worked()},
		memory.Context{})
	require.ErrorIs(t, err, memory.ErrContextTooLarge)
	used, cost, priced := c.Used()
	require.Equal(t, provider.Usage{Input: 700, Output: 50}, used)
	require.Zero(t, cost)
	require.False(t, priced, "no prices are known")
}

// TestAnyStrategyBooksWhatItUsed does so also where nothing comes of it, and on a View of its own
// making.
func TestAnyStrategyBooksWhatItUsed(t *testing.T) {
	for name, edits := range map[string]func(v *memory.View) ([]memory.Edit, error){
		"nothing": func(*memory.View) ([]memory.Edit, error) { return nil, nil },
		"fails":   func(*memory.View) ([]memory.Edit, error) { return nil, errors.New("no") },
		"refused": func(*memory.View) ([]memory.Edit, error) { return []memory.Edit{{Group: 0, Drop: true}}, nil },
		"panics":  func(v *memory.View) ([]memory.Edit, error) { *v = memory.View{}; panic("no") },
	} {
		s := strategy{"books", func(v *memory.View) ([]memory.Edit, error) {
			v.Book(provider.Usage{Input: 3}, 5)
			v.Book(provider.Usage{Output: 4}, -1)
			return edits(v)
		}}
		out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: s})
		require.Equal(t, provider.Usage{Input: 3, Output: 4}, out.Report.Usage(), name)
		require.Equal(t, provider.Money(5), out.Report.Cost(), name)
	}
	var own memory.View
	own.Book(provider.Usage{Input: 1}, 1)
}

// TestASecondTryIsReportedForWhatItUsed has a strategy that is tried again because another one made
// progress.
func TestASecondTryIsReportedForWhatItUsed(t *testing.T) {
	calls := 0
	asks := strategy{"asks", func(v *memory.View) ([]memory.Edit, error) {
		calls++
		v.Book(provider.Usage{Input: 1}, 0)
		return nil, nil
	}}
	out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: asks}, memory.Step{Strategy: memory.Slide{}})
	require.Greater(t, calls, 1)
	require.Equal(t, int64(calls), out.Report.Usage().Input)
}
