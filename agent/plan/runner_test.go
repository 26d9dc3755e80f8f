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
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A shop has the tools of a test, and what they did.
type shop struct {
	mu   sync.Mutex
	done []string
	fail map[string][]error // by the name of the input, what the next calls fail with
	slow time.Duration      // what a call takes

	started map[string]func() // by name: called when a call begins
	undoing func(name string) // called when an undo begins
	checks  map[string]Check  // of what a planner submits
}

type item struct {
	Name string `json:"name"`
	On   any    `json:"on,omitempty"`
}

func (s *shop) make(ctx context.Context, in item) (string, error) {
	s.mu.Lock()
	if f := s.started[in.Name]; f != nil {
		f()
	}
	s.mu.Unlock()
	if s.slow > 0 && !s.rest(ctx) {
		return "", ctx.Err()
	}
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

// rest takes the time that a call takes. It returns false if ctx ends before.
func (s *shop) rest(ctx context.Context) bool {
	select {
	case <-time.After(s.slow):
		return true
	case <-ctx.Done():
		return false
	}
}

// begin has f called when a call with that name begins.
func (s *shop) begin(name string, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = map[string]func(){name: f}
}

// see is a call that takes no time.
func (s *shop) see(_ context.Context, in item) (string, error) {
	return fmt.Sprintf(`{"id":%q}`, in.Name), nil
}

func (s *shop) undo(_ context.Context, in item, _ string) error {
	if s.undoing != nil {
		s.undoing(in.Name)
	}
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
	make := tools.Func[item, string]{Spec: tools.Spec{Name: "make", Timeout: time.Hour}, Run: s.make, Undo: s.undo}
	look := tools.New(tools.Spec{Name: "look", ReadOnly: true}, s.make)
	publish := tools.New(tools.Spec{Name: "publish", Risk: tools.High}, s.make)
	a, err := agent.New(agent.Config{Name: "shop", Provider: providertest.Script(),
		Tools:   []tools.Tool{make, look, publish, tools.New(tools.Spec{Name: "see", ReadOnly: true}, s.see)},
		Journal: store})
	require.NoError(t, err)
	return a
}

func (s *shop) runner(t testing.TB, cfg Config) *Runner {
	t.Helper()
	if cfg.Agent == nil {
		cfg.Agent = s.agent(t, &journal.MapStore{})
	}
	r, err := New(cfg)
	require.NoError(t, err)
	return r
}

// run starts plans, if there are any, and drives the run until it has ended or waits for decisions.
// It returns what was recorded meanwhile, with what it waits for, and the error.
func run(r *Runner, plans ...*Plan) (events []Event, err error) {
	ctx, before := context.Background(), uint64(0)
	if s, err := r.State(ctx, "p-1"); err == nil {
		before = s.Seq
	}
	if len(plans) > 0 {
		if _, err := r.Start(ctx, "p-1", plans...); err != nil {
			return nil, err
		}
	}
	s, err := r.drive(ctx, "p-1", nil)
	if s == nil || err != nil {
		return nil, err
	}
	for rec, err := range r.store.Read(ctx, "p-1", before) {
		if err != nil {
			return nil, err
		}
		f, err := decodeFact("p-1", rec)
		if err != nil {
			return nil, err
		}
		events = append(events, f)
	}
	if s.Status.ended() {
		return events, s.err()
	}
	pending, err := r.pending(ctx, s)
	return append(events, &Paused{Pending: pending}), err
}

// open returns the only thing that the run p-1 waits for.
func open(t testing.TB, r *Runner) agent.Pause {
	t.Helper()
	pending, err := r.Pending(t.Context(), "p-1")
	require.NoError(t, err)
	require.Len(t, pending, 1)
	return pending[0]
}

// decide decides on the only thing that the run p-1 waits for.
func decide(t testing.TB, r *Runner, d func(id string) agent.Decision) {
	t.Helper()
	require.NoError(t, r.Decide(t.Context(), "p-1", d(open(t, r).ID).By("ann")))
}

// choosing returns a decision that answers a question about a node.
func choosing(c choice) func(id string) agent.Decision {
	return func(id string) agent.Decision {
		return agent.Answer(id, map[string]any{"decision": c, "reason": "because"})
	}
}

func rejecting(why string) func(id string) agent.Decision {
	return func(id string) agent.Decision { return agent.Reject(id, why) }
}

func last(events []Event) Event {
	if len(events) == 0 {
		return nil
	}
	return events[len(events)-1]
}

func published(id string) Node {
	return Node{ID: id, Tool: "publish", Input: map[string]any{"name": id}}
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
	require.JSONEq(t, `{"id":"b","on":"a"}`, string(state.outputs()["b"]))
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
	q := open(t, r)
	require.Equal(t, last(events).(*Paused).Pending, []agent.Pause{q})
	require.Equal(t, []string{"three"}, q.Path, "a call that may have had an effect isn't repeated by itself")
	decide(t, r, choosing(retry))
	var used *agent.DecisionError
	require.ErrorAs(t, r.Decide(t.Context(), "p-1", choosing(retry)(q.ID)), &used)
	require.Equal(t, machine.DecisionUsed, used.Code)
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

// publishes is a plan whose second node asks, with an input that is known only when it runs.
func publishes() *Plan {
	return plan("A", made("a"), Node{ID: "out", Tool: "publish",
		Input: map[string]any{"name": "out", "on": From("a.id")}})
}

func TestAPlanWaitsForApprovalAndCallsWithInputsOfOthersForTheirs(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	p := publishes()
	events, err := run(r, p)
	require.NoError(t, err)
	q := last(events).(*Paused).Pending[0]
	require.Equal(t, agent.PauseApproval, q.Kind)
	require.Contains(t, q.ID, p.Hash())
	require.Empty(t, s.all())
	require.Error(t, r.Decide(t.Context(), "p-1", agent.Approve("plan 0 "+plan("A", made("a")).Hash())))
	decide(t, r, agent.Approve)
	require.ErrorContains(t, r.Decide(t.Context(), "p-1", agent.Reject(q.ID, "no")), "somebody has decided this before")
	_, err = run(r, plan("A", made("a")))
	require.ErrorContains(t, err, "it was begun with other plans")
	require.ErrorIs(t, err, agent.ErrDuplicate)

	events, err = run(r)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, s.all())
	q = last(events).(*Paused).Pending[0]
	require.Equal(t, []string{"out"}, q.Path)
	require.Equal(t, "publish", q.Call.Name)
	head, err := r.store.Head(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, statusPaused, head.Status)
	require.Equal(t, q.ID, head.Open[0].ID)
	decide(t, r, agent.Approve)
	events, err = run(r)
	require.NoError(t, err)
	require.Equal(t, Completed, last(events).(*Ended).Status)
	require.Equal(t, []string{"a", "out"}, s.all())
}

// The approval of a plan answers for what the person has seen: inputs that are in the plan.
func TestTheApprovalOfAPlanAnswersForItsConstantInputs(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	_, err := run(r, plan("A", published("x"), published("y")))
	require.NoError(t, err)
	decide(t, r, agent.Approve)
	events, err := run(r)
	require.NoError(t, err)
	require.Equal(t, Completed, last(events).(*Ended).Status)
	require.ElementsMatch(t, []string{"x", "y"}, s.all())
	facts, err := r.cfg.Agent.Session(SessionOf("p-1", 0, "x")).Facts(t.Context())
	require.NoError(t, err)
	i := slices.IndexFunc(facts, func(f agent.Fact) bool { _, ok := f.(*machine.Decided); return ok })
	require.Equal(t, "ann", facts[i].(*machine.Decided).Decision.User)
}

func TestADenialHoldsForAnApprovedPlan(t *testing.T) {
	var s shop
	deny := func(_ context.Context, d *tools.Definition, _ *tools.Call) tools.Verdict {
		if d.Name() == "publish" {
			return tools.Verdict{Effect: tools.Deny, Reason: "not on Fridays"}
		}
		return tools.Verdict{}
	}
	a, err := agent.New(agent.Config{Provider: providertest.Script(), Policies: []tools.Policy{deny},
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "publish", Risk: tools.High}, s.make)}})
	require.NoError(t, err)
	r := s.runner(t, Config{Agent: a})
	_, err = run(r, plan("A", published("x")))
	require.NoError(t, err)
	decide(t, r, agent.Approve)
	_, err = run(r)
	require.ErrorContains(t, err, "not on Fridays")
	require.Empty(t, s.all())
}

func TestACancelEndsWhatWaits(t *testing.T) {
	var s shop
	r := s.runner(t, Config{OnCancel: Undo})
	_, err := run(r, publishes())
	require.NoError(t, err)
	decide(t, r, agent.Approve)
	_, err = run(r)
	require.NoError(t, err)
	require.NoError(t, r.Cancel(t.Context(), "p-1", "too late"))
	_, err = run(r)
	require.ErrorContains(t, err, `plan: run "p-1" canceled: plan "A": it was canceled: too late`)
	require.Equal(t, []string{"a", "-a"}, s.all())
	calls, err := r.cfg.Agent.Session(SessionOf("p-1", 0, "out")).Pending(t.Context())
	require.NoError(t, err)
	require.Empty(t, calls)
	require.ErrorIs(t, r.Cancel(t.Context(), "p-1", "again"), agent.ErrNothingOpen)
}

func TestARunIsInProgressOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: 30 * time.Second} // a node has a minute
		r := s.runner(t, Config{})
		_, err := r.Start(t.Context(), "p-1", plan("A", made("a")))
		require.NoError(t, err)
		done := make(chan error)
		go func() {
			_, err := r.Finish(t.Context(), "p-1")
			done <- err
		}()
		synctest.Wait()
		_, err = r.drive(t.Context(), "p-1", nil)
		require.ErrorIs(t, err, agent.ErrBusy)
		_, err = r.Finish(t.Context(), "p-1")
		require.NoError(t, err, "it waits for the end")
		require.NoError(t, <-done)
		require.Equal(t, []string{"a"}, s.all())
	})
}

func TestARevisionIsApprovedAnew(t *testing.T) {
	s := shop{fail: map[string][]error{"b": {errors.New("no")}}}
	r := s.runner(t, Config{AskOnFailure: true})
	p := plan("A", made("a"), made("b", "a"))
	_, err := run(r, p)
	require.NoError(t, err)
	next := plan("A", made("a"), made("b", "a"),
		Node{ID: "c", Tool: "publish", Input: map[string]any{"name": "c"}, After: []string{"a"}})
	require.ErrorContains(t, r.Revise(t.Context(), "p-1", next), "it should be version 2")
	next.Version = 2
	require.NoError(t, r.Revise(t.Context(), "p-1", next))
	events, err := run(r)
	require.NoError(t, err)
	require.Contains(t, last(events).(*Paused).Pending[0].ID, next.Hash())
	decide(t, r, rejecting("no"))
	_, err = run(r)
	require.ErrorContains(t, err, "rejected")
	require.Equal(t, []string{"a", "-a"}, s.all())
}

func TestWhatCantRunIsRefused(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	_, err := run(r)
	require.ErrorIs(t, err, agent.ErrNothingOpen)
	_, err = r.Start(t.Context(), "p-1")
	require.ErrorAs(t, err, new(*agent.ArgError))
	_, err = run(r,
		plan("A", Node{ID: "a", Tool: "make", Input: map[string]any{"name": "x"},
			Review: &Review{Checks: []string{"tone"}}}, Node{ID: "w", Worker: "ann", Prompt: "x"}))
	var check *CheckError
	require.ErrorAs(t, err, &check)
	require.Len(t, check.Faults, 2)
	_, err = run(r, nil)
	require.ErrorAs(t, err, &check)
	require.ErrorIs(t, r.Decide(t.Context(), "other", agent.Approve("x")), agent.ErrNothingOpen)
	_, err = run(r, plan("A", made("a")))
	require.NoError(t, err)
	require.ErrorIs(t, r.GiveUp(t.Context(), "p-1", "late"), agent.ErrNothingOpen)
	_, err = r.cfg.Agent.Session("talk").Call(t.Context(), "make", item{Name: "x"})
	require.NoError(t, err)
	_, err = r.Start(t.Context(), "talk", plan("A", made("a")))
	require.ErrorContains(t, err, "the journal has something else under that name")
	for _, cfg := range []Config{{}, {Agent: r.cfg.Agent, Parallel: -1}, {Agent: r.cfg.Agent, Lease: 1},
		{Agent: r.cfg.Agent, Runs: -1}, {Agent: r.cfg.Agent, Workers: map[string]*agent.Agent{"x": nil}},
		{Agent: r.cfg.Agent, Checks: map[string]Check{"x": nil}}} {
		_, err := New(cfg)
		require.Equal(t, fault.Permanent, fault.Of(err))
	}
}

func TestThePlansOfARunInProgressAreNotCheckedAgainstTodaysTools(t *testing.T) {
	var s shop
	store := &journal.MapStore{}
	p := plan("A", made("a"))
	_, err := s.runner(t, Config{Agent: s.agent(t, store)}).Start(t.Context(), "p-1", p)
	require.NoError(t, err)
	other, err := agent.New(agent.Config{Name: "shop", Provider: providertest.Script(), Journal: store})
	require.NoError(t, err)
	_, err = s.runner(t, Config{Agent: other}).Start(t.Context(), "p-1", p)
	require.NoError(t, err)
}
