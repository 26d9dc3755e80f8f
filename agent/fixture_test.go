package agent_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A Number is the input of most tools in these tests.
type Number struct {
	N int `json:"n"`
}

// effects counts what tools did, by input.
type effects struct {
	mu sync.Mutex
	n  map[int]int
}

func (e *effects) add(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n == nil {
		e.n = make(map[int]int)
	}
	e.n[n]++
}

func (e *effects) of(n int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.n[n]
}

func (e *effects) all() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := 0
	for _, n := range e.n {
		all += n
	}
	return all
}

// tool returns a tool that notes its effect and then says its input.
func (e *effects) tool(spec tools.Spec) tools.Tool {
	return tools.New(spec, func(ctx context.Context, in Number) (string, error) {
		e.add(in.N)
		return fmt.Sprintf("done %d", in.N), nil
	})
}

// slow returns a tool that takes in.N seconds, counts on being canceled, and notes its effect when
// it is done.
func (e *effects) slow(spec tools.Spec) tools.Tool {
	return tools.New(spec, func(ctx context.Context, in Number) (string, error) {
		timer := time.NewTimer(time.Duration(in.N) * time.Second)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-timer.C:
		}
		e.add(in.N)
		return fmt.Sprintf("done %d", in.N), nil
	})
}

func say(text string) providertest.Step { return providertest.Say(text) }

func call(tool string, n int) providertest.Step { return providertest.Call(tool, Number{n}) }

// calls is a reply that calls one tool several times.
func calls(tool string, ns ...int) providertest.Step {
	specs := make([]providertest.CallSpec, len(ns))
	for i, n := range ns {
		specs[i] = providertest.CallSpec{Tool: tool, Input: Number{n}}
	}
	return providertest.Calls(specs...)
}

// newAgent returns an agent, or ends the test.
func newAgent(t testing.TB, cfg agent.Config) *agent.Agent {
	t.Helper()
	a, err := agent.New(cfg)
	require.NoError(t, err)
	return a
}

// scripted returns an agent with a script for a model, and that model.
func scripted(t testing.TB, cfg agent.Config, steps ...providertest.Step) (*agent.Agent, *providertest.Model) {
	t.Helper()
	m := providertest.Script(steps...)
	cfg.Provider = m
	return newAgent(t, cfg), m
}

// run runs a prompt in session "s" and returns its result; the run may not fail.
func run(t testing.TB, a *agent.Agent) *agent.Result {
	t.Helper()
	return runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
}

// runInput runs an input. The run may pause or be stopped, but it doesn't fail.
func runInput(t testing.TB, a *agent.Agent, in agent.Work) *agent.Result {
	t.Helper()
	res, err := a.Run(t.Context(), in)
	require.NotNil(t, res, "%v", err)
	require.NotEqual(t, agent.Failed, res.Status, "%v", err)
	return res
}

// events collects a stream.
func events(seq iter.Seq2[agent.Event, error]) (all []agent.Event, err error) {
	for ev, e := range seq {
		if e != nil {
			err = e
			continue
		}
		all = append(all, ev)
	}
	return all, err
}

// of returns the events of one type.
func of[E agent.Event](all []agent.Event) (some []E) {
	for _, ev := range all {
		if e, ok := ev.(E); ok {
			some = append(some, e)
		}
	}
	return some
}

// shown returns the text that a consumer who honours Reset has on the screen at the end of the
// newest model call.
func shown(all []agent.Event) string {
	text := ""
	for _, ev := range all {
		switch ev := ev.(type) {
		case *agent.StepStarted, *agent.Reset:
			text = ""
		case *agent.TextDelta:
			text += ev.Text
		}
	}
	return text
}

// results returns the tool results that the newest message of results holds.
func results(res *agent.Result) []*provider.ToolResult {
	for i := len(res.Messages) - 1; i >= 0; i-- {
		if m := res.Messages[i]; m.Role == provider.RoleTool {
			var out []*provider.ToolResult
			for _, p := range m.Parts {
				out = append(out, p.Result)
			}
			return out
		}
	}
	return nil
}

// finished returns the results of all calls of a session, in the order in which they were recorded.
func finished(t testing.TB, a *agent.Agent, session string) (out []*agent.ToolResult) {
	t.Helper()
	for _, f := range facts(t, a, session) {
		if f, ok := f.(*agent.ToolFinished); ok {
			out = append(out, f.Result)
		}
	}
	return out
}

func facts(t testing.TB, a *agent.Agent, session string) []agent.Fact {
	t.Helper()
	all, err := a.Session(session).Facts(context.Background())
	require.NoError(t, err)
	return all
}

// requireSound fails the test unless a log keeps what every log keeps: it can be replayed; no call
// has two results or was started twice, unless it may be repeated; and once the run has ended,
// every call has its result, in call order.
func requireSound(t testing.TB, session string, log []agent.Fact) {
	t.Helper()
	m, err := machine.Replay(session, log...)
	require.NoError(t, err)
	started, ended, doubt := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, f := range log {
		switch f := f.(type) {
		case *agent.ToolStarted:
			if !f.Repeatable && !doubt[f.Meta.Call] {
				started[f.Meta.Call]++
			}
			require.LessOrEqual(t, started[f.Meta.Call], 1, "call %s was started twice", f.Meta.Call)
		case *agent.Suspended:
			doubt[f.Meta.Call] = f.Pause.Kind == agent.PauseInDoubt
			if f.Pause.Again { // it may be started once more
				started[f.Meta.Call] = 0
			}
		case *agent.ToolFinished:
			ended[f.Meta.Call]++
			require.Equal(t, 1, ended[f.Meta.Call], "call %s has two results", f.Meta.Call)
		}
	}
	s := m.State()
	if s.Run == nil || s.Run.Status == agent.Running || s.Run.Status == agent.Paused {
		return
	}
	for i, msg := range s.Messages {
		calls := msg.Calls()
		if len(calls) == 0 {
			continue
		}
		require.Greater(t, len(s.Messages), i+1, "calls without results")
		require.Len(t, s.Messages[i+1].Parts, len(calls))
		for j, p := range s.Messages[i+1].Parts {
			require.NotNil(t, p.Result)
			require.Equal(t, calls[j].ID, p.Result.CallID, "results are in call order")
		}
	}
}

// A swap is a provider that can be exchanged between runs. It counts the calls.
type swap struct {
	mu    sync.Mutex
	p     provider.Provider
	calls atomic.Int32
}

func (s *swap) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	s.calls.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.p.Stream(ctx, req)
}

func (s *swap) set(p provider.Provider) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p = p
}

// requireFree fails the test unless another run can be held in a session.
func requireFree(t testing.TB, a *agent.Agent, s *swap, session string) {
	t.Helper()
	s.set(providertest.Script(say("free")))
	res, err := a.Run(context.Background(), agent.Input{Session: session, Prompt: "again", Supersede: true})
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	require.Equal(t, "free", res.Text())
	requireSound(t, session, facts(t, a, session))
}

// stores are where a session may be kept: with the agent, and in a journal.
var stores = map[string]func() journal.Store{
	"without a journal": func() journal.Store { return nil },
	"with a journal":    func() journal.Store { return &journal.MapStore{} },
}

// reopen returns an agent as another process would have it: of the same configuration, but with
// another model.
func reopen(t testing.TB, cfg agent.Config, steps ...providertest.Step) *agent.Agent {
	t.Helper()
	a, _ := scripted(t, cfg, steps...)
	return a
}
