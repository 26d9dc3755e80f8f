package temporal

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// earlier returns a history that an earlier version wrote.
func earlier(t *testing.T) *historypb.History {
	f, err := os.Open("../../../internal/compat/queued/temporal.json")
	require.NoError(t, err)
	defer f.Close()
	history, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
	require.NoError(t, err)
	return history
}

func TestAHistoryOfAnEarlierVersionIsReplayed(t *testing.T) {
	require.NoError(t, replay(earlier(t)))
}

// TestARunOfAnEarlierVersionIsStarted with all that its input had, also in fields that an input
// doesn't have any more: its workflow was started before the program was replaced.
func TestARunOfAnEarlierVersionIsStarted(t *testing.T) {
	var r Run
	input := earlier(t).Events[0].GetWorkflowExecutionStartedEventAttributes().Input
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(input, &r))
	pay := tools.New(tools.Spec{Name: "pay"}, func(context.Context, struct{}) (string, error) { return "paid", nil })
	a, err := agent.New(agent.Config{Name: "clerk", Journal: &journal.MapStore{}, Modes: []agent.Mode{{Name: "fast"}},
		Tools: []tools.Tool{pay}, Provider: providertest.Script(providertest.Say("Paid."))})
	require.NoError(t, err)
	out, err := newEnv(t, of(a).do).runAgain(r)
	require.NoError(t, err)
	require.Equal(t, agent.Completed, out.Status)
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	started := facts[0].(*agent.RunStarted)
	require.Len(t, started.Message.Parts, 4)
	require.Contains(t, started.Message.Parts[3].Text, "Don't pay twice.", "the briefing")
	require.Equal(t, []any{"ann", "t", "p", "o", "parent", "first", "m", true, int32(-1), true}, []any{
		started.Caller.User, started.Caller.Task, started.Caller.Pipeline, started.Owner, started.ParentSession,
		started.Key, started.Model, started.Interactive, started.Priority, started.Children})
}

// TestWhatAnEarlierVersionSaidOfChangesHolds: a worker that began the first leg was replaced by one
// with an agent of another name.
func TestWhatAnEarlierVersionSaidOfChangesHolds(t *testing.T) {
	store := &journal.MapStore{}
	build := func(name string, replies ...providertest.Step) *agent.Agent {
		pay := tools.New(tools.Spec{Name: "pay", Risk: tools.High},
			func(context.Context, struct{}) (string, error) { return "paid", nil })
		a, err := agent.New(agent.Config{Name: name, Journal: store, Tools: []tools.Tool{pay},
			Provider: providertest.Script(replies...)})
		require.NoError(t, err)
		return a
	}
	args := legArgs{Run: Run{Agent: "clerk", Session: "s", Key: "first",
		Input: json.RawMessage(`{"Session":"s","Key":"first","Prompt":"Pay.","AcceptChanges":true}`)}}
	p, err := drive(t.Context(), build("clerk", providertest.Call("pay", nil)), args)
	require.NoError(t, err)
	require.Equal(t, agent.NextWait, p.Next)
	p, err = drive(t.Context(), build("another"), args)
	require.NoError(t, err)
	require.Equal(t, agent.NextWait, p.Next)

	args.Input = json.RawMessage("null") // as another SDK may write it: the run has begun
	p, err = drive(t.Context(), build("clerk"), args)
	require.NoError(t, err)
	require.Equal(t, agent.NextWait, p.Next)
}
