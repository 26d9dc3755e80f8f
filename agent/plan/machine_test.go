package plan

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A course is a run of plans in a test.
type course struct {
	*Machine
	t *testing.T
}

func (c course) record(facts ...Fact) {
	c.t.Helper()
	for _, f := range facts {
		require.NoError(c.t, c.try(f))
	}
}

func (c course) try(f Fact) error {
	return c.Apply(stamp(f, Meta{Log: "p", Seq: c.State().Seq + 1,
		Time: began.Add(time.Duration(c.State().Seq) * time.Second), By: f.Envelope().By}))
}

// next returns the next action and its nodes in words.
func (c course) next() string {
	act := c.Next(began.Add(time.Hour))
	text := [...]string{"propose", "approve", "start", "judge", "wait", "ask", "undo", "fail", "end", "none"}[act.Kind]
	for _, i := range act.Nodes {
		text += " " + c.State().Nodes[i].Node.ID
	}
	return text
}

func (c course) start(ids ...string) {
	c.t.Helper()
	for _, id := range ids {
		n, _ := c.State().Node(id)
		c.record(&NodeStarted{Node: id, Attempt: n.Attempt + 1, Round: n.Round, Key: fmt.Sprint(id, n.Round)})
	}
}

func (c course) end(id, problem string, class fault.Class) {
	c.t.Helper()
	n, _ := c.State().Node(id)
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
	for _, n := range c.State().Nodes {
		text += fmt.Sprintf("%s %s, ", n.Node.ID, n.Status)
	}
	return text
}

func begin(t *testing.T, o Options, plans ...Plan) course {
	t.Helper()
	c := course{New("p"), t}
	require.Equal(t, "propose", c.next())
	f := &Proposed{Options: o}
	for _, p := range plans {
		f.Plans = append(f.Plans, Proposal{Plan: p})
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
	c := begin(t, Options{}, diamond())
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
	c.record(c.End())
	require.Equal(t, Completed, c.State().Status)
	require.Equal(t, "none", c.next())
	require.Error(t, c.try(&GaveUp{}), "the run has ended")
}

func TestAtMostFourNodesRunAtATime(t *testing.T) {
	var p Plan
	for i := range 6 {
		p.Nodes = append(p.Nodes, Node{ID: fmt.Sprint(i)})
	}
	c := begin(t, Options{}, p)
	require.Equal(t, "start 0 1 2 3", c.next())
	c.start("0", "1", "2", "3")
	require.Equal(t, "wait 0 1 2 3", c.next())
	require.ErrorContains(t, c.try(&NodeStarted{Node: "4", Attempt: 1, Round: 1, Key: "k"}),
		"too many nodes are in progress")
	c.end("2", "", fault.None)
	require.Equal(t, "start 4", c.next())
}

func TestAFailureThatMayPassIsRetried(t *testing.T) {
	c := begin(t, Options{}, nodes(Node{ID: "a"}))
	for range DefaultRetry.Max {
		c.start("a")
		c.end("a", "timeout", fault.Transient)
		n, _ := c.State().Node("a")
		require.Equal(t, NodePending, n.Status)
		act := c.Next(n.NotBefore.Add(-time.Nanosecond))
		require.Equal(t, Action{Kind: ActWait, Until: n.NotBefore}, act)
		require.Equal(t, DefaultRetry.Wait, n.NotBefore.Sub(began.Add(time.Duration(c.State().Seq-1)*time.Second)))
		require.Error(t, c.try(&NodeStarted{Node: "a", Attempt: n.Attempt + 1, Round: 1, Key: "another"}),
			"a retry has the same key")
	}
	c.start("a")
	c.end("a", "timeout", fault.Transient)
	require.Equal(t, "a failed, ", c.statuses())
	require.Equal(t, "undo a", c.next())
	one := begin(t, Options{}, nodes(Node{ID: "a"}))
	one.start("a")
	one.end("a", "no such page", fault.NotFound)
	require.Equal(t, "a failed, ", one.statuses())
}

// After a failure nothing starts, what is in progress ends, and its result is kept.
func TestAFailureLetsWhatIsInProgressEnd(t *testing.T) {
	c := begin(t, Options{}, nodes(Node{ID: "a"}, Node{ID: "b"}, Node{ID: "c", After: []string{"b"}}))
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
	c := begin(t, Options{KeepGoing: true}, nodes(Node{ID: "a"}, Node{ID: "b", After: []string{"a"}},
		Node{ID: "c", After: []string{"b"}}, Node{ID: "d"}, Node{ID: "e", After: []string{"d"}}))
	c.done("d")
	c.start("a")
	c.end("a", "no", fault.Permanent)
	require.Equal(t, "a failed, b skipped, c skipped, d done, e pending, ", c.statuses())
	n, _ := c.State().Node("c")
	require.Equal(t, "b", n.Because)
	require.Equal(t, "start e", c.next(), "the plan keeps going")
	c.done("e")
	require.Equal(t, "undo e a d", c.next())
}

func TestAPersonDecidesAboutAFailure(t *testing.T) {
	fail := func(t *testing.T) course {
		c := begin(t, Options{AskOnFailure: true},
			nodes(Node{ID: "a"}, Node{ID: "b", After: []string{"a"}}, Node{ID: "c", After: []string{"b"}}))
		c.done("a")
		c.start("b")
		c.end("b", "no", fault.Permanent)
		require.Equal(t, "ask b", c.next())
		return c
	}
	t.Run("retry repeats nothing that is done", func(t *testing.T) {
		c := fail(t)
		c.record(&Retried{Node: "b"})
		require.Equal(t, "a done, b pending, c pending, ", c.statuses())
		require.Equal(t, "start b", c.next())
		c.done("b")
		c.done("c")
		require.Equal(t, "end", c.next())
	})
	t.Run("skip", func(t *testing.T) {
		c := fail(t)
		c.record(&Skipped{Node: "b"})
		require.Equal(t, "a done, b skipped, c skipped, ", c.statuses())
		c.record(c.End())
		require.Equal(t, Completed, c.State().Status)
	})
	t.Run("waive", func(t *testing.T) {
		c := fail(t)
		c.record(&Waived{Node: "b"})
		require.Equal(t, "start c", c.next())
	})
	t.Run("give up", func(t *testing.T) {
		c := fail(t)
		c.record(&GaveUp{Meta: Meta{By: "ann"}, Reason: "too late"})
		require.Equal(t, "undo b a", c.next())
		c.record(&Undone{Node: "b"}, &Undone{Node: "a", Left: "the page is public"})
		require.Equal(t, &Failed{Reason: `it was given up by ann: too late; node "b" failed: no`, Undone: []string{"b"},
			Left: []Remains{{Node: "a", Why: "the page is public"}}}, c.Fail())
	})
}

func TestTheNextPlanRunsAfterTheOneBeforeIsUndone(t *testing.T) {
	first, second := diamond(), nodes(Node{ID: "x"})
	first.ID, second.ID = "A", "B"
	c := begin(t, Options{}, first, second)
	c.done("a")
	c.start("b")
	c.end("b", "no section", fault.NotFound)
	require.Equal(t, "undo b a", c.next())
	require.Error(t, c.try(&Failed{}), "the effects aren't undone")
	c.record(&Undone{Node: "b"}, &Undone{Node: "a"})
	require.Equal(t, "fail", c.next())
	c.record(c.Fail())
	require.Equal(t, "start x", c.next())
	require.Contains(t, c.State().Briefing(), `Plan "x" (A) failed: node "b" failed: no section.`)
	c.start("x")
	c.end("x", "no", fault.Denied)
	c.record(&Undone{Node: "x", Left: "the tool can't undo"})
	c.record(c.Fail())
	require.Equal(t, "end", c.next())
	end := c.End()
	require.Equal(t,
		&Ended{Status: AllFailed, Reason: `plan "A": node "b" failed: no section; plan "B": node "x" failed: no`}, end)
	c.record(end)
	require.Contains(t, c.State().Briefing(), "Still there: what x did (the tool can't undo).")
}

func TestApprovalHoldsForOneVersion(t *testing.T) {
	c := course{New("p"), t}
	p := diamond()
	c.record(&Proposed{Plans: []Proposal{{Plan: p, Asks: []string{"d"}}}})
	require.Equal(t, "approve", c.next())
	require.Error(t, c.try(&NodeStarted{Node: "a", Attempt: 1, Round: 1, Key: "k"}))
	require.Error(t, c.try(&Approved{Hash: "another"}))
	c.record(&Approved{Hash: p.Hash()})
	c.done("a")

	next := diamond()
	next.Version = 2
	next.Nodes[3].After = []string{"b"}
	c.record(&Revised{Proposal: Proposal{Plan: next, Asks: []string{"d"}}})
	require.Equal(t, "approve", c.next(), "approval of version 1 runs nothing of version 2")
	require.Equal(t, "a done, b pending, c pending, d pending, ", c.statuses())
	require.Error(t, c.try(&Approved{Hash: p.Hash()}))
	c.record(&Approved{Hash: next.Hash()})
	require.Equal(t, "start b c", c.next())

	wrong := diamond()
	wrong.Version, wrong.Nodes[0].Tool = 3, "other"
	require.ErrorContains(t, c.try(&Revised{Proposal: Proposal{Plan: wrong}}),
		`node "a" has begun, and the revision changes it`)
	wrong = nodes(Node{ID: "b"})
	wrong.Version = 3
	require.ErrorContains(t, c.try(&Revised{Proposal: Proposal{Plan: wrong}}),
		`node "a" has begun, and the revision doesn't have it`)
	wrong.Version = 2
	require.ErrorContains(t, c.try(&Revised{Proposal: Proposal{Plan: wrong}}), "it should be version 3")
}

func TestARejectedPlanRunsNothingMore(t *testing.T) {
	c := course{New("p"), t}
	p := diamond()
	c.record(&Proposed{Plans: []Proposal{{Plan: p, Asks: []string{"d"}}, {Plan: nodes(Node{ID: "x"})}}},
		&Rejected{Meta: Meta{By: "ann"}, Hash: p.Hash(), Reason: "too risky"})
	require.Equal(t, "fail", c.next())
	c.record(c.Fail())
	require.Equal(t, &Ended{Status: Refused, Reason: "it was rejected by ann: too risky"}, c.End())
}

// A verdict holds for the result of one round: one of the round before doesn't make a node done.
func TestAReviewJudgesEachRoundAnew(t *testing.T) {
	c := begin(t, Options{}, nodes(Node{ID: "a", Review: &Review{Checks: []string{"lint", "test"}}}))
	c.done("a")
	require.Equal(t, "judge a", c.next())
	c.record(&Judged{Node: "a", Round: 1, Check: "test", Passed: true})
	require.Equal(t, "judge a", c.next(), "one check isn't enough")
	require.Error(t, c.try(&Judged{Node: "a", Round: 1, Check: "test", Passed: false}), "it has judged")
	c.record(&Judged{Node: "a", Round: 1, Check: "lint", Feedback: "unused"})
	n, _ := c.State().Node("a")
	require.Equal(t, 2, n.Round)
	require.Len(t, n.Feedback, 2)
	c.done("a")
	c.record(&Judged{Node: "a", Round: 2, Check: "lint", Passed: true})
	require.Equal(t, "judge a", c.next(), "the verdict of the first round doesn't count")
	require.Error(t, c.try(&Judged{Node: "a", Round: 1, Check: "test", Passed: true}))
	c.record(&Judged{Node: "a", Round: 2, Check: "test", Feedback: "it crashes"}) // as for a check that couldn't judge
	c.done("a")
	c.record(&Judged{Node: "a", Round: 3, Check: "lint"}, &Judged{Node: "a", Round: 3, Check: "test", Passed: true})
	require.Equal(t, "ask a", c.next(), "after three rounds a person decides")

	again := replayed(t, c)
	again.record(&Granted{Node: "a", Rounds: 1})
	require.Equal(t, "start a", again.next())
	waived := replayed(t, c)
	waived.record(&Waived{Node: "a", Check: "lint"})
	require.Equal(t, "end", waived.next())
}

func replayed(t *testing.T, c course) course {
	t.Helper()
	again := New("p")
	s := *c.State()
	again.s = s
	again.s.Nodes = append([]NodeState{}, s.Nodes...)
	return course{again, t}
}

func TestAnEndIsRecordedOnce(t *testing.T) {
	c := begin(t, Options{}, nodes(Node{ID: "a"}, Node{ID: "b"}))
	c.start("a")
	end := &NodeEnded{Node: "a", Attempt: 1, Round: 1}
	c.record(end)
	require.Error(t, c.try(end))
	require.Error(t, c.try(&NodeEnded{Node: "b", Attempt: 1, Round: 1}), "it hasn't started")
	require.Error(t, c.try(&NodeEnded{Node: "z", Attempt: 1, Round: 1}))
	require.Error(t, c.try(&Proposed{}))
	require.Error(t, c.try(&Ended{Status: Completed}))
	require.Error(t, c.Apply(&GaveUp{Meta: Meta{Seq: 99}}), "the number is wrong")
}

func TestARecordThatCantBeReadIsAnError(t *testing.T) {
	for _, rec := range []journal.Record{{Kind: "plan.proposed", V: 2}, {Kind: "plan.other", V: 1},
		{Kind: "plan.proposed", V: 1, Data: []byte("{")}} {
		_, err := Decode("p", rec)
		var wrong *FactError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, fault.Permanent, fault.Of(err))
	}
}
