package plan

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A pausing store calls paused after it has stored that a session waits, before Append returns.
type pausing struct {
	journal.Store
	paused func(session, id string)
}

func (s *pausing) Append(ctx context.Context, a journal.Append) error {
	err := s.Store.Append(ctx, a)
	if err == nil && a.Head != nil && len(a.Head.Open) > 0 {
		s.paused(a.Session, a.Head.Open[0].ID)
	}
	return err
}

// asking returns a runner whose calls of publish wait for approval, while all others go on.
func (s *shop) asking(t testing.TB, store journal.Store) *Runner {
	ask := func(_ context.Context, d *tools.Definition, _ *tools.Call) tools.Verdict {
		if d.Name() == "publish" {
			return tools.Verdict{Effect: tools.Ask, Reason: "it is Friday"}
		}
		return tools.Verdict{}
	}
	a, err := agent.New(agent.Config{Name: "shop", Provider: providertest.Script(), Policies: []tools.Policy{ask},
		Journal: store, Tools: []tools.Tool{tools.New(tools.Spec{Name: "publish"}, s.see),
			tools.New(tools.Spec{Name: "make", Timeout: 2 * time.Hour}, s.make)}})
	require.NoError(t, err)
	return s.runner(t, Config{Agent: a})
}

// A decision on a call of a node is taken whenever it comes: before its plan knows that the call
// waits, while other nodes are in progress, and when nothing is. That holds for each way to decide,
// in this and in another process.
func TestADecisionThatWasAcceptedIsTaken(t *testing.T) {
	session := SessionOf("p-1", 0, "a")
	for door, decide := range map[string]func(t *testing.T, here, there *Runner, id string) error{
		"Runner.Decide": func(t *testing.T, here, _ *Runner, id string) error {
			return here.Decide(t.Context(), "p-1", agent.Approve(id))
		},
		"Runner.Decide in another process": func(t *testing.T, _, there *Runner, id string) error {
			return there.Decide(t.Context(), "p-1", agent.Approve(id))
		},
		"Session.Decide": func(t *testing.T, here, _ *Runner, id string) error {
			return here.cfg.Agent.Session(session).Decide(t.Context(), agent.Approve(id))
		},
		"Session.Decide in another process": func(t *testing.T, _, there *Runner, id string) error {
			return there.cfg.Agent.Session(session).Decide(t.Context(), agent.Approve(id))
		},
	} {
		for when, other := range map[string]time.Duration{"alone": 0, "while another node is in progress": time.Hour} {
			t.Run(door+", "+when+", before the plan knows", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					memory := &journal.MapStore{}
					s := shop{slow: other}
					there, store := s.asking(t, memory), &pausing{Store: memory}
					here := s.asking(t, store)
					decided := false
					store.paused = func(in, id string) {
						if in == session {
							require.False(t, decided)
							require.NoError(t, decide(t, here, there, id))
							decided = true
							time.Sleep(10 * time.Second) // the plan reads its inbox meanwhile
						}
					}
					completes(t, here, other, func() { require.True(t, decided) })
				})
			})
			t.Run(door+", "+when+", later", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					memory := &journal.MapStore{}
					s := shop{slow: other}
					here, there := s.asking(t, memory), s.asking(t, memory)
					completes(t, here, other, func() {
						require.NoError(t, decide(t, here, there, open(t, here).ID))
					})
				})
			})
		}
	}
	// who resumes the session of the node drives it to its end, and the plan learns of that
	for name, other := range map[string]time.Duration{"alone": 0, "while another node is in progress": time.Hour} {
		t.Run("agent.Resume, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := &journal.MapStore{}
				s := shop{slow: other}
				here, there := s.asking(t, memory), s.asking(t, memory)
				completes(t, here, other, func() {
					_, err := there.cfg.Agent.Run(t.Context(), agent.Resume(session, agent.Approve(open(t, here).ID)))
					require.NoError(t, err)
				})
			})
		})
	}
}

// completes runs a plan with a call that waits for approval, and one that takes a time. It calls
// then after a minute.
func completes(t *testing.T, r *Runner, slow time.Duration, then func()) {
	nodes := []Node{published("a")}
	if slow > 0 {
		other := made("b")
		other.Timeout = 2 * time.Hour
		nodes = append(nodes, other)
	}
	defer serve(t, r)()
	_, err := r.Start(t.Context(), "p-1", plan("A", nodes...))
	require.NoError(t, err)
	time.Sleep(time.Minute)
	synctest.Wait() // what the goroutines of a store have written is seen
	then()
	began, ended := time.Now(), time.Time{}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
	defer cancel()
	for ev, err := range r.Watch(ctx, "p-1", 0) {
		require.NoError(t, err)
		if e, ok := ev.(*NodeEnded); ok && e.Node == "a" {
			ended = time.Now()
			require.Empty(t, e.Error)
		}
		if e, ok := ev.(*Ended); ok {
			require.Equal(t, Completed, e.Status)
		}
	}
	require.False(t, ended.IsZero())
	require.Less(t, ended.Sub(began), 5*time.Second)
}

// A person may approve a call just before its plan does. The plan then continues with that
// approval.
func TestACallThatAPersonApprovesBeforeItsPlanDoesGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		memory := &journal.MapStore{}
		store := &pausing{Store: memory}
		r := s.runner(t, Config{Agent: s.agent(t, store)})
		store.paused = func(session, id string) {
			if session == SessionOf("p-1", 0, "a") {
				require.NoError(t, r.cfg.Agent.Session(session).Decide(t.Context(), agent.Approve(id).By("ann")))
			}
		}
		_, err := r.Start(t.Context(), "p-1", plan("A", published("a")))
		require.NoError(t, err)
		decide(t, r, agent.Approve)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = r.Finish(ctx, "p-1")
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, s.all())
	})
}

// What is in the inbox of a node's session and can't be taken there keeps no plan busy.
func TestAnInboxThatIsNotTakenKeepsNoPlanBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		store := &counting{Store: &journal.MapStore{}}
		r := s.asking(t, store)
		defer serve(t, r)()
		_, err := r.Start(t.Context(), "p-1", plan("A", published("a")))
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.NoError(t, store.Post(t.Context(), SessionOf("p-1", 0, "a"), journal.Item{ID: "x", Kind: "other"}))
		before := store.heads.Load()
		time.Sleep(time.Minute)
		require.Less(t, store.heads.Load()-before, int64(60*20))
		decide(t, r, agent.Approve)
		_, err = r.Finish(t.Context(), "p-1")
		require.NoError(t, err)
	})
}

// What is changed later in the session of a node that has ended, such as a label, keeps no plan
// busy: it is looked at once.
func TestAChangeOfANodeThatHasEndedKeepsNoPlanBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		store := &counting{Store: &journal.MapStore{}}
		r := s.asking(t, store)
		defer serve(t, r)()
		_, err := r.Start(t.Context(), "p-1", plan("A", made("a"), published("b")))
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.NoError(t, r.cfg.Agent.Session(SessionOf("p-1", 0, "a")).SetLabel(t.Context(), "seen", "yes"))
		before := store.takes.Load()
		time.Sleep(time.Hour)
		require.Less(t, store.takes.Load()-before, int64(3))
	})
}
