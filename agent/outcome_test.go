package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// fromElsewhere posts an item as another process does to session "s".
func fromElsewhere(t *testing.T, store journal.Store, kind string, it session.Item) {
	data, err := json.Marshal(it)
	require.NoError(t, err)
	require.NoError(t, store.Post(context.Background(), "s",
		journal.Item{ID: kind, Kind: kind, Time: time.Now(), Data: data}))
}

// meanwhile is a model whose call does something and then ends as said.
func meanwhile(do func(), reply *provider.Response, err error) provider.Provider {
	return providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		do()
		return reply, err
	})
}

// TestWhatIsReadAfterACallCounts: what another process has posted during a model call that fails
// ends the run, rather than the failure. A stop ends it also if that call was the last one.
func TestWhatIsReadAfterACallCounts(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		kind  string
		reply *provider.Response
		err   error
		leave bool // the reader leaves at the event of the item
		code  string
	}{
		"canceled, and fails":  {kind: session.ItemCancel, err: boom, code: machine.CodeCanceled},
		"stopped, and fails":   {kind: session.ItemStop, err: boom, code: machine.CodeHost},
		"stopped, and answers": {kind: session.ItemStop, reply: say("Done.").Response(), code: machine.CodeHost},
		"left, and fails":      {kind: session.ItemTitle, err: boom, leave: true, code: machine.CodeAbandoned},
	} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			posts := func() { fromElsewhere(t, store, c.kind, session.Item{Text: "New title"}) }
			a := newAgent(t, agent.Config{Journal: store, Provider: meanwhile(posts, c.reply, c.err)})
			for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				if _, ok := ev.(*machine.TitleChanged); ok && c.leave {
					break
				}
			}
			res, err := a.Session("s").Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, agent.Stopped, res.Status)
			require.Equal(t, c.code, res.Code)
		})
	}
}

// TestACanceledRunRecordsNoFurtherStep, and nothing is called for it.
func TestACanceledRunRecordsNoFurtherStep(t *testing.T) {
	store := &journal.MapStore{}
	work := tools.New(tools.Spec{Name: "work"}, func(context.Context, Number) (string, error) {
		fromElsewhere(t, store, session.ItemCancel, session.Item{})
		return "x", nil
	})
	a, model := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{work}}, call("work", 1), say("Done."))
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorAs(t, err, new(*agent.StopError))
	var kinds []string
	for _, f := range facts(t, a, "s") {
		kinds = append(kinds, fmt.Sprintf("%T", f))
	}
	require.Equal(t, []string{"*machine.RunStarted", "*machine.StepStarted", "*machine.Replied", "*machine.ToolStarted",
		"*machine.ToolFinished", "*machine.RunEnded"}, kinds)
	require.Len(t, model.Requests(), 1)
}

// TestTheSpanOfAStepEndsBeforeItsRun, also if the step ends the run.
func TestTheSpanOfAStepEndsBeforeItsRun(t *testing.T) {
	var order []string
	hooks := agent.Hooks{
		Around: func(ctx context.Context, s *agent.Span) (context.Context, func(error)) {
			return ctx, func(error) { order = append(order, "end of the "+s.Kind) }
		},
		AfterRun: func(context.Context, *agent.Result) error { order = append(order, "AfterRun"); return nil },
	}
	a := newAgent(t, agent.Config{Hooks: []agent.Hooks{hooks}, Provider: meanwhile(func() {}, nil, errors.New("boom"))})
	for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		if _, ok := ev.(*agent.RunEnded); ok {
			order = append(order, "RunEnded")
		}
	}
	require.Equal(t, []string{"end of the step", "AfterRun", "RunEnded", "end of the run"}, order)
}
