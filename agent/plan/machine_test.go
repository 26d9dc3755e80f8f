package plan

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A course is a run of plans in a test.
type course struct {
	*State
	t *testing.T
}

func (c course) record(facts ...fact) {
	c.t.Helper()
	for _, f := range facts {
		require.NoError(c.t, c.try(f))
	}
}

func (c course) try(f fact) error {
	if d, ok := f.(*decided); ok {
		d.Plan = c.Current
	}
	return c.add(stamp(f, Meta{Run: "p", Seq: c.Seq + 1,
		Time: began.Add(time.Duration(c.Seq) * time.Second), By: f.Envelope().By}))
}

// next returns the next action and its nodes in words.
func (c course) next() string {
	act := c.State.next(began.Add(time.Hour))
	text := [...]string{"none", "approve", "start", "judge", "wait", "ask", "undo", "fail", "end"}[act.kind]
	for _, i := range act.nodes {
		text += " " + c.Nodes[i].Node.ID
	}
	return text
}

func (c course) start(ids ...string) {
	c.t.Helper()
	for _, id := range ids {
		n, _ := c.State.Node(id)
		c.record(&NodeStarted{Node: id, Attempt: n.Attempt + 1, Round: n.Round, Key: fmt.Sprint(id, n.Round)})
	}
}

func (c course) end(id, problem string, class fault.Class) {
	c.t.Helper()
	n, _ := c.State.Node(id)
	f := &NodeEnded{Node: id, Attempt: n.Attempt, Round: n.Round, Error: problem, Class: class}
	if problem == "" {
		f.Output = json.RawMessage(`{"id":1}`)
	}
	c.record(f)
}

func (c course) done(ids ...string) {
	c.t.Helper()
	c.start(ids...)
	for _, id := range ids {
		c.end(id, "", fault.None)
	}
}

func (c course) statuses() string {
	text := ""
	for _, n := range c.Nodes {
		text += fmt.Sprintf("%s %s, ", n.Node.ID, n.Status)
	}
	return text
}

func begin(t *testing.T, o options, plans ...Plan) course {
	t.Helper()
	c := course{&State{Run: "p"}, t}
	require.Equal(t, "none", c.next())
	f := &proposed{Options: o}
	for _, p := range plans {
		f.Plans = append(f.Plans, proposal{Plan: p})
	}
	c.record(f)
	return c
}

func nodes(n ...Node) Plan { return Plan{Title: "x", Version: 1, Nodes: n} }

// diamond is a, then b and c, then d.
func diamond() Plan {
	return nodes(Node{ID: "a"}, Node{ID: "b", After: []string{"a"}}, Node{ID: "c", After: []string{"a"}},
		Node{ID: "d", After: []string{"b", "c"}})
}

func TestNodesStartAfterWhatTheyDependOn(t *testing.T) {
	c := begin(t, options{}, diamond())
	require.Equal(t, "start a", c.next())
	require.Error(t, c.try(&NodeStarted{Node: "b", Attempt: 1, Round: 1, Key: "k"}))
	c.done("a")
	require.Equal(t, "start b c", c.next())
	c.start("b")
	require.Equal(t, "start c", c.next())
	c.start("c")
	require.Equal(t, "wait b c", c.next())
	c.end("b", "", fault.None)
	require.Equal(t, "wait c", c.next())
	c.end("c", "", fault.None)
	c.done("d")
	require.Equal(t, "end", c.next())
	c.record(c.conclusion())
	require.Equal(t, Completed, c.Status)
	require.Equal(t, "none", c.next())
	require.Error(t, c.try(&decided{Choice: giveUp}), "the run has ended")
}

func TestAtMostFourNodesRunAtATime(t *testing.T) {
	var p Plan
	for i := range 6 {
		p.Nodes = append(p.Nodes, Node{ID: fmt.Sprint(i)})
	}
	c := begin(t, options{}, p)
	require.Equal(t, "start 0 1 2 3", c.next())
	c.start("0", "1", "2", "3")
	require.Equal(t, "wait 0 1 2 3", c.next())
	require.ErrorContains(t, c.try(&NodeStarted{Node: "4", Attempt: 1, Round: 1, Key: "k"}),
		"too many nodes are in progress")
	c.end("2", "", fault.None)
	require.Equal(t, "start 4", c.next())
}

func TestAFailureThatMayPassIsRetried(t *testing.T) {
	c := begin(t, options{}, nodes(Node{ID: "a"}))
	for range defaultTries {
		c.start("a")
		c.end("a", "timeout", fault.Transient)
		n, _ := c.Node("a")
		require.Equal(t, NodePending, n.Status)
		act := c.State.next(n.NotBefore.Add(-time.Nanosecond))
		require.Equal(t, action{kind: actWait, until: n.NotBefore}, act)
		require.Equal(t, defaultWait, n.NotBefore.Sub(began.Add(time.Duration(c.Seq-1)*time.Second)))
		require.Error(t, c.try(&NodeStarted{Node: "a", Attempt: n.Attempt + 1, Round: 1, Key: "another"}),
			"a retry has the same key")
	}
	c.start("a")
	c.end("a", "timeout", fault.Transient)
	require.Equal(t, "a failed, ", c.statuses())
	require.Equal(t, "undo a", c.next())
	one := begin(t, options{}, nodes(Node{ID: "a"}))
	one.start("a")
	one.end("a", "no such page", fault.NotFound)
	require.Equal(t, "a failed, ", one.statuses())
}

// After a failure nothing starts, what is in progress ends, and its result is kept.
func TestAFailureLetsWhatIsInProgressEnd(t *testing.T) {
	c := begin(t, options{}, nodes(Node{ID: "a"}, Node{ID: "b"}, Node{ID: "c", After: []string{"b"}}))
	c.start("a", "b")
	c.end("a", "no", fault.Permanent)
	require.Equal(t, "wait b", c.next())
	c.end("b", "", fault.None)
	require.Equal(t, "a failed, b done, c pending, ", c.statuses())
	require.Equal(t, "undo b a", c.next())
}

// All that depends on a node that failed is skipped, not only what depends on it directly, and what
// is done stays done.
func TestSkipsAreTransitive(t *testing.T) {
	c := begin(t, options{KeepGoing: true}, nodes(Node{ID: "a"}, Node{ID: "b", After: []string{"a"}},
		Node{ID: "c", After: []string{"b"}}, Node{ID: "d"}, Node{ID: "e", After: []string{"d"}}))
	c.done("d")
	c.start("a")
	c.end("a", "no", fault.Permanent)
	require.Equal(t, "a failed, b skipped, c skipped, d done, e pending, ", c.statuses())
	n, _ := c.Node("c")
	require.Equal(t, "b", n.Because)
	require.Equal(t, "start e", c.next(), "the plan keeps going")
	c.done("e")
	require.Equal(t, "undo e a d", c.next())
}

func TestAPersonDecidesAboutAFailure(t *testing.T) {
	fail := func(t *testing.T) course {
		c := begin(t, options{AskOnFailure: true},
			nodes(Node{ID: "a"}, Node{ID: "b", After: []string{"a"}}, Node{ID: "c", After: []string{"b"}}))
		c.done("a")
		c.start("b")
		c.end("b", "no", fault.Permanent)
		require.Equal(t, "ask b", c.next())
		return c
	}
	t.Run("retry repeats nothing that is done", func(t *testing.T) {
		c := fail(t)
		c.record(&decided{Choice: retry, Node: "b"})
		require.Equal(t, "a done, b pending, c pending, ", c.statuses())
		require.Equal(t, "start b", c.next())
		c.done("b")
		c.done("c")
		require.Equal(t, "end", c.next())
	})
	t.Run("skip", func(t *testing.T) {
		c := fail(t)
		c.record(&decided{Choice: skip, Node: "b"})
		require.Equal(t, "a done, b skipped, c skipped, ", c.statuses())
		c.record(c.conclusion())
		require.Equal(t, Completed, c.Status)
	})
	t.Run("waive", func(t *testing.T) {
		c := fail(t)
		c.record(&decided{Choice: waive, Node: "b"})
		require.Equal(t, "start c", c.next())
	})
	t.Run("give up", func(t *testing.T) {
		c := fail(t)
		c.record(&decided{Meta: Meta{By: "ann"}, Choice: giveUp, Text: "too late"})
		require.Equal(t, "undo b a", c.next())
		c.record(&undone{Node: "b"}, &undone{Node: "a", Left: "the page is public"})
		require.Equal(t, &Failed{Reason: `it was given up by ann: too late; node "b" failed: no`, Undone: []string{"b"},
			Left: []Remains{{Node: "a", Why: "the page is public"}}}, c.failure())
	})
}

func TestTheNextPlanRunsAfterTheOneBeforeIsUndone(t *testing.T) {
	first, second := diamond(), nodes(Node{ID: "x"})
	first.ID, second.ID = "A", "B"
	c := begin(t, options{}, first, second)
	c.done("a")
	c.start("b")
	c.end("b", "no section", fault.NotFound)
	require.Equal(t, "undo b a", c.next())
	require.Error(t, c.try(&Failed{}), "the effects aren't undone")
	c.record(&undone{Node: "b"}, &undone{Node: "a"})
	require.Equal(t, "fail", c.next())
	c.record(c.failure())
	require.Equal(t, "start x", c.next())
	require.Contains(t, c.Briefing(), `Plan "x" (A) failed: node "b" failed: no section.`)
	c.start("x")
	c.end("x", "no", fault.Denied)
	c.record(&undone{Node: "x", Left: "the tool can't undo"})
	c.record(c.failure())
	require.Equal(t, "end", c.next())
	end := c.conclusion()
	require.Equal(t,
		&Ended{Status: AllFailed, Reason: `plan "A": node "b" failed: no section; plan "B": node "x" failed: no`}, end)
	c.record(end)
	require.Contains(t, c.Briefing(), "Still there: what x did (the tool can't undo).")
}

func TestApprovalHoldsForOneVersion(t *testing.T) {
	c := course{&State{Run: "p"}, t}
	p := diamond()
	c.record(&proposed{Plans: []proposal{{Plan: p, Asks: []string{"d"}}}})
	require.Equal(t, "approve", c.next())
	require.Error(t, c.try(&NodeStarted{Node: "a", Attempt: 1, Round: 1, Key: "k"}))
	require.Error(t, c.try(&decided{Choice: approve, Hash: "another"}))
	c.record(&decided{Choice: approve, Hash: p.Hash()})
	c.done("a")

	next := diamond()
	next.Version = 2
	next.Nodes[3].After = []string{"b"}
	c.record(&decided{Choice: revise, Revision: &proposal{Plan: next, Asks: []string{"d"}}})
	require.Equal(t, "approve", c.next(), "approval of version 1 runs nothing of version 2")
	require.Equal(t, "a done, b pending, c pending, d pending, ", c.statuses())
	require.Error(t, c.try(&decided{Choice: approve, Hash: p.Hash()}))
	c.record(&decided{Choice: approve, Hash: next.Hash()})
	require.Equal(t, "start b c", c.next())

	wrong := diamond()
	wrong.Version, wrong.Nodes[0].Tool = 3, "other"
	require.ErrorContains(t, c.try(&decided{Choice: revise, Revision: &proposal{Plan: wrong}}),
		`node "a" has begun, and the revision changes it or doesn't have it`)
	wrong = nodes(Node{ID: "b"})
	wrong.Version = 3
	require.ErrorContains(t, c.try(&decided{Choice: revise, Revision: &proposal{Plan: wrong}}),
		`node "a" has begun, and the revision changes it or doesn't have it`)
	wrong.Version = 2
	require.ErrorContains(t, c.try(&decided{Choice: revise, Revision: &proposal{Plan: wrong}}),
		"it should be version 3")
}

func TestARejectedPlanRunsNothingMore(t *testing.T) {
	c := course{&State{Run: "p"}, t}
	p := diamond()
	c.record(&proposed{Plans: []proposal{{Plan: p, Asks: []string{"d"}}, {Plan: nodes(Node{ID: "x"})}}},
		&decided{Meta: Meta{By: "ann"}, Choice: reject, Hash: p.Hash(), Text: "too risky"})
	require.Equal(t, "fail", c.next())
	c.record(c.failure())
	require.Equal(t, &Ended{Status: Refused, Reason: "it was rejected by ann: too risky"}, c.conclusion())
}

// A verdict holds for the result of one round: one of the round before doesn't make a node done.
func TestAReviewJudgesEachRoundAnew(t *testing.T) {
	c := begin(t, options{}, nodes(Node{ID: "a", Review: &Review{Checks: []string{"lint", "test"}}}))
	c.done("a")
	require.Equal(t, "judge a", c.next())
	c.record(lint(1, "test", true, ""))
	require.Equal(t, "judge a", c.next(), "one check isn't enough")
	require.Error(t, c.try(lint(1, "test", false, "")), "it has judged")
	c.record(lint(1, "lint", false, "unused"))
	n, _ := c.Node("a")
	require.Equal(t, 2, n.Round)
	require.Len(t, n.Feedback, 2)
	c.done("a")
	c.record(lint(2, "lint", true, ""))
	require.Equal(t, "judge a", c.next(), "the verdict of the first round doesn't count")
	require.Error(t, c.try(lint(1, "test", true, "")))
	c.record(lint(2, "test", false, "it crashes")) // as for a check that couldn't judge
	c.done("a")
	c.record(lint(3, "lint", false, ""), lint(3, "test", true, ""))
	require.Equal(t, "ask a", c.next(), "after three rounds a person decides")

	again := replayed(t, c)
	again.record(&decided{Choice: grant, Node: "a", Rounds: 1})
	require.Equal(t, "start a", again.next())
	waived := replayed(t, c)
	waived.record(&decided{Choice: waive, Node: "a", Check: "lint"})
	require.Equal(t, "end", waived.next())
}

// lint is a verdict on node a.
func lint(round int, check string, passed bool, feedback string) *judged {
	return &judged{Node: "a", Round: round, Verdict: Verdict{Check: check, Passed: passed, Feedback: feedback}}
}

func replayed(t *testing.T, c course) course {
	t.Helper()
	again := *c.State
	again.Nodes = append([]NodeState{}, c.Nodes...)
	return course{&again, t}
}

func TestAnEndIsRecordedOnce(t *testing.T) {
	c := begin(t, options{}, nodes(Node{ID: "a"}, Node{ID: "b"}))
	c.start("a")
	end := &NodeEnded{Node: "a", Attempt: 1, Round: 1}
	c.record(end)
	require.Error(t, c.try(end))
	require.Error(t, c.try(&NodeEnded{Node: "b", Attempt: 1, Round: 1}), "it hasn't started")
	require.Error(t, c.try(&NodeEnded{Node: "z", Attempt: 1, Round: 1}))
	require.Error(t, c.try(&proposed{}))
	require.Error(t, c.try(&Ended{Status: Completed}))
	require.Error(t, c.add(&decided{Meta: Meta{Seq: 99}, Choice: giveUp}), "the number is wrong")
}

func TestARecordThatCantBeReadIsAnError(t *testing.T) {
	for _, rec := range []journal.Record{{Kind: "plan.proposed", V: 1}, {Kind: "plan.other", V: 2},
		{Kind: "plan.proposed", V: 2, Data: []byte("{")}} {
		_, err := decodeFact("p", rec)
		var wrong *agent.SessionError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, fault.Permanent, fault.Of(err))
	}
}
