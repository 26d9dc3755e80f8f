package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

// needsSession has what needs a session of its own.
var needsSession = map[string]func(context.Context, *agent.Agent) error{
	"Run": func(ctx context.Context, a *agent.Agent) error {
		_, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "again"})
		return err
	},
	"Undo": func(ctx context.Context, a *agent.Agent) error {
		_, err := a.Session("s").Undo(ctx, agent.Rollback{})
		return err
	},
	"Prune": func(ctx context.Context, a *agent.Agent) error {
		_, err := a.Session("s").Prune(ctx)
		return err
	},
	"Delete": func(ctx context.Context, a *agent.Agent) error { return a.Session("s").Delete(ctx) },
}

// A run that has ended holds its session until its AfterRun hooks have returned. Whoever needs the
// session waits for that, at most two seconds.
func TestASessionWhoseRunHasEndedIsWaitedFor(t *testing.T) {
	for name, use := range needsSession {
		for hook, busy := range map[time.Duration]bool{time.Second: false, 3 * time.Second: true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a, _ := scripted(t,
						agent.Config{Hooks: []agent.Hooks{{AfterRun: func(context.Context, *agent.Result) error {
							<-time.After(hook)
							return nil
						}}}}, say("one"), say("two"))
					go func() { _, _ = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"}) }()
					synctest.Wait() // in the hook
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					require.Error(t, use(ctx, a))
					cancel()
					if err := use(t.Context(), a); busy {
						require.ErrorIs(t, err, agent.ErrBusy)
					} else {
						require.NoError(t, err)
					}
					<-time.After(time.Minute)
				})
			})
		}
	}
}

func TestASessionWithARunIsBusyAtOnce(t *testing.T) {
	for _, where := range []string{"in this process", "in another"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := tools.New(tools.Spec{Name: "slow"}, func(context.Context, Number) (string, error) {
					<-time.After(time.Second)
					return "", nil
				})
				cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{slow}}
				driving, _ := scripted(t, cfg, call("slow", 1), say("done"))
				a := driving
				if where == "in another" {
					a = reopen(t, cfg)
				}
				go run(t, driving)
				synctest.Wait()
				now := time.Now()
				for name, use := range needsSession {
					require.ErrorIs(t, use(t.Context(), a), agent.ErrBusy, name)
				}
				require.Equal(t, now, time.Now())
				<-time.After(time.Minute)
			})
		})
	}
}

// Another process that holds a session is waited for as well.
func TestASessionThatAnotherProcessHoldsIsWaitedFor(t *testing.T) {
	for name, use := range needsSession {
		for held, busy := range map[time.Duration]bool{time.Second: false, 3 * time.Second: true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := &countingHeads{Store: &journal.MapStore{}}
					a, _ := scripted(t, agent.Config{Journal: store}, say("one"), say("two"))
					run(t, a)
					lease, err := store.Lease(t.Context(), "s", "a process whose run has just ended", time.Minute)
					require.NoError(t, err)
					time.AfterFunc(held, func() { require.NoError(t, store.Release(t.Context(), lease)) })
					began := time.Now()
					store.n = 0
					if err = use(t.Context(), a); busy {
						require.ErrorIs(t, err, agent.ErrBusy)
					} else {
						require.NoError(t, err)
					}
					require.InDelta(t, min(held, 2*time.Second), time.Since(began), float64(5*time.Millisecond))
					require.Less(t, store.n, 410)
					<-time.After(time.Minute)
				})
			})
		}
	}
}

// A drain ends the wait for another process.
func TestADrainedAgentWaitsForNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a, _ := scripted(t, agent.Config{Journal: store}, say("one"))
		run(t, a)
		_, err := store.Lease(t.Context(), "s", "a process whose run has just ended", time.Minute)
		require.NoError(t, err)
		began := time.Now()
		time.AfterFunc(time.Second, func() { require.NoError(t, a.Drain(t.Context())) })
		_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "again"})
		require.ErrorIs(t, err, agent.ErrDraining)
		require.InDelta(t, time.Second, time.Since(began), float64(5*time.Millisecond))
	})
}

// A latePost is a store that takes its time with a post.
type latePost struct {
	journal.Store
	posting, post chan struct{}
}

func (s *latePost) Post(ctx context.Context, session string, it journal.Item) error {
	close(s.posting)
	<-s.post
	return s.Store.Post(ctx, session, it)
}

func TestATitleThatIsPostedTooLateForTheRunIsSet(t *testing.T) {
	store := &latePost{&journal.MapStore{}, make(chan struct{}), make(chan struct{})}
	began, end := make(chan struct{}), make(chan struct{})
	wait := tools.New(tools.Spec{Name: "wait"}, func(context.Context, Number) (string, error) {
		close(began)
		<-end
		return "", nil
	})
	a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{wait}}, call("wait", 1), say("done"))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(t, a)
	}()
	<-began
	set := make(chan error)
	go func() { set <- a.Session("s").SetTitle(t.Context(), "Late") }()
	<-store.posting
	close(end)
	<-ended
	close(store.post)
	require.NoError(t, <-set)
	info, err := a.Session("s").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Late", info.Title)
}

func TestAHookAfterTheRunSetsATitle(t *testing.T) {
	var a *agent.Agent
	a, _ = scripted(t, agent.Config{Hooks: []agent.Hooks{{AfterRun: func(ctx context.Context, res *agent.Result) error {
		return a.Session(res.Session).SetTitle(ctx, "About "+res.Text())
	}}}}, say("cats"))
	run(t, a)
	info, err := a.Session("s").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "About cats", info.Title)
}

// An endingStore calls a function while the end of a run is being stored, when others can read it.
type endingStore struct {
	journal.Store
	ended func()
}

func (s *endingStore) Append(ctx context.Context, app journal.Append) error {
	err := s.Store.Append(ctx, app)
	if n := len(app.Records); n > 0 && app.Records[n-1].Kind == "run_ended" && s.ended != nil {
		s.ended()
	}
	return err
}

func TestWhoReadsTheEndOfARunInTheLogWaitsForItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &endingStore{Store: &journal.MapStore{}}
		a, _ := scripted(t, agent.Config{Journal: store}, say("one"), say("two"))
		again := make(chan error, 1)
		store.ended = func() {
			store.ended = nil
			go func() {
				_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "again"})
				again <- err
			}()
			<-time.After(time.Second)
		}
		run(t, a)
		require.NoError(t, <-again)
	})
}

// Whoever comes again doesn't wait: another worker has the job's session.
func TestAWorkerDoesNotWaitForASessionThatAnotherProcessHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a, _ := scripted(t, agent.Config{Journal: store}, say("one"))
		run(t, a)
		_, err := store.Lease(t.Context(), "s", "another worker", time.Minute)
		require.NoError(t, err)
		began := time.Now()
		p, err := a.Advance(t.Context(), agent.Input{Session: "s", Key: "k", Prompt: "go"}, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.NextLater, p.Next)
		require.Zero(t, time.Since(began))
	})
}

func TestASessionThatIsDeletedWhileItIsWaitedForIsFree(t *testing.T) {
	for _, name := range []string{"Run", "Delete"} {
		use := needsSession[name]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				a, _ := scripted(t, agent.Config{Journal: store}, say("one"), say("two"))
				run(t, a)
				_, err := store.Lease(t.Context(), "s", "a process that deletes it", time.Minute)
				require.NoError(t, err)
				time.AfterFunc(time.Second, func() { _ = store.Delete(t.Context(), "s", journal.All) })
				require.NoError(t, use(t.Context(), a))
			})
		})
	}
}
