package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A shop has the tools of a test, and what they did.
type shop struct {
	mu   sync.Mutex
	done []string
	fail map[string][]error // by the name of the input, what the next calls fail with
}

type item struct {
	Name string `json:"name"`
	On   any    `json:"on,omitempty"`
}

func (s *shop) make(_ context.Context, in item) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errs := s.fail[in.Name]; len(errs) > 0 {
		s.fail[in.Name] = errs[1:]
		if errs[0] != nil {
			return "", errs[0]
		}
	}
	s.done = append(s.done, in.Name)
	return fmt.Sprintf(`{"id":%q,"on":%q}`, in.Name, fmt.Sprint(in.On)), nil
}

func (s *shop) undo(_ context.Context, in item, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, "-"+in.Name)
	return nil
}

func (s *shop) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.done)
}

func (s *shop) agent(t testing.TB, store journal.Store) *agent.Agent {
	t.Helper()
	make := tools.Func[item, string]{Spec: tools.Spec{Name: "make"}, Run: s.make, Undo: s.undo}
	look := tools.New(tools.Spec{Name: "look", ReadOnly: true}, s.make)
	publish := tools.New(tools.Spec{Name: "publish", Risk: tools.High}, s.make)
	a, err := agent.New(agent.Config{Name: "shop", Provider: providertest.Script(),
		Tools: []tools.Tool{make, look, publish}, Journal: store})
	require.NoError(t, err)
	return a
}

func (s *shop) runner(t testing.TB, cfg Config) *Runner {
	t.Helper()
	if cfg.Agent == nil {
		cfg.Agent = s.agent(t, journal.NewMemory())
	}
	r, err := NewRunner(cfg)
	require.NoError(t, err)
	return r
}

// run runs plans, and returns the events and the error.
func run(r *Runner, plans ...*Plan) (events []Event, err error) {
	for ev, e := range r.Run(context.Background(), "p-1", plans...) {
		if e != nil {
			err = e
			continue
		}
		events = append(events, ev)
	}
	return events, err
}

func last(events []Event) Event {
	if len(events) == 0 {
		return nil
	}
	return events[len(events)-1]
}

func made(id string, after ...string) Node {
	return Node{ID: id, Tool: "make", Input: map[string]any{"name": id}, After: after}
}

func plan(id string, nodes ...Node) *Plan { return &Plan{ID: id, Title: "Plan " + id, Nodes: nodes} }

func TestARunCallsToolsInOrderAndPassesOutputs(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	n := made("b")
	n.Input["on"] = From("a.id")
	events, err := run(r, plan("A", n, made("a"), made("c", "b")))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, s.all())
	require.Equal(t, Completed, last(events).(*Ended).Status)
	state, err := r.State(t.Context(), "p-1")
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"b","on":"a"}`, string(state.Outputs()["b"]))
	for i, ev := range events {
		require.Equal(t, uint64(i+1), ev.Envelope().Seq)
	}
	again, err := run(r)
	require.NoError(t, err)
	require.Empty(t, again, "a run that has ended does nothing")
	head, err := r.store.Head(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, "plan completed Plan A", fmt.Sprint(head.Kind, " ", head.Status, " ", head.Title))
}

func TestTheNextBestPlanRunsAfterTheFirstIsUndone(t *testing.T) {
	s := shop{fail: map[string][]error{"section": {fault.New(fault.NotFound, "there is no section hero")}}}
	r := s.runner(t, Config{})
	open := Node{ID: "look", Tool: "look", Input: map[string]any{"name": "look"}, After: []string{"page"}}
	public := Node{ID: "x", Tool: "make", Input: map[string]any{"name": "page2"}}
	events, err := run(r, plan("A", made("page"), open, made("section", "look"), made("never", "section")),
		plan("B", public))
	require.NoError(t, err)
	require.Equal(t, []string{"page", "look", "-page", "page2"}, s.all())
	i := slices.IndexFunc(events, func(ev Event) bool { _, ok := ev.(*Failed); return ok })
	failed := events[i].(*Failed)
	require.Equal(t, "A", failed.Plan)
	require.Contains(t, failed.Reason, `node "section" failed: there is no section hero`)
	require.ElementsMatch(t, []string{"page", "look"}, failed.Undone)
	require.Equal(t, "section", failed.Left[0].Node, "it ran, and the tool can't undo what failed")

	all := shop{fail: map[string][]error{"a": {errors.New("no")}, "b": {errors.New("never")}}}
	_, err = run(all.runner(t, Config{}), plan("A", made("a")), plan("B", made("b")))
	var why *FailedError
	require.ErrorAs(t, err, &why)
	require.Equal(t, AllFailed, why.Status)
	require.Len(t, why.Failures, 2)
	require.ErrorContains(t, err, `plan "A": node "a" failed: no; plan "B": node "b" failed: never`)
}

func TestARetryAfterAFailureRepeatsNothing(t *testing.T) {
	s := shop{fail: map[string][]error{"three": {fault.New(fault.Transient, "timeout")}}}
	r := s.runner(t, Config{AskOnFailure: true})
	p := plan("A", made("one"), made("two", "one"), made("three", "two"), made("four", "three"), made("five", "four"))
	events, err := run(r, p)
	require.NoError(t, err)
	paused := last(events).(*Paused)
	require.Equal(t, PauseNode, paused.Pending[0].Kind, "a call that may have had an effect isn't repeated by itself")
	pending, err := r.Pending(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, paused.Pending, pending)
	require.NoError(t, r.Decide(t.Context(), "p-1", RetryNode("three").By("ann")))
	require.Error(t, r.Decide(t.Context(), "p-1", RetryNode("three")), "it was decided")
	events, err = run(r, p)
	require.NoError(t, err)
	require.Equal(t, Completed, last(events).(*Ended).Status)
	require.Equal(t, []string{"one", "two", "three", "four", "five"}, s.all())
}

func TestAReadOnlyCallIsRetriedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{fail: map[string][]error{"x": {fault.New(fault.Degraded, "down"), fault.New(fault.Degraded, "down"),
			fault.New(fault.Degraded, "down"), fault.New(fault.Degraded, "down")}}}
		begun := time.Now()
		events, err := run(s.runner(t, Config{}), plan("A",
			Node{ID: "x", Tool: "look", Input: map[string]any{"name": "x"}, Retry: &Retry{Max: 2, Wait: time.Minute}}))
		require.NoError(t, err)
		require.Equal(t, Completed, last(events).(*Ended).Status)
		require.GreaterOrEqual(t, time.Since(begun), time.Minute)
	})
}

func TestAPlanWaitsForApprovalAndItsCallsForTheirs(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	p := plan("A", made("a"),
		Node{ID: "out", Tool: "publish", Input: map[string]any{"name": "out"}, After: []string{"a"}})
	events, err := run(r, p)
	require.NoError(t, err)
	pause := last(events).(*Paused).Pending[0]
	require.Equal(t, PausePlan, pause.Kind)
	require.Equal(t, p.Hash(), pause.Hash)
	require.Empty(t, s.all())
	changed := plan("A", made("a"))
	require.ErrorContains(t, r.Decide(t.Context(), "p-1", Approve(changed.Hash())),
		"it isn't for the plan that waits for approval")
	require.NoError(t, r.Decide(t.Context(), "p-1", Approve(p.Hash()).By("ann")))
	require.ErrorContains(t, r.Decide(t.Context(), "p-1", Reject(p.Hash(), "no")), "somebody has decided this before")
	_, err = run(r, changed)
	require.ErrorContains(t, err, "it was begun with other plans")

	events, err = run(r)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, s.all())
	pause = last(events).(*Paused).Pending[0]
	require.Equal(t, PauseCall, pause.Kind)
	head, err := r.store.Head(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, statusPaused, head.Status)
	require.NoError(t, r.cfg.Agent.Session(pause.Session).Decide(t.Context(), agent.Approve(pause.ID)))
	events, err = run(r)
	require.NoError(t, err)
	require.Equal(t, Completed, last(events).(*Ended).Status)
	require.Equal(t, []string{"a", "out"}, s.all())
}

func TestGivingUpWithdrawsCallsThatWait(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	p := plan("A", made("a"),
		Node{ID: "out", Tool: "publish", Input: map[string]any{"name": "out"}, After: []string{"a"}})
	for _, d := range []Decision{Approve(p.Hash()), Cancel("too late").By("ann")} {
		_, err := run(r, p)
		require.NoError(t, err)
		require.NoError(t, r.Decide(t.Context(), "p-1", d))
	}
	_, err := run(r, p)
	require.ErrorContains(t, err, `plan: run "p-1" canceled: plan "A": it was given up by ann: too late`)
	require.Equal(t, []string{"a", "-a"}, s.all())
	state, err := r.State(t.Context(), "p-1")
	require.NoError(t, err)
	calls, err := r.cfg.Agent.Session(SessionOf("p-1", 0, "out")).Pending(t.Context())
	require.NoError(t, err)
	require.Empty(t, calls)
	require.Equal(t, Canceled, state.Status)
}

// The loop over the events is left after each event in turn. The next one continues, and no node is
// done twice.
func TestLeavingAtAnyEventRepeatsNothing(t *testing.T) {
	p := plan("A", made("a"), made("b", "a"), made("c", "a"), made("d", "b", "c"))
	for at := 1; ; at++ {
		var s shop
		r := s.runner(t, Config{AskOnFailure: true})
		n := 0
		for _, err := range r.Run(t.Context(), "p-1", p) {
			require.NoError(t, err)
			if n++; n == at {
				break
			}
		}
		if n < at {
			require.Greater(t, n, 9)
			return
		}
		for range 20 {
			events, err := run(r)
			require.NoError(t, err)
			paused, ok := last(events).(*Paused)
			if !ok {
				break
			}
			for _, q := range paused.Pending { // a call was stopped while it ran
				require.Equal(t, PauseNode, q.Kind)
				require.NotContains(t, s.all(), q.Node)
				require.NoError(t, r.Decide(t.Context(), "p-1", RetryNode(q.Node)))
			}
		}
		got := s.all()
		slices.Sort(got)
		require.Equal(t, []string{"a", "b", "c", "d"}, got, "left after event %d", at)
	}
}

func TestARunIsInProgressOnce(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	for range r.Run(t.Context(), "p-1", plan("A", made("a"))) {
		_, err := run(r)
		var busy *BusyError
		require.ErrorAs(t, err, &busy)
		require.Equal(t, fault.Transient, fault.Of(err))
		break
	}
}

func TestADecisionReachesARunInProgress(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	p := plan("A", made("a"), made("b", "a"))
	var status Status
	for ev, err := range r.Run(t.Context(), "p-1", p) {
		if ended, ok := ev.(*Ended); ok {
			status = ended.Status
		}
		if f, ok := ev.(*NodeStarted); ok && f.Node == "a" {
			require.NoError(t, r.Decide(t.Context(), "p-1", SkipNode("b").By("ann").Because("not needed")))
		}
		require.NoError(t, err)
	}
	require.Equal(t, Completed, status)
	require.Equal(t, []string{"a"}, s.all())
}

func TestARevisionIsApprovedAnew(t *testing.T) {
	s := shop{fail: map[string][]error{"b": {errors.New("no")}}}
	r := s.runner(t, Config{AskOnFailure: true})
	p := plan("A", made("a"), made("b", "a"))
	_, err := run(r, p)
	require.NoError(t, err)
	next := plan("A", made("a"), made("b", "a"),
		Node{ID: "c", Tool: "publish", Input: map[string]any{"name": "c"}, After: []string{"a"}})
	require.ErrorContains(t, r.Decide(t.Context(), "p-1", Revise(next)), "it should be version 2")
	next.Version = 2
	require.NoError(t, r.Decide(t.Context(), "p-1", Revise(next)))
	events, err := run(r)
	require.NoError(t, err)
	require.Equal(t, next.Hash(), last(events).(*Paused).Pending[0].Hash)
	require.NoError(t, r.Decide(t.Context(), "p-1", Reject(next.Hash(), "no")))
	_, err = run(r)
	require.ErrorContains(t, err, "rejected")
	require.Equal(t, []string{"a", "-a"}, s.all())
}

func TestWhatCantRunIsRefused(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	_, err := run(r)
	var wrong *RunError
	require.ErrorAs(t, err, &wrong)
	_, err = run(r,
		plan("A", Node{ID: "a", Tool: "make", Input: map[string]any{"name": "x"},
			Review: &Review{Checks: []string{"tone"}}}, Node{ID: "w", Worker: "ann", Prompt: "x"}))
	var check *CheckError
	require.ErrorAs(t, err, &check)
	require.Len(t, check.Faults, 2)
	_, err = run(r, nil)
	require.ErrorAs(t, err, &check)
	require.Error(t, r.Decide(t.Context(), "other", Approve("x")))
	require.NoError(t, drain(r.Run(t.Context(), "p-1", plan("A", made("a")))))
	require.Error(t, r.Decide(t.Context(), "p-1", Decision{}))
	require.Error(t, r.Decide(t.Context(), "p-1", GiveUp("late")), "it has ended")
	_, err = r.cfg.Agent.Session("talk").Call(t.Context(), "make", item{Name: "x"})
	require.NoError(t, err)
	err = drain(r.Run(t.Context(), "talk", plan("A", made("a"))))
	require.ErrorContains(t, err, "the journal has something else under that name")
	for _, cfg := range []Config{{}, {Agent: r.cfg.Agent, Parallel: -1}, {Agent: r.cfg.Agent, Lease: 1},
		{Agent: r.cfg.Agent, Workers: map[string]*agent.Agent{"x": nil}},
		{Agent: r.cfg.Agent, Checks: map[string]Check{"x": nil}}} {
		_, err := NewRunner(cfg)
		require.Equal(t, fault.Permanent, fault.Of(err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, drain(r.Run(ctx, "p-2", plan("A", made("a")))), context.Canceled)
}

func drain(seq func(func(Event, error) bool)) (err error) {
	for _, e := range seq {
		if e != nil {
			err = e
		}
	}
	return err
}
