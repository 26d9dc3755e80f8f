package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
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

// A weak store is a store as a process sees it that dies, or loses its connection, at one of its
// appends.
type weak struct {
	journal.Store
	at     int   // the append at which it happens, from 1
	kept   bool  // that append is kept all the same
	err    error // what it returns
	lasts  bool  // nothing works from then on
	mu     sync.Mutex
	n      int
	broken bool
}

// death is an error after which an append isn't tried again.
var death = &journal.InvalidError{Field: "process", Problem: "is dead"}

func (w *weak) Append(ctx context.Context, a journal.Append) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken && w.lasts {
		return w.err
	}
	if w.n++; w.n != w.at {
		return w.Store.Append(ctx, a)
	}
	w.broken = true
	if w.kept {
		if err := w.Store.Append(ctx, a); err != nil {
			return err
		}
	}
	return w.err
}

func (w *weak) dead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}

// A plant is a run with all that can be under way when a process dies: calls beside each other,
// calls that may be repeated, approvals and questions.
type plant struct {
	done effects
	mu   sync.Mutex
	keys map[int]map[string]bool
}

func (p *plant) agent(t testing.TB, store journal.Store) *agent.Agent {
	replies := []providertest.Step{
		providertest.Reply(say("First the one."), call("work", 1)),
		providertest.Calls(
			providertest.CallSpec{Tool: "beside", Input: Number{2}},
			providertest.CallSpec{Tool: "again", Input: Number{3}},
			providertest.CallSpec{Tool: "beside", Input: Number{4}},
			providertest.CallSpec{Tool: "work", Input: Number{5}}),
		providertest.Calls(
			providertest.CallSpec{Tool: "risky", Input: Number{6}},
			providertest.CallSpec{Tool: "asks", Input: Number{7}},
			providertest.CallSpec{Tool: "again", Input: Number{8}},
			providertest.CallSpec{Tool: "missing", Input: Number{9}}),
		say("Done."),
	}
	model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		n := 0
		for _, m := range req.Messages {
			if m.Role == provider.RoleAssistant {
				n++
			}
		}
		return replies[n].Response(), nil
	})
	note := func(ctx context.Context, in Number) (string, error) {
		p.done.add(in.N)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.keys == nil {
			p.keys = make(map[int]map[string]bool)
		}
		if p.keys[in.N] == nil {
			p.keys[in.N] = make(map[string]bool)
		}
		p.keys[in.N][tools.IdempotencyKey(ctx)] = true
		return "ok", nil
	}
	return newAgent(t, agent.Config{Provider: model, Journal: store, Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "work"}, note),
		tools.New(tools.Spec{Name: "beside", ParallelSafe: true}, note),
		tools.New(tools.Spec{Name: "again", Idempotent: true, ParallelSafe: true}, note),
		tools.New(tools.Spec{Name: "risky", Risk: tools.High}, note),
		tools.New(tools.Spec{Name: "asks"}, func(context.Context, Number) (string, error) {
			return "", tools.Suspend{Kind: "question", Prompt: "which colour?"}
		}),
	}})
}

// decide decides as a person would who looks what has happened.
func (p *plant) decide(pending []agent.Pause) agent.Work {
	var ds []agent.Decision
	for _, pause := range pending {
		var in Number
		if err := json.Unmarshal(pause.Call.Input, &in); err != nil {
			panic(err)
		}
		switch {
		case pause.Kind == "question", pause.Call.Name == "asks":
			ds = append(ds, agent.Answer(pause.ID, "blue"))
		case pause.Kind == agent.PauseInDoubt && p.done.of(in.N) > 0:
			ds = append(ds, agent.Answer(pause.ID, "it did happen"))
		default:
			ds = append(ds, agent.Approve(pause.ID))
		}
	}
	return agent.Resume("s", ds...)
}

// work resumes the plant's session in one process. It reports true if the run has ended, and false
// if the process died.
func (p *plant) work(t *testing.T, store journal.Store) bool {
	t.Helper()
	a := p.agent(t, store)
	var in agent.Work = agent.Continue("s")
	for range 10 {
		res, err := a.Run(t.Context(), in)
		var nothing *agent.SessionError
		var paused *agent.PausedError
		switch {
		case errors.Is(err, agent.ErrNothingOpen) && errors.As(err, &nothing) && nothing.Status != "":
			// it had ended when the process died
			return true
		case errors.Is(err, agent.ErrNothingOpen):
			in = agent.Input{Session: "s", Prompt: "go"}
		case errors.As(err, &paused):
			in = p.decide(paused.Pending)
		case err != nil:
			w, ok := store.(*weak)
			require.True(t, ok && w.dead(), "%v", err)
			return false
		case res.Status == agent.Paused:
			in = p.decide(res.Pending)
		default:
			return true
		}
	}
	require.Fail(t, "the run doesn't come to an end")
	return false
}

// requireDone fails the test unless everything was done once.
func (p *plant) requireDone(t *testing.T, store journal.Store) {
	t.Helper()
	log := facts(t, p.agent(t, store), "s")
	requireSound(t, "s", log)
	m, err := machine.Replay("s", log...)
	require.NoError(t, err)
	s := m.State()
	require.Equal(t, agent.Completed, s.Run.Status)
	require.Equal(t, 4, s.Run.Step)
	require.Equal(t, "Done.", s.Messages[len(s.Messages)-1].Text())
	for _, n := range []int{1, 2, 4, 5, 6} {
		require.Equal(t, 1, p.done.of(n), "the effect of %d", n)
	}
	for _, n := range []int{3, 8} {
		require.GreaterOrEqual(t, p.done.of(n), 1)
		require.Len(t, p.keys[n], 1, "a call is repeated under its key")
	}
	started := 0
	for _, f := range log {
		if _, ok := f.(*agent.RunStarted); ok {
			started++
		}
	}
	require.Equal(t, 1, started)
}

func TestACrashAtAnyAppendRepeatsNothing(t *testing.T) {
	for name, kept := range map[string]bool{"before the append is kept": false, "after the append is kept": true} {
		t.Run(name, func(t *testing.T) {
			crashes := 0
			for more := true; more; {
				synctest.Test(t, func(t *testing.T) {
					var p plant
					store := &weak{Store: &journal.MapStore{}, at: crashes + 1, kept: kept, err: death, lasts: true}
					over := p.work(t, store)
					if more = store.dead(); more {
						crashes++
						over = p.work(t, store.Store)
					}
					require.True(t, over)
					p.requireDone(t, store.Store)
				})
				if t.Failed() {
					t.Fatalf("at append %d", crashes)
				}
			}
			require.Greater(t, crashes, 20, "the run has that many appends")
		})
	}
}

func TestAnUnclearAppendIsTriedAgainAndIsKeptOnce(t *testing.T) {
	for name, kept := range map[string]bool{"it wasn't kept": false, "it was kept": true} {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at++ {
				over := false
				synctest.Test(t, func(t *testing.T) {
					var p plant
					store := &weak{Store: &journal.MapStore{}, at: at, kept: kept, err: errors.New("connection reset")}
					require.True(t, p.work(t, store))
					p.requireDone(t, store.Store)
					require.Equal(t, 1, p.done.of(3), "nobody had a reason to repeat it")
					over = !store.dead()
				})
				if over || t.Failed() {
					require.Greater(t, at, 20)
					return
				}
			}
		})
	}
}

func TestAnAppendThatStaysUnclearStopsTheRunBeforeTheEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		store := &weak{Store: &journal.MapStore{}, at: 3, err: errors.New("disk full"), lasts: true} // of ToolStarted
		a, model := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
			call("work", 1), say("Done."))
		began := time.Now()
		res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.ErrorContains(t, err, "disk full")
		require.Greater(t, time.Since(began), 29*time.Second)
		require.Less(t, time.Since(began), 2*time.Minute)
		require.Equal(t, agent.Failed, res.Status)
		require.Equal(t, machine.CodeJournal, res.Code)
		require.Zero(t, done.all(), "what isn't recorded isn't done")
		model.AssertCalls(t, 1)
	})
}

func TestAWriterThatLostItsSessionStops(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	steal := tools.New(tools.Spec{Name: "steal"}, func(ctx context.Context, in Number) (string, error) {
		head, err := store.Head(ctx, "s")
		if err != nil {
			return "", err
		}
		if err := store.Release(ctx, journal.Lease{Session: "s", Owner: head.Owner, Fence: head.Fence}); err != nil {
			return "", err
		}
		_, err = store.Lease(ctx, "s", "another", time.Minute)
		return "stolen", err
	})
	a, model := scripted(t,
		agent.Config{Journal: store, Tools: []tools.Tool{steal, done.tool(tools.Spec{Name: "work"})}},
		providertest.Calls(providertest.CallSpec{Tool: "steal", Input: Number{1}},
			providertest.CallSpec{Tool: "work", Input: Number{2}}), say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	var conflict *journal.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, machine.CodeJournal, res.Code)
	require.Zero(t, done.all())
	model.AssertCalls(t, 1)
	_, err = a.Run(t.Context(), agent.Continue("s"))
	require.ErrorIs(t, err, agent.ErrBusy, "the other has it now")
}

func TestALeaseThatIsLostWhileTheModelThinksStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a, _ := scripted(t, agent.Config{Journal: store}, providertest.Hang())
		go func() {
			if wait(t.Context(), time.Second) != nil {
				return
			}
			_ = store.Delete(t.Context(), "s", journal.All)
		}()
		began := time.Now()
		res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.Error(t, err)
		require.Equal(t, machine.CodeJournal, res.Code)
		require.Less(t, time.Since(began), 30*time.Second)
	})
}

func TestALeaseIsKeptAliveWhileARunLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		cfg := agent.Config{Journal: store,
			Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow", Timeout: time.Hour})}}
		a, _ := scripted(t, cfg, call("slow", 600), say("Done."))
		b := reopen(t, cfg, say("Mine."))
		go func() {
			if wait(t.Context(), 5*time.Minute) != nil {
				return
			}
			_, err := b.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			if !errors.Is(err, agent.ErrBusy) {
				t.Errorf("another process got in: %v", err)
			}
		}()
		require.Equal(t, "Done.", run(t, a).Text())
		head, err := store.Head(t.Context(), "s")
		require.NoError(t, err)
		require.Empty(t, head.Owner, "it is given back")
		require.Equal(t, string(agent.Completed), head.Status)
		require.Equal(t, "Mine.", run(t, b).Text())
	})
}

func TestAModelCallWithoutReplyIsMadeAgainAndSaysReset(t *testing.T) {
	inner := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: &weak{Store: inner, at: 3, err: death, lasts: true}}, say("Hello, you."))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.Error(t, err)
	require.Equal(t, "Hello, you.", shown(all), "shown, and lost")
	b := reopen(t, agent.Config{Journal: inner}, say("Hello, again."))
	all, err = events(b.Stream(t.Context(), agent.Continue("s")))
	require.NoError(t, err)
	require.Len(t, of[*machine.Continued](all), 1)
	require.Len(t, of[*agent.Reset](all), 1)
	require.Equal(t, "Hello, again.", shown(all))
	require.Equal(t, 1, lastResult(t, all).Steps)
	requireSound(t, "s", facts(t, b, "s"))
}

func TestWhatWasShownIsWhatTheJournalHolds(t *testing.T) {
	for name, work := range map[string]func(context.Context, Number) (tools.Result, error){
		"text that is no UTF-8": func(context.Context, Number) (tools.Result, error) {
			return tools.Text("a\xffb\xc3"), nil
		},
		"an error that is no UTF-8": func(context.Context, Number) (tools.Result, error) {
			return tools.Result{}, errors.New("bad \xff")
		},
		"what JSON would escape": func(context.Context, Number) (tools.Result, error) {
			return tools.Text("<a href=\"x\">&\u2028"), nil
		},
		"data": func(context.Context, Number) (tools.Result, error) {
			return tools.Result{Parts: []provider.Part{provider.TextPart("x")},
				Data: map[string]any{"b": 1e21, "a": "<&>"}}, nil
		},
		"media": func(context.Context, Number) (tools.Result, error) {
			return tools.Result{Parts: []provider.Part{
				provider.MediaPart(provider.Media{Type: "image/png", Data: []byte{0, 255}})}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := agent.Config{Journal: &journal.MapStore{},
				Tools: []tools.Tool{tools.New(tools.Spec{Name: "work"}, work)}}
			a, _ := scripted(t, cfg,
				providertest.Reply(providertest.SayChunks("caf\xc3", "\xa9 \xff <b>"), call("work", 1)), say("Done."))
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
			require.NoError(t, err)
			var live []agent.Fact
			for _, ev := range all {
				if f, ok := ev.(agent.Fact); ok {
					live = append(live, f)
				}
			}
			require.JSONEq(t, stateOf(t, live), stateOf(t, facts(t, a, "s")))
			require.Equal(t, stateOf(t, live), stateOf(t, facts(t, a, "s")))
		})
	}
}

// stateOf is the state that facts add up to.
func stateOf(t *testing.T, log []agent.Fact) string {
	t.Helper()
	m, err := machine.Replay("s", log...)
	require.NoError(t, err)
	text, err := json.Marshal(m.State())
	require.NoError(t, err)
	for _, msg := range m.State().Messages { // Marshal hides what isn't UTF-8
		for _, p := range msg.Parts {
			require.Equal(t, strings.ToValidUTF8(p.Text, "\uFFFD"), p.Text)
			if p.Result != nil {
				for _, q := range p.Result.Parts {
					require.Equal(t, strings.ToValidUTF8(q.Text, "\uFFFD"), q.Text)
				}
			}
		}
	}
	return string(text)
}
