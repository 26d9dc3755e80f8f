package memory_test

import (
	"context"
	"errors"
	"flag"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// says is a provider that answers every request with a text.
func says(text string) provider.Provider {
	return provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			_ = yield(provider.Chunk{Kind: provider.KindStart}, nil) &&
				yield(provider.Chunk{Kind: provider.KindText, Text: text}, nil) &&
				yield(provider.End(provider.StopDone, provider.Usage{}), nil)
		}
	})
}

func summarise(t *testing.T, cfg memory.Summary) *memory.Summarise {
	t.Helper()
	s, err := memory.NewSummarise(cfg)
	require.NoError(t, err)
	return s
}

// brokenStore fails.
type brokenStore struct{}

func (brokenStore) Put(context.Context, string, string) error { return errors.New("the store is down") }
func (brokenStore) Get(context.Context, string) (string, error) {
	return "", errors.New("the store is down")
}

// rude is a strategy that says what no strategy may say.
type rude struct{ r *rand.Rand }

func (rude) Name() string { return "rude" }
func (s rude) Compact(_ context.Context, v *memory.View) ([]memory.Edit, error) {
	switch s.r.IntN(5) {
	case 0:
		panic("rude")
	case 1:
		return []memory.Edit{{Group: -1, Drop: true}}, nil
	case 2:
		for i := range v.Groups {
			v.Groups[i].Pinned, v.Groups[i].Messages = "", nil
		}
		return []memory.Edit{{Group: 0, Drop: true}}, nil
	case 3:
		return []memory.Edit{{Group: len(v.Groups) - 1, Drop: true}}, nil
	}
	return []memory.Edit{{Group: 0, Results: []memory.NewResult{{Message: 7}}}}, nil
}

func randomSteps(t *testing.T, r *rand.Rand) []memory.Step {
	all := []memory.Strategy{
		memory.DropSuperseded{}, memory.CutResults{}, memory.CutResults{Over: 100, To: 60}, memory.Slide{},
		memory.Importance{},
		memory.Importance{}, memory.Relevance{}, memory.Subgoals{}, memory.Offload{},
		summarise(t, memory.Summary{Provider: says("in short: id is 42"), MaxOutput: 200}),
		summarise(t, memory.Summary{Provider: says("   ")}),
		rude{rand.New(rand.NewPCG(r.Uint64(), 1))},
	}
	var steps []memory.Step
	for range 1 + r.IntN(5) {
		steps = append(steps, memory.Step{Strategy: all[r.IntN(len(all))], Floor: []int{0, 0, 200, 5_000}[r.IntN(4)]})
	}
	return steps
}

var share = flag.Int("share", 15, "how many random cases are tried, in percent")

// TestACompactedConversationKeepsItsRules compacts conversations at random with strategies at
// random, in any order.
func TestACompactedConversationKeepsItsRules(t *testing.T) {
	rounds := 80 * *share / 100
	tooLarge, compacted := 0, 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 6))
		in := randomConversation(r, shape{messages: 1 + r.IntN(60), pause: r.IntN(6) == 0})
		before := deepCopy(t, in)
		paused := len(in[len(in)-1].Calls()) > 0 || len(in) > 1 && len(in[len(in)-2].Calls()) > len(in[len(in)-1].Parts)
		cfg := memory.Config{
			Window:   memory.Window{Size: []int{6_000, 12_000, 40_000, 128_000}[r.IntN(4)], Reserve: 1_000},
			Counter:  &memory.Estimator{Family: memory.FamilyOpenAI, Model: "gpt-4o"},
			Steps:    randomSteps(t, r),
			Rules:    []memory.Rule{{When: memory.AtShare(.7)}, {When: memory.AtTokens(3_000)}},
			Keep:     r.IntN(7),
			Subgoals: subgoals,
			Store:    []memory.Store{nil, &memory.MapStore{}, brokenStore{}}[r.IntN(3)],
		}
		req := &provider.Request{System: "be good", Messages: in, Tools: []provider.Tool{memory.ReadTool()}}
		byHand, target := r.IntN(2) == 0, r.IntN(2)*2_000
		compact := func(messages []provider.Message) (*memory.Prepared, error) {
			c, err := memory.New(cfg)
			require.NoError(t, err)
			next := *req
			next.Messages = messages
			if byHand {
				return c.Compact(t.Context(), &next, memory.Context{}, target, nil)
			}
			plan, err := c.Plan(t.Context(), &next, memory.Context{})
			require.NoError(t, err)
			p, err := c.Run(t.Context(), plan)
			if err == nil && p.Report != nil {
				require.Equal(t, p.Report.Trigger, plan.Trigger)
			} else if err == nil {
				require.Empty(t, plan.Trigger)
			}
			return p, err
		}
		out, err := compact(in)
		require.True(t, asJSON(t, before) == asJSON(t, in), "seed %d: what was given is as it was", seed)
		if err != nil {
			var large *memory.ContextTooLargeError
			require.ErrorAs(t, err, &large, "seed %d", seed)
			require.ErrorIs(t, err, memory.ErrContextTooLarge)
			require.NotEmpty(t, large.Biggest)
			tooLarge++
			continue
		}
		if &out.Messages[0] != &in[0] {
			compacted++
		}
		require.LessOrEqual(t, out.Count.Total, out.Budget, "seed %d: within the budget", seed)
		require.Equal(t, out.Count, memory.CountRequest(cfg.Counter, out.Request),
			"seed %d: the count is that of the request", seed)
		require.Equal(t, req.System, out.Request.System)
		require.Equal(t, req.Tools, out.Request.Tools)
		kept(t, in, out.Messages)
		if !paused {
			sound(t, out.Messages)
		}
		if hasRude(cfg.Steps) || len(out.Warnings) > 0 {
			continue // it answers differently each time; what failed may succeed
		}
		again, err := compact(in)
		require.NoError(t, err)
		require.True(t, asJSON(t, out) == asJSON(t, again), "seed %d: the same again", seed)
		more, err := compact(out.Messages)
		require.NoError(t, err)
		require.Equal(t, outline(out.Messages), outline(more.Messages),
			"seed %d: nothing changed, so nothing to do: %v %s", seed, byHand, more.Report)
		require.True(t, asJSON(t, out.Messages) == asJSON(t, more.Messages),
			"seed %d: nothing changed, so nothing to do", seed)
	}
	require.Greater(t, compacted, rounds/3, "the test compacts")
	require.Less(t, tooLarge, rounds/5, "the test is about what fits")
}

// outline says which messages a conversation has.
func outline(messages []provider.Message) (out []string) {
	for i := range messages {
		tag := tagOf(&messages[i])
		if tag == "" {
			tag = messages[i].Text()
		}
		out = append(out, tag)
	}
	return out
}

func hasRude(steps []memory.Step) bool {
	return slices.ContainsFunc(steps, func(s memory.Step) bool {
		_, ok := s.Strategy.(rude)
		return ok
	})
}
