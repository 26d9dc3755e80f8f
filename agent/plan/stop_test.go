package plan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A tripwire is a store that calls trip before its append with number at.
type tripwire struct {
	journal.Store
	mu       sync.Mutex
	at       int
	trip     func(a *journal.Append)
	refuses  func(session string) error // after that, if it isn't nil
	appended int
}

func (s *tripwire) Append(ctx context.Context, a journal.Append) error {
	s.mu.Lock()
	if s.appended++; s.appended == s.at {
		s.trip(&a)
	}
	refuses := s.refuses
	s.mu.Unlock()
	if refuses != nil {
		if err := refuses(a.Session); err != nil {
			return err
		}
	}
	return s.Store.Append(ctx, a)
}

// once is a tool that isn't idempotent. It takes a second, and isn't stopped by its context.
type once struct {
	mu   sync.Mutex
	done map[string]int
}

func (o *once) make(_ context.Context, in item) (string, error) {
	(&shop{slow: time.Second}).rest(context.Background())
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done[in.Name]++
	return fmt.Sprintf(`{"id":%q}`, in.Name), nil
}

func (o *once) runner(t *testing.T, store journal.Store) (*Runner, *agent.Agent) {
	a, err := agent.New(agent.Config{Name: "a", Provider: providertest.Script(), Journal: store,
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "make"}, o.make)}})
	require.NoError(t, err)
	r, err := New(Config{Agent: a})
	require.NoError(t, err)
	return r, a
}

// A run of five nodes is stopped in several ways, at each of its appends. It stays open, nothing is
// undone or given up, and the next process completes it. A call that was in progress isn't made
// again without a person.
func TestAStopAtAnyPointIsNoFailure(t *testing.T) {
	refused := func(err error) func(*tripwire, *journal.Append) {
		return func(s *tripwire, a *journal.Append) {
			session := a.Session
			s.refuses = func(other string) error {
				if other == session {
					return err
				}
				return nil
			}
		}
	}
	for name, stop := range map[string]func(cancel func(), a *agent.Agent) func(*tripwire, *journal.Append){
		"its context ends": func(cancel func(), _ *agent.Agent) func(*tripwire, *journal.Append) {
			return func(*tripwire, *journal.Append) { cancel() }
		},
		"a drain": func(_ func(), a *agent.Agent) func(*tripwire, *journal.Append) {
			return func(*tripwire, *journal.Append) {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				_ = a.Drain(ctx)
			}
		},
		"a lost lease": func(func(), *agent.Agent) func(*tripwire, *journal.Append) {
			return refused(&journal.ConflictError{})
		},
		"a store that is broken": func(func(), *agent.Agent) func(*tripwire, *journal.Append) {
			return refused(errors.New("the disk is full"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for at, more := 2, true; more; at++ { // the first is that of Start
				synctest.Test(t, func(t *testing.T) { more = stopsAt(t, at, stop) })
			}
		})
	}
}

// stopsAt stops a run at an append, and has another process complete it. It reports whether the run
// has so many appends.
func stopsAt(t *testing.T, at int, stop func(func(), *agent.Agent) func(*tripwire, *journal.Append)) bool {
	o := &once{done: map[string]int{}}
	memory := &journal.MapStore{}
	store := &tripwire{Store: memory, at: at}
	r, a := o.runner(t, store)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	how := stop(cancel, a)
	store.trip = func(app *journal.Append) { how(store, app) }
	_, err := r.Start(ctx, "p-1", plan("A", made("a"), made("b", "a"), made("c", "a"), made("d", "b", "c"),
		made("e", "d")), plan("B", made("z")))
	require.NoError(t, err)
	_, err = r.Finish(ctx, "p-1")
	if store.appended < at {
		require.NoError(t, err)
		return false
	}
	cancel()
	time.Sleep(time.Minute) // leases end

	next, _ := o.runner(t, memory)
	state, err := next.State(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, 0, state.Current, "append %d", at)
	for range 20 {
		state, err = next.drive(t.Context(), "p-1", nil)
		require.NoError(t, err)
		if state.Status.ended() {
			break
		}
		pending, err := next.pending(t.Context(), state)
		require.NoError(t, err)
		for _, p := range pending {
			require.Equal(t, agent.PauseInDoubt, p.Kind, "append %d", at)
			d := agent.Approve(p.ID)
			if o.done[p.Path[0]] > 0 {
				d = agent.Answer(p.ID, map[string]string{"id": p.Path[0]})
			}
			require.NoError(t, next.Decide(t.Context(), "p-1", d))
		}
	}
	require.Equal(t, Completed, state.Status, "append %d", at)
	require.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}, o.done, "append %d", at)
	return true
}

// A losing store loses the first lease on a session: it can't be renewed.
type losing struct {
	journal.Store
	session string
	lost    atomic.Bool
}

func (s *losing) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if l.Session == s.session && !s.lost.Swap(true) {
		return journal.Lease{}, &journal.ConflictError{Session: l.Session, Fence: l.Fence, HaveFence: l.Fence + 1}
	}
	return s.Store.Renew(ctx, l, ttl)
}

func TestANodeWhoseLeaseWasLostGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &losing{Store: &journal.MapStore{}, session: SessionOf("p-1", 0, "a")}
		slow := tools.New(tools.Spec{Name: "look", ReadOnly: true}, func(ctx context.Context, in item) (string, error) {
			select {
			case <-time.After(20 * time.Second): // the lease is renewed every 10 s
				return `{}`, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
		a, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{slow}, Journal: store})
		require.NoError(t, err)
		r, err := New(Config{Agent: a})
		require.NoError(t, err)
		events, err := run(r, plan("A", Node{ID: "a", Tool: "look", Input: map[string]any{"name": "x"}}))
		require.NoError(t, err)
		require.True(t, store.lost.Load())
		require.Equal(t, Completed, last(events).(*Ended).Status)
	})
}

// Only what has ended is a result, and only results are recorded.
func TestAStopIsNeverAResult(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	stands := func(next agent.Next, status agent.Status, pauses ...agent.Pause) agent.Progressed {
		return agent.Progressed{Next: next, At: at, Result: &agent.Result{Status: status, Pending: pauses}}
	}
	q := agent.Pause{ID: "p"}
	for name, c := range map[string]struct {
		p    agent.Progressed
		err  error
		want work.Status
	}{
		"an error of the store":           {agent.Progressed{}, errors.New("the disk is full"), work.Stopped},
		"the end of the context":          {stands(agent.NextAgain, agent.Running), nil, work.Stopped},
		"a drain before it began":         {agent.Progressed{Next: agent.NextAgain, At: at}, nil, work.Stopped},
		"another process has it":          {stands(agent.NextLater, agent.Running), nil, work.Stopped},
		"its host has paused it":          {stands(agent.NextWait, agent.Paused), nil, work.Stopped},
		"it waits":                        {stands(agent.NextWait, agent.Paused, q), nil, work.Waits},
		"it asks, and was decided on":     {stands(agent.NextAgain, agent.Paused, q), nil, work.Stopped},
		"an input that is never taken":    {agent.Progressed{}, &agent.ArgError{Field: "Input.Key"}, work.Failed},
		"a worker that has completed":     {stands(agent.NextEnded, agent.Completed), nil, work.Done},
		"a worker that was stopped":       {stands(agent.NextEnded, agent.Stopped), nil, work.Failed},
		"a worker whose model is down":    {stands(agent.NextEnded, agent.Failed), nil, work.Failed},
		"a lease that was lost meanwhile": {agent.Progressed{}, &agent.SessionError{Code: agent.ErrBusy}, work.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			out := outcomeOf(true, false, &c.p, c.err)
			require.Equal(t, c.want, out.Status)
			require.Equal(t, c.want == work.Failed || c.want == work.Stopped, out.Err != nil)
		})
	}
}

// The result of a call says whether it may be made again.
func TestACallThatMayHaveHadAnEffectIsFinal(t *testing.T) {
	called := func(status tools.Status, class fault.Class) *agent.Result {
		return &agent.Result{Status: agent.Completed, Called: &agent.ToolResult{Status: status, Class: class,
			ToolResult: provider.ToolResult{Parts: []provider.Part{provider.TextPart("x")}}}}
	}
	exited := func(exit tools.Exit) *agent.Result {
		res := called(tools.OK, fault.None)
		res.Called.Exit = &exit
		return res
	}
	canceled := &agent.Result{Status: agent.Stopped, Code: machine.CodeCanceled}
	for name, c := range map[string]struct {
		res        *agent.Result
		repeatable bool
		want       work.Status
		class      fault.Class
		final      bool
	}{
		"done":          {called(tools.OK, fault.None), false, work.Done, fault.None, false},
		"failed":        {called(tools.Failed, fault.Transient), false, work.Failed, fault.Transient, true},
		"idempotent":    {called(tools.Failed, fault.Transient), true, work.Failed, fault.Transient, false},
		"a program":     {exited(tools.Exit{Code: 1}), false, work.Failed, fault.Permanent, true},
		"it may again":  {exited(tools.Exit{Code: 1}), true, work.Failed, fault.Permanent, false},
		"an answer":     {exited(tools.Exit{Code: 1, Answer: true}), false, work.Done, fault.None, false},
		"never ran":     {called(tools.Denied, fault.Denied), false, work.Failed, fault.Denied, false},
		"has no result": {canceled, true, work.Failed, fault.Permanent, false},
	} {
		t.Run(name, func(t *testing.T) {
			out := outcomeOf(false, c.repeatable, &agent.Progressed{Next: agent.NextEnded, Result: c.res}, nil)
			require.Equal(t, c.want, out.Status)
			k := task{node: NodeState{Node: Node{ID: "a"}, Attempt: 1, Round: 1}}
			f := k.end(time.Now(), &out)
			require.Equal(t, c.class, f.Class)
			require.Equal(t, c.final, f.Final)
			require.False(t, f.Unbegun)
		})
	}
}
