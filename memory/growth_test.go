package memory_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// TestAGrowingConversationNeverLeavesItsWindow goes through conversations at random step by step,
// as an agent does: what was compacted continues, what the provider counted is learned, context
// comes and goes, phases change.
func TestAGrowingConversationNeverLeavesItsWindow(t *testing.T) {
	compactions := 0
	for seed := range uint64(24 * *share / 100) {
		r := rand.New(rand.NewPCG(seed, 9))
		all := randomConversation(r, shape{messages: 60})
		counter := &memory.Estimator{Family: memory.FamilyGemini, Model: "gemini-2.5-flash"}
		c, err := memory.New(memory.Config{
			Window: memory.Window{Size: []int{14_000, 20_000, 60_000}[r.IntN(3)]}, Counter: counter, Subgoals: subgoals,
			Store: &memory.MapStore{},
			Steps: memory.DefaultSteps(summarise(t, memory.Summary{Provider: says("id is 42")})),
			Rules: []memory.Rule{{When: memory.AtShare(.7)}, {When: memory.OnPhase()}, {When: memory.OnSubgoal()}},
		})
		require.NoError(t, err)
		req := &provider.Request{System: "be good", MaxOutput: 1_000}
		truth := .8 + r.Float64()*.5 // how the provider's count differs
		for i := range all {
			req.Messages = append(req.Messages, all[i])
			if all[i].Role == provider.RoleAssistant {
				continue // its results come first, or the user's next message
			}
			more := memory.Context{User: "ann", Screen: strings.Repeat("button ", r.IntN(40))}
			for range r.IntN(4) {
				more.Fetched = append(more.Fetched, memory.Fetched{Name: "doc", Text: randomText(r, r.IntN(500))})
			}
			var events []memory.Event
			if r.IntN(10) == 0 {
				events = append(events, memory.PhaseChanged)
			}
			out, err := c.Prepare(t.Context(), req, more, events...)
			require.NoError(t, err, "seed %d", seed)
			require.LessOrEqual(t, out.Count.Total, out.Budget, "seed %d, message %d", seed, i)
			raw := float64(memory.CountRequest(counter, out.Request).Total)
			require.LessOrEqual(t, raw*c.Meter().Scale(), float64(out.Budget)+1,
				"seed %d, message %d: by a count from scratch", seed, i)
			require.InDelta(t, raw*c.Meter().Scale(), float64(out.Count.Total), 2, "seed %d, message %d", seed, i)
			kept(t, all[:i+1], out.Messages)
			sound(t, out.Messages)
			sound(t, out.Request.Messages)
			if out.Report != nil && out.Report.Changed() {
				compactions++
				require.Less(t, out.Report.After, out.Report.Before)
			}
			if r.IntN(3) == 0 {
				c.Meter().Learn(int(raw * truth))
			}
			req.Messages = out.Messages
		}
	}
	require.Greater(t, compactions, 24, "the test compacts")
}
