package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestTheEndOfARunNamesTheLimitThatItHasReached(t *testing.T) {
	a := newAgent(t, agent.Config{Provider: providertest.Script(used(50, providertest.Call("pay", nil))),
		Tools: []tools.Tool{pays()}, Limits: agent.Limits{Tokens: 10}, Journal: &journal.MapStore{}})
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	stop := requireAs[*agent.StopError](t, err)
	require.Equal(t, machine.LimitTokens, stop.Limit)
	require.Equal(t, machine.LimitTokens, requireAs[*agent.LimitError](t, err).Limit)
	require.Equal(t, machine.LimitTokens, res.Limit)
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	require.Equal(t, machine.LimitTokens, facts[len(facts)-1].(*agent.RunEnded).Limit)

	read, err := a.Session("s").Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, machine.LimitTokens, read.Limit)
	require.Equal(t, machine.LimitTokens, requireAs[*agent.StopError](t, read.Err()).Limit)
}

func requireAs[E error](t *testing.T, err error) (target E) {
	t.Helper()
	require.ErrorAs(t, err, &target)
	return target
}

// pays is a tool that costs 40 cents.
func pays() tools.Tool {
	return tools.New(tools.Spec{Name: "pay"}, func(ctx context.Context, _ struct{}) (string, error) {
		return "paid", agent.Book(ctx, provider.Usage{}, 400_000)
	})
}

// payer is an agent that pays so many times.
func payer(t *testing.T, store journal.Store, times int) *agent.Agent {
	return newAgent(t, agent.Config{Name: "payer", Tools: []tools.Tool{pays()}, Journal: store,
		Limits: agent.Limits{Repeats: -1, Steps: -1},
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			if len(req.Messages)/2 >= times {
				return providertest.Say("Paid.").Response(), nil
			}
			return providertest.Call("pay", nil).Response(), nil
		})})
}

// runs is a tool that runs an agent by hand, in a session of its own.
func runs(b *agent.Agent, session string) tools.Tool {
	return tools.New(tools.Spec{Name: "run", NoBreaker: true}, func(ctx context.Context, _ struct{}) (string, error) {
		res, err := b.Run(ctx, agent.Input{Session: session, Prompt: "pay"})
		return res.Text(), err
	})
}

func TestWhatAToolRunsByHandCountsForTheInput(t *testing.T) {
	store := &journal.MapStore{}
	b := payer(t, store, 9)
	a := newAgent(t, agent.Config{Tools: []tools.Tool{runs(b, "other")}, Journal: store,
		Limits:   agent.Limits{Cost: provider.USD},
		Provider: providertest.Script(providertest.Call("run", nil), providertest.Say("Done."))})
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.Equal(t, machine.LimitCost, requireAs[*agent.StopError](t, err).Limit)
	require.Equal(t, "agent: Limits.Cost is reached: $1.200000 of $1.000000; it counts all that the input has started",
		res.Reason)
	own, err := b.Session("other").Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, provider.Money(1_200_000), own.Cost)
	require.Equal(t, []any{agent.Stopped, machine.LimitCost}, []any{own.Status, own.Limit})
	require.Contains(t, own.Reason, "it is the limit of the input that has started this work")
	require.Empty(t, infoOf(t, b, "other").Labels, "hosts don't see the label that finds it")
}

func infoOf(t *testing.T, a *agent.Agent, session string) agent.SessionInfo {
	t.Helper()
	info, err := a.Session(session).Info(t.Context())
	require.NoError(t, err)
	return info
}

func TestAnotherInputHasALimitOfItsOwn(t *testing.T) {
	store := &journal.MapStore{}
	b := payer(t, store, 2)
	a := newAgent(t, agent.Config{Tools: []tools.Tool{runs(b, "")}, Journal: store,
		Limits: agent.Limits{Cost: provider.USD},
		Provider: providertest.Script(providertest.Call("run", nil), providertest.Say("Done."),
			providertest.Call("run", nil), providertest.Say("Done."))})
	for range 2 {
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.NoError(t, err)
	}
}

// TestASubagentCountsOnce in the tree of an input: in what its caller has used.
func TestASubagentCountsOnce(t *testing.T) {
	store := &journal.MapStore{}
	sub := payer(t, nil, 2)
	b := payer(t, store, 1)
	a := newAgent(t, agent.Config{Tools: []tools.Tool{agent.AsTool(sub, tools.Spec{}), runs(b, "other")},
		Journal: store, Limits: agent.Limits{Cost: 1_300_000},
		Provider: providertest.Script(providertest.Call("payer", agent.Task{Task: "pay"}), providertest.Call("run",
			nil),
			providertest.Say("Done."))})
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err, "it has cost 1.20")
}

// anotherProcess is a store as another process has it.
type anotherProcess struct{ journal.Store }

// TestAnotherProcessCountsWhatTheInputHasUsed: the first one dies while its tool runs an agent by
// hand, and the next one goes on with both sessions.
func TestAnotherProcessCountsWhatTheInputHasUsed(t *testing.T) {
	store := &journal.MapStore{}
	b := payer(t, store, 2)
	ctx, die := context.WithCancel(t.Context())
	end := tools.New(tools.Spec{Name: "run", Idempotent: true}, func(ctx context.Context, _ struct{}) (string, error) {
		_, err := b.Run(ctx, agent.Input{Session: "other", Prompt: "pay"})
		require.NoError(t, err)
		return "", tools.Suspend{Kind: "question", Prompt: "on?"}
	})
	cfg := agent.Config{Tools: []tools.Tool{end}, Journal: store, Limits: agent.Limits{Cost: provider.USD},
		Provider: providertest.Script(providertest.Call("run", nil))}
	res, err := newAgent(t, cfg).Run(ctx, agent.Input{Session: "s", Prompt: "go"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	die()

	second := anotherProcess{store}
	c := payer(t, second, 9)
	cfg.Journal, cfg.Tools = second, []tools.Tool{runs(c, "third")}
	cfg.Provider = providertest.Script(providertest.Call("run", nil), providertest.Say("Done."))
	res, err = newAgent(t, cfg).Run(t.Context(), func() agent.Work {
		in := agent.Resume("s", agent.Answer(res.Pending[0].ID, "yes"))
		in.AcceptChanges = true
		return in
	}())
	require.Equal(t, machine.LimitCost, requireAs[*agent.StopError](t, err).Limit)
	require.Contains(t, res.Reason, "$1.200000 of $1.000000", "0.80 in the first process, and 0.40 in the second")
}

func TestAForkIsNoPartOfWhatAnInputHasStarted(t *testing.T) {
	store := &journal.MapStore{}
	b := payer(t, store, 2)
	a := newAgent(t, agent.Config{Tools: []tools.Tool{runs(b, "other")}, Journal: store,
		Provider: providertest.Script(providertest.Call("run", nil), providertest.Say("Done."))})
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	err = b.Session("other").Fork(t.Context(), "copy", 0)
	require.NoError(t, err)
	for _, session := range []string{"other", "copy"} {
		h, err := store.Head(t.Context(), session)
		require.NoError(t, err)
		require.Equal(t, session == "other", h.Labels[machine.TreeLabel] != "", session)
	}
}

func TestTheLabelOfATreeIsNotTheHosts(t *testing.T) {
	a := newAgent(t, agent.Config{Provider: providertest.Script(providertest.Say("Hi."))})
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x",
		Labels: map[string]string{machine.TreeLabel: "r"}})
	require.Equal(t, "Input.Labels", requireAs[*agent.ArgError](t, err).Field)
}
