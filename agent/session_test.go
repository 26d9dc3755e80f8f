package agent_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestSessionsAreListedNewestFirst(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		synctest.Test(t, func(t *testing.T) {
			a, _, _ := risky(t, agent.Config{Journal: store}, say("One."), say("Two."), call("risky", 1), say("Four."))
			begun := time.Now()
			for i, name := range []string{"a-1", "b-1", "a-2"} {
				runInput(t, a, agent.Input{Session: name, Prompt: fmt.Sprint(i)})
				<-time.After(time.Hour)
			}
			runInput(t, a, agent.Input{Prompt: "unnamed"})
			list := func(f agent.SessionFilter) (names []string) {
				for info, err := range a.Sessions(t.Context(), f) {
					require.NoError(t, err)
					names = append(names, info.Session)
				}
				return names
			}
			require.Equal(t, []string{"a-2", "b-1", "a-1"}, list(agent.SessionFilter{}))
			require.Equal(t, []string{"a-2", "a-1"}, list(agent.SessionFilter{Prefix: "a-"}))
			require.Equal(t, []string{"a-2"}, list(agent.SessionFilter{Status: agent.Paused}))
			require.Equal(t, []string{"a-2", "b-1"}, list(agent.SessionFilter{Updated: begun.Add(30 * time.Minute)}))
			require.Equal(t, []string{"a-2"}, list(agent.SessionFilter{Limit: 1}))
			page, err := a.Session("a-2").Info(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"b-1", "a-1"}, list(agent.SessionFilter{Before: page.Updated, After: "a-2"}))
			for info := range a.Sessions(t.Context(), agent.SessionFilter{}) {
				require.Equal(t, agent.SessionInfo{Session: "a-2", Status: agent.Paused, Created: info.Created,
					Updated: info.Updated,
					Pending: 1, Facts: uint64(len(facts(t, a, "a-2"))), Steps: 1,
					Model: "scripted"}, info)
				break // leaves nothing behind
			}
		})
	})
}

func TestMessagesAreTheConversationAsAPageShowsIt(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		back := 0
		hooks := agent.Hooks{Name: "h", BeforeFinish: func(context.Context, *agent.Result) error {
			if back++; back == 1 {
				return agent.SendBack("say more")
			}
			return nil
		}}
		var done effects
		a, _ := scripted(t, agent.Config{Journal: store, Hooks: []agent.Hooks{hooks},
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
			call("work", 1), say("Short."), say("Longer."), say("Again."))
		run(t, a)
		runInput(t, a, agent.Input{Session: "s", Prompt: "and now?"})
		messages, err := a.Session("s").Messages(t.Context())
		require.NoError(t, err)
		var shown []string
		for _, m := range messages {
			text := string(m.Role) + ": " + m.Text()
			for _, c := range m.Calls() {
				text += "→ " + c.Name
			}
			for _, p := range m.Parts {
				if p.Result != nil {
					text += p.Result.Text()
				}
			}
			shown = append(shown, text)
		}
		require.Equal(t, []string{"user: go", "assistant: → work", "tool: done 1", "assistant: Short.",
			"assistant: Longer.", "user: and now?", "assistant: Again."}, shown)
	})
}

func TestAHandleSaysHowItsSessionIs(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a, _, _ := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
		s := a.Session("s")
		require.Equal(t, "s", s.ID())
		_, err := s.Result(t.Context())
		require.ErrorIs(t, err, agent.ErrNothingOpen)
		messages, err := s.Messages(t.Context())
		require.NoError(t, err)
		require.Empty(t, messages)

		paused := run(t, a)
		res, err := s.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, agent.Paused, res.Status)
		require.Equal(t, paused.Pending, res.Pending)
		require.NoError(t, s.Decide(t.Context(), agent.Reject(res.Pending[0].ID, "no")))
		end := runInput(t, a, agent.Continue("s"))
		res, err = s.Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, end.Text(), res.Text())
		require.NoError(t, res.Err())
	})
}

func TestWhatIsReadMayBeReadWhileTheRunIsUnderWay(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var a *agent.Agent
		looked := 0
		look := tools.New(tools.Spec{Name: "look"}, func(ctx context.Context, _ Number) (string, error) {
			looked++
			s := a.Session("s")
			_, err1 := s.Facts(ctx)
			_, err2 := s.Pending(ctx)
			_, err3 := s.Messages(ctx)
			_, err4 := s.Trace(ctx)
			res, err5 := s.Result(ctx)
			for _, err := range []error{err1, err2, err3, err4, err5} {
				if err != nil {
					return "", err
				}
			}
			return string(res.Status), nil
		})
		a, _ = scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{look}}, call("look", 1), say("Seen."))
		res := run(t, a)
		require.Equal(t, 1, looked)
		require.Equal(t, "running", results(res)[0].Text())
	})
}

func TestAZeroHandleOrAgentIsAnError(t *testing.T) {
	var none *agent.Session
	for name, s := range map[string]*agent.Session{"nil": none, "zero": {},
		"of no agent": (*agent.Agent)(nil).Session("s"), "of an empty agent": new(agent.Agent).Session("s")} {
		var bad *agent.ArgError
		ctx := t.Context()
		_, err := s.Facts(ctx)
		require.ErrorAs(t, err, &bad, name)
		require.Contains(t, bad.Field, "Config.")
		_, err = s.Messages(ctx)
		require.ErrorAs(t, err, &bad, name)
		_, err = s.Pending(ctx)
		require.ErrorAs(t, err, &bad, name)
		_, err = s.Result(ctx)
		require.ErrorAs(t, err, &bad, name)
		_, err = s.Steer(ctx, "go")
		require.ErrorAs(t, err, &bad, name)
		_, err = s.Rules(ctx)
		require.ErrorAs(t, err, &bad, name)
		_, err = s.Undo(ctx, agent.Rollback{})
		require.ErrorAs(t, err, &bad, name)
		_, err = s.Compact(ctx, 0)
		require.ErrorAs(t, err, &bad, name)
		_, err = s.Prune(ctx)
		require.ErrorAs(t, err, &bad, name)
		_, err = s.Trace(ctx)
		require.ErrorAs(t, err, &bad, name)
		for _, err := range []error{
			s.Decide(ctx, agent.Approve("p")), s.Cancel(ctx), s.Stop(ctx), s.Pause(ctx), s.SetMode(ctx, "m"),
			s.Revoke(ctx, "t", "ann"),
			s.Fork(ctx, "copy", 0), s.Delete(ctx),
		} {
			require.ErrorAs(t, err, &bad, name)
		}
		require.NotPanics(t, func() { _ = s.ID() })
	}
	for _, a := range []*agent.Agent{nil, {}} {
		var bad *agent.ArgError
		for _, err := range a.Sessions(t.Context(), agent.SessionFilter{}) {
			require.ErrorAs(t, err, &bad)
			require.Contains(t, bad.Field, "Config.")
		}
		require.ErrorAs(t, a.Drain(t.Context()), &bad)
		_, err := a.Retain(t.Context(), agent.Retention{Idle: time.Hour})
		require.ErrorAs(t, err, &bad)
		_, err = a.Recover(t.Context(), agent.Recovery{})
		require.ErrorAs(t, err, &bad)
		_, err = a.Run(t.Context(), agent.Input{Prompt: "go"})
		require.ErrorAs(t, err, &bad)
		require.Zero(t, a.Abandoned())
		require.Nil(t, a.Tools())
	}
}

func TestZeroEventsArePlainValues(t *testing.T) {
	require.NotPanics(t, func() {
		_ = (&agent.TextDelta{}).Text + (&agent.TextDelta{}).Session() + (&agent.ReasoningDelta{}).Run() +
			(&agent.CallBegun{}).Name +
			(&agent.CallDelta{}).Text
		_ = (&agent.RunEnded{}).Session() + (&agent.RunEnded{}).Reason + (&agent.Suspended{}).Run()
		for _, ev := range []agent.Event{&agent.TextDelta{}, &agent.ReasoningDelta{}, &agent.CallBegun{},
			&agent.CallDelta{}, &agent.Waiting{}, &agent.Reset{}, &agent.BreakerOpen{},
			&agent.Progress{}, &agent.Escalated{}, &agent.MemoryWarning{}, &agent.RunEnded{}, &agent.RunStarted{},
			&agent.StepStarted{}, &agent.Replied{}, &agent.ToolFinished{}} {
			require.Zero(t, ev.Envelope())
		}
	})
}

func TestTheFactsOfAStreamAreThoseOfTheLog(t *testing.T) {
	a, _, _ := risky(t, agent.Config{Journal: &journal.MapStore{}}, say("Done."))
	var streamed []agent.Fact
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if f, ok := ev.(agent.Fact); ok {
			streamed = append(streamed, f)
		}
	}
	stored := facts(t, a, "s")
	require.Len(t, streamed, len(stored))
	for i, f := range streamed {
		rec, err := machine.Encode(f)
		require.NoError(t, err)
		want, err := machine.Encode(stored[i])
		require.NoError(t, err)
		require.Equal(t, string(want.Data), string(rec.Data))
	}
	m, err := machine.Replay("s", streamed...)
	require.NoError(t, err)
	require.Equal(t, agent.Completed, m.State().Run.Status)
}

// TestThePausesOfASubagentAreShownOnce: what the parent's stream shows is what can be decided on,
// in each stream once.
func TestThePausesOfASubagentAreShownOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		f := newFamily(t, agent.Config{Journal: store},
			[]providertest.Step{task("child", "both"), say("Done.")},
			[]providertest.Step{calls("risky", 1, 2), say("Both.")})
		var in agent.Work = agent.Input{Session: "s", Prompt: "go"}
		for round, left := range []int{2, 1, 0} {
			all, err := events(f.a.Stream(t.Context(), in))
			require.NoError(t, err)
			res := of[*agent.RunEnded](all)[0].Result
			require.Len(t, res.Pending, left, "round %d", round)
			var shown []string
			for _, s := range of[*agent.Suspended](all) {
				require.NotEqual(t, machine.PauseAgent, s.Pause.Kind)
				shown = append(shown, s.Pause.ID)
			}
			var pending []string
			for _, p := range res.Pending {
				pending = append(pending, p.ID)
			}
			require.Equal(t, pending, shown, "round %d", round)
			if left > 0 {
				in = agent.Resume("s", agent.Approve(res.Pending[0].ID))
			}
		}
	})
}

func TestAnErrorOfTheContextComesWithTheResult(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a, _ := scripted(t,
		agent.Config{
			Tools: []tools.Tool{tools.New(tools.Spec{Name: "end"}, func(ctx context.Context, _ Number) (string, error) {
				cancel()
				<-ctx.Done()
				return "", ctx.Err()
			})}}, call("end", 1), say("never"))
	res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, res.Err(), err)
	require.Equal(t, agent.Stopped, res.Status)
	require.Equal(t, machine.CodeCanceled, res.Code)
	require.Equal(t, provider.RoleUser, res.Messages[0].Role)
}
