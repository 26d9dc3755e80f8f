package agent_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A hanging store hangs in one of its calls: until its context ends, or, if it is deaf, until it is
// freed. Then that call is made after all.
type hanging struct {
	journal.Store
	only string // the method whose calls count; "": all
	at   int    // the number of the call, from 1 on; 0: none
	deaf bool
	hung func()
	free chan struct{}

	mu    sync.Mutex // guards what follows
	calls []string   // the methods that were called
}

// enter returns the error of a call that has hung. The context is for the store inside.
func (h *hanging) enter(ctx context.Context, method string) (context.Context, error) {
	h.mu.Lock()
	h.calls = append(h.calls, method)
	n := len(h.calls)
	if h.only != "" {
		n = count(h.calls, h.only)
	}
	h.mu.Unlock()
	if n != h.at || h.only != "" && method != h.only {
		return ctx, nil
	}
	h.hung()
	if h.deaf {
		<-h.free
		return context.WithoutCancel(ctx), nil
	}
	<-ctx.Done()
	return ctx, ctx.Err()
}

// called returns the methods that were called.
func (h *hanging) called() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.calls)
}

func (h *hanging) Append(ctx context.Context, a journal.Append) error {
	ctx, err := h.enter(ctx, "Append")
	if err != nil {
		return err
	}
	return h.Store.Append(ctx, a)
}

func (h *hanging) Head(ctx context.Context, session string) (journal.Head, error) {
	ctx, err := h.enter(ctx, "Head")
	if err != nil {
		return journal.Head{}, err
	}
	return h.Store.Head(ctx, session)
}

func (h *hanging) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	ctx, err := h.enter(ctx, "Lease")
	if err != nil {
		return journal.Lease{}, err
	}
	return h.Store.Lease(ctx, session, owner, ttl)
}

func (h *hanging) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	ctx, err := h.enter(ctx, "Renew")
	if err != nil {
		return journal.Lease{}, err
	}
	return h.Store.Renew(ctx, l, ttl)
}

func (h *hanging) Release(ctx context.Context, l journal.Lease) error {
	ctx, err := h.enter(ctx, "Release")
	if err != nil {
		return err
	}
	return h.Store.Release(ctx, l)
}

func (h *hanging) Post(ctx context.Context, session string, it journal.Item) error {
	ctx, err := h.enter(ctx, "Post")
	if err != nil {
		return err
	}
	return h.Store.Post(ctx, session, it)
}

func (h *hanging) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	ctx, err := h.enter(ctx, "Take")
	if err != nil {
		return nil, err
	}
	return h.Store.Take(ctx, session, fence)
}

func (h *hanging) Delete(ctx context.Context, session string, upTo uint64) error {
	ctx, err := h.enter(ctx, "Delete")
	if err != nil {
		return err
	}
	return h.Store.Delete(ctx, session, upTo)
}

func (h *hanging) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		ctx, err := h.enter(ctx, "Read")
		if err != nil {
			yield(journal.Record{}, err)
			return
		}
		h.Store.Read(ctx, session, after)(yield)
	}
}

func (h *hanging) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		ctx, err := h.enter(ctx, "Heads")
		if err != nil {
			yield(journal.Head{}, err)
			return
		}
		h.Store.Heads(ctx, f)(yield)
	}
}

// A hang says how a store hangs.
type hang struct {
	deaf bool // it ignores its context
	ends bool // the caller's context ends a second later
}

var hangs = []hang{{false, false}, {false, true}, {true, false}, {true, true}}

func (h hang) String() string {
	text := map[bool]string{false: "ends with its context", true: "ignores its context"}[h.deaf]
	return text + map[bool]string{false: "", true: ", and the caller's ends"}[h.ends]
}

// most is how long a call of the store takes at most: one that may be cut off by the caller, or
// not.
func (h hang) most(cut bool, alone time.Duration) time.Duration {
	if cut && h.ends {
		alone = time.Second
	}
	if h.deaf {
		alone += 5 * time.Second
	}
	return alone
}

// with calls do with a store around inner that hangs in call number at of the method only (""
// counts all calls), and returns which call that was, and how long do took from then on.
func (h hang) with(t *testing.T, inner journal.Store, only string, at int,
	do func(context.Context, *hanging)) (method string, took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var began atomic.Pointer[time.Time]
	store := &hanging{Store: inner, only: only, at: at, deaf: h.deaf, free: make(chan struct{})}
	store.hung = func() {
		if began.Store(new(time.Now())); h.ends {
			time.AfterFunc(time.Second, cancel)
		}
	}
	do(ctx, store)
	if at := began.Load(); at != nil {
		took = time.Since(*at)
	}
	close(store.free)
	synctest.Wait()
	if calls := store.called(); only == "" && at <= len(calls) {
		return calls[at-1], took
	} else if only != "" && at <= count(calls, only) {
		return only, took
	}
	return "", 0
}

// TestARunEndsInTimeWhereverItsStoreHangs hangs each call of the store that a run makes, one run
// for each. Until the first fact is stored, the run ends with its context; later the reads do, and
// appends have 30 s. The session can be continued after that, and no call is repeated.
func TestARunEndsInTimeWhereverItsStoreHangs(t *testing.T) {
	for _, h := range hangs {
		t.Run(h.String(), func(t *testing.T) {
			for method, least := range map[string]int{"Lease": 1, "Head": 1, "Heads": 0, "Read": 0, "Append": 5,
				"Post": 0, "Take": 1, "Renew": 1, "Release": 1, "Delete": 0} {
				hung := 0
				for more := true; more; hung++ {
					synctest.Test(t, func(t *testing.T) { more = runHangs(t, h, method, hung+1) })
				}
				require.Greater(t, hung, least, method)
			}
		})
	}
}

// runHangs drives a run whose store hangs in call number at of the method, and reports whether
// there was such a call.
func runHangs(t *testing.T, h hang, method string, at int) bool {
	inner := &journal.MapStore{}
	var done effects
	long := tools.Func[Number, string]{Spec: tools.Spec{Name: "long", Timeout: time.Hour},
		Run: func(ctx context.Context, in Number) (string, error) {
			done.add(in.N)
			select {
			case <-time.After(12 * time.Second):
			case <-ctx.Done():
			}
			return "ok", ctx.Err()
		}}
	build := func(store journal.Store) *agent.Agent {
		return newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{long},
			Provider: inTurn(call("long", 1), call("long", 2), say("Done."))})
	}
	called, took := h.with(t, inner, method, at, func(ctx context.Context, store *hanging) {
		a := build(store)
		res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		calls := store.called()
		if at > count(calls, method) {
			require.NoError(t, err)
			return
		}
		if !slices.Contains(calls, "Append") && h.ends { // nothing has begun
			require.ErrorIs(t, err, context.Canceled)
			require.Nil(t, res)
			require.Empty(t, facts(t, newAgent(t, agent.Config{Journal: inner, Provider: inTurn()}), "s"))
		}
		if method == "Append" {
			require.ErrorContains(t, err, "30s")
		}
		if h.deaf {
			require.LessOrEqual(t, a.Abandoned(), 1)
		}
	})
	if called == "" {
		return false
	}
	most := h.most(true, 10*time.Second)
	switch method {
	case "Append":
		most = h.most(false, 30*time.Second)
	case "Release":
		most = h.most(false, 5*time.Second)
	case "Renew", "Take": // the run goes on if its context doesn't end
		if !h.ends {
			most += time.Minute
		}
	}
	require.LessOrEqual(t, took, most, "call %d, %s", at, method)

	<-time.After(time.Minute) // the lease ends
	a := build(inner)
	_, err := a.Recover(t.Context(), agent.Recovery{})
	require.NoError(t, err)
	log := facts(t, a, "s")
	requireSound(t, "s", log)
	require.LessOrEqual(t, done.of(1), 1)
	require.LessOrEqual(t, done.of(2), 1)
	return true
}

func count(list []string, name string) (n int) {
	for _, e := range list {
		if e == name {
			n++
		}
	}
	return n
}

// TestAMethodOfASessionEndsInTimeWhereverTheStoreHangs does the same with everything that a host
// can ask of a session without driving a run.
func TestAMethodOfASessionEndsInTimeWhereverTheStoreHangs(t *testing.T) {
	var none effects
	risky := []tools.Tool{none.tool(tools.Spec{Name: "risky", Risk: tools.High})}
	methods := map[string]func(ctx context.Context, a *agent.Agent, pause string) error{
		"Info": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Info(ctx)
			return err
		},
		"Messages": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Messages(ctx)
			return err
		},
		"Facts": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Facts(ctx)
			return err
		},
		"Result": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Result(ctx)
			return err
		},
		"Trace": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Trace(ctx)
			return err
		},
		"Rules": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Rules(ctx)
			return err
		},
		"Export": func(ctx context.Context, a *agent.Agent, _ string) error {
			return a.Session("s").Export(ctx, new(bytes.Buffer))
		},
		"Watch": func(ctx context.Context, a *agent.Agent, _ string) error {
			n := 0
			for _, err := range a.Session("s").Watch(ctx, 0) {
				if n++; err != nil || n == 3 {
					return err
				}
			}
			return nil
		},
		"Pending": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Pending(ctx)
			return err
		},
		"Decide": func(ctx context.Context, a *agent.Agent, pause string) error {
			return a.Session("s").Decide(ctx, agent.Approve(pause))
		},
		"Steer": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Steer(ctx, "More.", "key")
			return expected(err)
		},
		"Stop": func(ctx context.Context, a *agent.Agent, _ string) error {
			return expected(a.Session("s").Stop(ctx))
		},
		"Cancel": func(ctx context.Context, a *agent.Agent, _ string) error {
			return a.Session("s").Cancel(ctx)
		},
		"SetTitle": func(ctx context.Context, a *agent.Agent, _ string) error {
			return a.Session("s").SetTitle(ctx, "New.")
		},
		"SetLabel": func(ctx context.Context, a *agent.Agent, _ string) error {
			return a.Session("s").SetLabel(ctx, "k", "v")
		},
		"Fork": func(ctx context.Context, a *agent.Agent, _ string) error {
			return expected(a.Session("s").Fork(ctx, "t", 3))
		},
		"Undo": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Undo(ctx, agent.Rollback{})
			return expected(err)
		},
		"Delete": func(ctx context.Context, a *agent.Agent, _ string) error { return a.Session("s").Delete(ctx) },
		"Prune": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Session("s").Prune(ctx)
			return err
		},
		"Sessions": func(ctx context.Context, a *agent.Agent, _ string) error {
			for _, err := range a.Sessions(ctx, agent.SessionFilter{}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"Retain": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Retain(ctx, agent.Retention{Idle: time.Nanosecond, Open: true})
			return err
		},
		"Recover": func(ctx context.Context, a *agent.Agent, _ string) error {
			_, err := a.Recover(ctx, agent.Recovery{})
			return err
		},
	}
	for name, method := range methods {
		for _, h := range hangs {
			t.Run(name+", the store "+h.String(), func(t *testing.T) {
				for at, more := 1, true; more; at++ {
					synctest.Test(t, func(t *testing.T) {
						inner := &journal.MapStore{}
						cfg := agent.Config{Journal: inner, Tools: risky}
						b, _ := scripted(t, cfg, call("risky", 1))
						res := run(t, b)
						<-time.After(time.Second)
						var failed error
						called, took := h.with(t, inner, "", at, func(ctx context.Context, store *hanging) {
							cfg.Journal = store
							a, _ := scripted(t, cfg)
							if failed = method(ctx, a, res.Pending[0].ID); at > len(store.called()) {
								require.NoError(t, failed)
							}
						})
						more = called != ""
						most := h.most(true, 10*time.Second)
						switch {
						case called == "Append":
							most = h.most(false, 30*time.Second)
						case called == "Release":
							most = h.most(false, 5*time.Second)
						case called == "Delete" && !h.ends:
							most += 20 * time.Second
						}
						require.LessOrEqual(t, took, most, "call %d, %s", at, called)
						if h.ends && slices.Contains([]string{"Head", "Heads", "Read", "Lease", "Post"}, called) {
							require.Error(t, failed, "call %d, %s", at, called)
						}
					})
				}
			})
		}
	}
}

// expected returns err, but for those of the agent about a request that doesn't fit a paused
// session.
func expected(err error) error {
	if errors.As(err, new(*agent.SessionError)) || errors.As(err, new(*agent.ArgError)) {
		return nil
	}
	return err
}

// A committing store grants a lease at the moment at which the caller's context ends, and returns
// the context's error.
type committing struct {
	journal.Store
	end atomic.Pointer[context.CancelFunc] // ends that context, once
}

func (s *committing) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	l, err := s.Store.Lease(ctx, session, owner, ttl)
	if end := s.end.Swap(nil); end != nil {
		(*end)()
		return journal.Lease{}, ctx.Err()
	}
	return l, err
}

// TestALeaseIsntLeftByWhoDoesntWaitForIt, so that the next message needn't wait for its end.
func TestALeaseIsntLeftByWhoDoesntWaitForIt(t *testing.T) {
	store := &committing{Store: &journal.MapStore{}}
	a := newAgent(t, agent.Config{Journal: store, Provider: inTurn(say("Hello."), say("Hello again."))})
	ends := func(do func(context.Context) error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		store.end.Store(&cancel)
		require.ErrorIs(t, do(ctx), context.Canceled)
	}
	run := func(ctx context.Context) error {
		_, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		return err
	}
	ends(run)
	for h, err := range store.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		t.Fatalf("there is a session without facts: %s", h.Session)
	}
	require.NoError(t, run(t.Context()))
	ends(run)
	ends(func(ctx context.Context) error { return a.Session("s").Delete(ctx) })
	require.NoError(t, run(t.Context()))
	head, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, head.Owner)
}

// TestARunWithASubagentEndsInTimeWhereverItsStoreHangs when it is resumed and reads what the
// subagent has used.
func TestARunWithASubagentEndsInTimeWhereverItsStoreHangs(t *testing.T) {
	var none effects
	for _, h := range hangs {
		t.Run(h.String(), func(t *testing.T) {
			for at, more := 1, true; more; at++ {
				synctest.Test(t, func(t *testing.T) {
					inner := &journal.MapStore{}
					build := func(store journal.Store) *agent.Agent {
						sub := newAgent(t, agent.Config{Name: "sub",
							Provider: inTurn(call("risky", 1), say("Sub done.")),
							Tools:    []tools.Tool{none.tool(tools.Spec{Name: "risky", Risk: tools.High})}})
						return newAgent(t, agent.Config{Journal: store,
							Tools:    []tools.Tool{agent.AsTool(sub, tools.Spec{})},
							Provider: inTurn(providertest.Call("sub", agent.Task{Task: "x"}), say("Done."))})
					}
					res, err := build(inner).Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
					require.ErrorAs(t, err, new(*agent.PausedError))
					require.NoError(t, build(inner).Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
					method, took := h.with(t, inner, "", at, func(ctx context.Context, store *hanging) {
						_, _ = build(store).Run(ctx, agent.Continue("s"))
					})
					if more = method != ""; !more {
						return
					}
					most := h.most(true, 10*time.Second)
					switch method {
					case "Append":
						most = h.most(false, 30*time.Second)
					case "Release":
						most = h.most(false, 5*time.Second)
					}
					require.LessOrEqual(t, took, most, "call %d, %s", at, method)
					<-time.After(time.Minute) // the call of the subagent may have been abandoned
				})
			}
		})
	}
}
