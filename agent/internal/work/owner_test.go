package work_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// jobs is a tool whose calls are jobs that survive the process.
type jobs struct {
	mu  sync.Mutex
	all map[string]*job // by the call
}

type order struct {
	What string `json:"what"`
}

func newJobs() *jobs { return &jobs{all: make(map[string]*job)} }

func (t *jobs) Define() (*tools.Definition, error) {
	return tools.New(tools.Spec{Name: "job", Idempotent: true, NoRetries: true, NoBreaker: true},
		func(ctx context.Context, in order) (tools.Result, error) {
			call, _ := tools.CallOf(ctx)
			return work.Do(ctx, &job{t: t, call: call.ID, order: in})
		}).Define()
}

func (t *jobs) Work(_, call string, input json.RawMessage) (work.Work, error) {
	j := &job{t: t, call: call}
	return j, json.Unmarshal(input, &j.order)
}

func (t *jobs) Journals() []journal.Store { return nil }

// A job begins, is interrupted once, waits for two decisions at a time, and is done.
type job struct {
	t     *jobs
	call  string
	order order

	advances int
	approved []string
	canceled string
	undoneBy string
}

// stored returns the job as it is stored; nil if it never began, or was deleted. t.mu is held.
func (j *job) stored() *job { return j.t.all[j.call] }

// waits returns what the job waits for: a question of its own, and a call of a node.
func (j *job) waits() (open []machine.Pause) {
	call := func(id string) provider.ToolCall {
		return provider.ToolCall{ID: id, Name: "node", Input: json.RawMessage(`{}`)}
	}
	own := machine.Pause{ID: j.call + "-own", Kind: "question", Reason: "How?", Call: call(j.call + ".q")}
	node := machine.Pause{ID: j.call + "-n", Kind: machine.PauseAgent, Call: call(j.call + ".n"),
		Nested: []machine.Pause{{ID: j.call + "-node", Kind: machine.PauseApproval, Call: call(j.call + ".n.0")}}}
	if !slices.Contains(j.approved, own.ID) {
		open = append(open, own)
	}
	if !slices.Contains(j.approved, j.call+"-node") {
		open = append(open, node)
	}
	return open
}

func (j *job) Advance(ctx context.Context) (work.Outcome, error) {
	j.t.mu.Lock()
	defer j.t.mu.Unlock()
	s := j.stored()
	if s == nil {
		s = j
		j.t.all[j.call] = j
	}
	s.advances++
	open := s.waits()
	switch {
	case s.order.What == "fail":
		return work.Outcome{Status: work.Failed, Err: errors.New("it can't be done")}, nil
	case s.advances == 1 || work.Stopping(ctx):
		return work.Outcome{Status: work.Stopped, Err: errors.New("its process ends")}, nil
	case len(open) > 0:
		return work.Outcome{Status: work.Waits, Pending: open}, nil
	}
	return work.Outcome{Status: work.Done, Output: json.RawMessage(`"did ` + s.order.What + `"`)}, nil
}

func (j *job) Check(_ context.Context, d machine.Decision) (machine.Decision, error) {
	if d.Kind == machine.Rejected {
		return d, &machine.DecisionError{ID: d.ID, Code: machine.DecisionBad, Problem: "jobs aren't rejected"}
	}
	return d, nil
}

func (j *job) Decide(_ context.Context, ds ...machine.Decision) error {
	j.t.mu.Lock()
	defer j.t.mu.Unlock()
	for _, d := range ds {
		if s := j.stored(); !slices.Contains(s.approved, d.ID) {
			s.approved = append(s.approved, d.ID)
		}
	}
	return nil
}

func (j *job) Cancel(_ context.Context, why string) error {
	j.t.mu.Lock()
	defer j.t.mu.Unlock()
	if s := j.stored(); s != nil {
		s.canceled = why
	}
	return nil
}

func (j *job) Undo(_ context.Context, by string) (*machine.UndoReceipt, error) {
	j.t.mu.Lock()
	defer j.t.mu.Unlock()
	s := j.stored()
	if s == nil {
		return nil, machine.ErrNothingOpen
	}
	s.undoneBy = by
	return &machine.UndoReceipt{}, nil
}

func (j *job) Delete(context.Context) error {
	j.t.mu.Lock()
	defer j.t.mu.Unlock()
	delete(j.t.all, j.call)
	return nil
}

// one returns the only job; nil if there is none.
func (t *jobs) one() *job {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.all {
		return j
	}
	return nil
}

func build(t *testing.T, store journal.Store, tool tools.Tool, steps ...providertest.Step) *agent.Agent {
	t.Helper()
	a, err := agent.New(agent.Config{Journal: store, Provider: providertest.Script(steps...),
		Tools: []tools.Tool{tool}})
	require.NoError(t, err)
	return a
}

func orders(what string) providertest.Step { return providertest.Call("job", order{what}) }

// waiting returns an agent whose session "s" waits for what its job waits for.
func waiting(t *testing.T, tool *jobs, wrap func(tools.Tool) tools.Tool) (*agent.Agent, []agent.Pause) {
	t.Helper()
	store := &journal.MapStore{}
	res, err := build(t, store, wrap(tool), orders("it")).Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, machine.CodeDrained, res.Code, "it was stopped, which is no failure")
	require.Equal(t, "its process ends", res.Reason)
	a := build(t, store, wrap(tool), providertest.Say("Done."))
	n, err := a.Recover(t.Context(), agent.Recovery{})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	pending, err := a.Session("s").Pending(t.Context())
	require.NoError(t, err)
	require.Len(t, pending, 2)
	require.Equal(t, 2, tool.one().advances)
	return a, pending
}

func asIs(t tools.Tool) tools.Tool { return t }

// swallowing is a wrapper that makes texts of all errors.
func swallowing(t tools.Tool) tools.Tool {
	return tools.Wrap(t, func(ctx context.Context, in json.RawMessage, next tools.Runner) (tools.Result, error) {
		res, err := next(ctx, in)
		if err != nil {
			return tools.Text(err.Error()), nil
		}
		return res, nil
	})
}

// TestACallWaitsForItsWorkAndPassesOnWhatIsDecided, one decision at a time, whatever wraps the
// tool.
func TestACallWaitsForItsWorkAndPassesOnWhatIsDecided(t *testing.T) {
	for _, wrap := range []func(tools.Tool) tools.Tool{asIs, swallowing} {
		tool := newJobs()
		a, pending := waiting(t, tool, wrap)
		require.Len(t, pending[0].Path, 1, "the call")
		require.Len(t, pending[1].Path, 2, "the call, and the call of the node")
		s := a.Session("s")
		var refused *agent.DecisionError
		require.ErrorAs(t, s.Decide(t.Context(), agent.Reject(pending[0].ID, "no")), &refused)
		require.Equal(t, "jobs aren't rejected", refused.Problem)

		require.NoError(t, s.Decide(t.Context(), agent.Approve(pending[1].ID).By("ann")))
		res, err := a.Run(t.Context(), agent.Continue("s"))
		require.ErrorAs(t, err, new(*agent.PausedError))
		require.Len(t, res.Pending, 1)
		require.Equal(t, pending[0].ID, res.Pending[0].ID)
		res, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(pending[0].ID, "so")))
		require.NoError(t, err)
		require.Equal(t, "did it", res.ToolResult("job").Text())
		require.Empty(t, tool.one().canceled)

		rec, err := s.Undo(t.Context(), agent.Rollback{User: "bob"})
		require.NoError(t, err)
		require.Len(t, rec.Undone, 1)
		require.Equal(t, "bob", tool.one().undoneBy)
		_, err = s.Prune(t.Context())
		require.NoError(t, err)
		require.Nil(t, tool.one())
	}
}

func TestWorkEndsWithItsCall(t *testing.T) {
	tool := newJobs()
	a, _ := waiting(t, tool, asIs)
	_, err := a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	require.NotNil(t, tool.one(), "an open call still needs it")
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "something else", Supersede: true})
	require.NoError(t, err)
	require.Equal(t, "Done.", res.Text())
	require.Contains(t, tool.one().canceled, "superseded")
}

func TestWorkThatHasFailedIsAFailureOfItsCall(t *testing.T) {
	tool := newJobs()
	a := build(t, &journal.MapStore{}, tool, orders("fail"), providertest.Say("It failed."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	require.Contains(t, res.ToolResult("job").Text(), "it can't be done")
	require.NoError(t, tool.one().Delete(t.Context()))
	rec, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Contains(t, rec.Impossible[0].Why, "its own session is gone")
}

func TestWorkThatIsStoppedGoesOnInTheNextLeg(t *testing.T) {
	a := build(t, &journal.MapStore{}, newJobs(), orders("it"), providertest.Say("Done."))
	in := agent.Input{Session: "s", Key: "k", Prompt: "go"}
	for _, next := range []agent.Next{agent.NextAgain, agent.NextWait} {
		p, err := a.Advance(t.Context(), in, agent.Leg{Time: time.Hour})
		require.NoError(t, err)
		require.Equal(t, next, p.Next)
	}
}

func TestWorkIsDoneOnlyInCallsOfAnAgent(t *testing.T) {
	_, err := work.Do(t.Context(), &job{t: newJobs()})
	require.Error(t, err)
	require.False(t, work.Stopping(t.Context()))
	_, err = agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{newJobs()}})
	require.NoError(t, err)
	a := build(t, nil, newJobs())
	_, err = a.Run(t.Context(), agent.Input{Prompt: "go", Tools: []tools.Tool{newJobs()}})
	require.ErrorContains(t, err, "can only be in Config.Tools")
}
