package plan

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

var graphs = flag.Int("graphs", 75, "how many random runs of plans TestRandomRuns makes")

// A sim runs plans with random outcomes, decisions and crashes.
type sim struct {
	t     *testing.T
	r     *rand.Rand
	m     *State
	facts []fact
	now   time.Time
	// effects counts the attempts that succeeded, by plan, version-independent node, and round.
	effects map[string]int
	keys    map[string]string
	steps   int
}

// TestRandomRuns runs random plans: nothing hangs, no node starts before what it depends on is
// done, no node that has ended well runs again in its round, and the facts make the same state
// again at any point.
func TestRandomRuns(t *testing.T) {
	ends := map[Status]int{}
	for seed := range uint64(*graphs) {
		s := &sim{t: t, r: rand.New(rand.NewPCG(seed, 1)), m: &State{Run: "p"}, now: time.Unix(1e9, 0).UTC(),
			effects: map[string]int{}, keys: map[string]string{}}
		s.run()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		ends[s.m.Status]++
	}
	t.Logf("%v", ends)
	for _, status := range []Status{Completed, AllFailed, Refused, Canceled} {
		require.NotZero(t, ends[status], "no run was %s", status)
	}
}

// ends returns a decision that ends a plan.
func (s *sim) ends(choices ...choice) *decided {
	f := &decided{Choice: choices[s.r.IntN(len(choices))], Text: "enough"}
	f.Keep = f.Choice == cancel && s.m.options.OnCancel == Keep
	return f
}

// takeBack undoes what is there of a run that has ended.
func (s *sim) takeBack() {
	s.t.Helper()
	nodes := s.m.toUndo()
	if !s.m.undoable() {
		return
	}
	for _, i := range nodes {
		s.record(&undone{Node: s.m.Nodes[i].Node.ID, Left: []string{"", "it can't be undone"}[s.r.IntN(2)]})
	}
	require.Empty(s.t, s.m.toUndo())
}

func (s *sim) chance(percent int) bool { return s.r.IntN(100) < percent }

func (s *sim) record(f fact) {
	s.t.Helper()
	if d, ok := f.(*decided); ok {
		d.Plan = s.m.Current
	}
	if v, ok := f.(*judged); ok {
		v.Plan = s.m.Current
	}
	s.now = s.now.Add(time.Duration(s.r.IntN(1000)) * time.Millisecond)
	stamp(f, Meta{Run: "p", Seq: s.m.Seq + 1, Time: s.now, By: f.Envelope().By})
	require.NoError(s.t, s.m.add(f))
	s.facts = append(s.facts, f)
}

// crash forgets the machine, and makes it again from what a journal would return.
func (s *sim) crash() {
	s.t.Helper()
	var facts []fact
	for _, f := range s.facts {
		rec, err := encode(f)
		require.NoError(s.t, err)
		g, err := decodeFact("p", rec)
		require.NoError(s.t, err)
		facts = append(facts, g)
	}
	again, err := replay("p", facts...)
	require.NoError(s.t, err)
	require.Equal(s.t, s.m.next(s.now), again.next(s.now))
	require.Equal(s.t, s.m, again)
	s.m = again
}

func (s *sim) plan(id string) Plan {
	p := Plan{ID: id, Title: id, Version: 1}
	for i := range 1 + s.r.IntN(12) {
		n := Node{ID: fmt.Sprintf("n%d", i), Tool: "t", Retry: &Retry{Max: s.r.IntN(3), Wait: time.Second}}
		for j := range i {
			if s.chance(25) {
				n.After = append(n.After, fmt.Sprintf("n%d", j))
			}
		}
		if s.chance(20) {
			n.Review = &Review{Checks: []string{"a", "b"}[:1+s.r.IntN(2)], Rounds: 1 + s.r.IntN(3)}
		}
		p.Nodes = append(p.Nodes, n)
	}
	s.r.Shuffle(len(p.Nodes), func(i, j int) { p.Nodes[i], p.Nodes[j] = p.Nodes[j], p.Nodes[i] })
	return p
}

func (s *sim) proposal(p Plan) proposal {
	q := proposal{Plan: p}
	if s.chance(40) {
		q.Asks = []string{p.Nodes[0].ID}
	}
	return q
}

func (s *sim) run() {
	s.t.Helper()
	f := &proposed{Options: options{Parallel: 1 + s.r.IntN(4), KeepGoing: s.chance(50), AskOnFailure: s.chance(40),
		OnCancel: []CancelMode{"", Keep, Undo}[s.r.IntN(3)]}}
	for i := range 1 + s.r.IntN(3) {
		f.Plans = append(f.Plans, s.proposal(s.plan(fmt.Sprintf("plan-%d", i))))
	}
	s.record(f)
	for {
		if s.steps++; s.steps > 5000 {
			s.t.Fatal("it hangs")
		}
		if s.chance(5) {
			s.crash()
		}
		if state := s.m; !state.Status.ended() && !state.over() && !state.stopped() && s.chance(1) {
			s.record(s.ends(cancel)) // at any time
		}
		if late := s.m.expired(s.now); late != nil && s.chance(50) {
			s.record(late)
		}
		act := s.m.next(s.now)
		if act.kind == actNone {
			s.takeBack()
			s.crash()
			return
		}
		s.perform(act)
		if s.t.Failed() {
			return
		}
	}
}

func (s *sim) perform(act action) {
	s.t.Helper()
	state := s.m
	switch act.kind {
	case actApprove:
		s.decidePlan()
	case actStart:
		n := &state.Nodes[act.nodes[s.r.IntN(len(act.nodes))]]
		s.start(n)
		if s.chance(50) { // before others start
			s.end(n.Node.ID)
		}
	case actJudge:
		n := &state.Nodes[act.nodes[0]]
		checks := n.missing()
		s.record(&judged{Node: n.Node.ID, Round: n.Round, Verdict: Verdict{
			Check: checks[s.r.IntN(len(checks))], Passed: s.chance(60),
			Feedback: "so so"}})
	case actWait:
		switch {
		case s.chance(2) && state.Status != Undoing:
			s.record(s.ends(cancel, giveUp))
		case s.chance(4) && state.Status != Undoing:
			s.revise()
		case len(act.nodes) > 0:
			s.end(state.Nodes[act.nodes[s.r.IntN(len(act.nodes))]].Node.ID)
		default:
			require.False(s.t, act.until.IsZero(), "it waits for nothing")
			s.now = act.until
		}
	case actAsk:
		require.NotEmpty(s.t, state.questions())
		s.decideNode(&state.Nodes[act.nodes[s.r.IntN(len(act.nodes))]])
	case actUndo:
		n := &state.Nodes[act.nodes[0]]
		u := &undone{Node: n.Node.ID}
		if s.chance(30) {
			u.Left = "it can't be undone"
		}
		s.record(u)
	case actFail:
		f := s.m.failure()
		require.NotEmpty(s.t, f.Reason)
		for i := range state.Nodes { // what was begun is listed
			n := &state.Nodes[i]
			listed := slices.Contains(f.Undone, n.Node.ID) ||
				slices.ContainsFunc(f.Left, func(r Remains) bool { return r.Node == n.Node.ID })
			if !state.keeps() || n.began == 0 {
				require.Equal(s.t, n.began > 0, listed, n.Node.ID)
			}
		}
		s.record(f)
		clear(s.effects)
		clear(s.keys)
	case actEnd:
		f := s.m.conclusion()
		if listed := len(f.Done) + len(f.Partly) + len(f.Undone) + len(f.Untouched); listed > 0 {
			require.Len(s.t, state.Nodes, listed)
		}
		s.record(f)
	default:
		s.t.Fatalf("unexpected action %d", act.kind)
	}
}

func (s *sim) start(n *NodeState) {
	s.t.Helper()
	state := s.m
	for _, id := range n.Node.dependencies() {
		b, ok := state.Node(id)
		require.True(s.t, ok)
		require.True(s.t, b.Status.succeeded(), "%s starts before %s is done", n.Node.ID, id)
	}
	require.Less(s.t, len(state.with(NodeRunning)), cmp.Or(state.options.Parallel, defaultParallel))
	round := fmt.Sprint(n.Node.ID, "/", n.Round)
	require.Zero(s.t, s.effects[round], "%s runs again", round)
	if s.keys[round] == "" {
		s.keys[round] = fmt.Sprint(state.Current, round)
	}
	s.record(&NodeStarted{Node: n.Node.ID, Attempt: n.Attempt + 1, Round: n.Round, Key: s.keys[round]})
}

func (s *sim) end(id string) {
	s.t.Helper()
	n, _ := s.m.Node(id)
	f := &NodeEnded{Node: id, Attempt: n.Attempt, Round: n.Round}
	switch {
	case s.chance(70):
		f.Output = []byte(`{"id":1}`)
		s.effects[fmt.Sprint(id, "/", n.Round)]++
	case s.chance(60):
		f.Error, f.Class = "timeout", fault.Transient
	case s.chance(40):
		f.Error, f.Class = "the budget is used up", fault.UserFixable
		if s.chance(50) {
			f.Expires = s.now.Add(time.Duration(s.r.IntN(10)) * time.Second)
		}
	default:
		f.Error, f.Class, f.Unbegun = "no", fault.Permanent, s.chance(20)
	}
	s.record(f)
}

func (s *sim) decidePlan() {
	s.t.Helper()
	hash := s.m.Plan().Hash()
	switch {
	case s.chance(5):
		s.record(&decided{Choice: reject, Hash: hash, Text: "no"})
	case s.chance(10):
		s.revise()
	default:
		s.record(&decided{Choice: approve, Hash: hash})
	}
}

// revise adds a node, and changes what hasn't begun.
func (s *sim) revise() {
	s.t.Helper()
	state := s.m
	p, err := state.Plan().copied()
	require.NoError(s.t, err)
	p.Version++
	for i := range p.Nodes {
		if was, _ := state.Node(p.Nodes[i].ID); !was.begun() {
			p.Nodes[i].Timeout = time.Duration(p.Version) * time.Second
		}
	}
	p.Nodes = append(p.Nodes, Node{ID: fmt.Sprintf("r%d", p.Version), Tool: "t", After: []string{p.Nodes[0].ID}})
	revision := s.proposal(*p)
	s.record(&decided{Choice: revise, Revision: &revision})
}

func (s *sim) decideNode(n *NodeState) {
	s.t.Helper()
	id := n.Node.ID
	switch k := s.r.IntN(10); {
	case k < 3:
		s.record(&decided{Choice: skip, Node: id})
	case k < 6 && n.Status == NodeFailed:
		s.record(&decided{Choice: retry, Node: id})
	case k < 5:
		s.record(&decided{Choice: grant, Node: id, Rounds: 1})
	case k < 6:
		at := slices.IndexFunc(n.Verdicts, n.fails)
		s.record(&decided{Choice: waive, Node: id, Check: n.Verdicts[at].Check})
	case k < 8:
		s.record(&decided{Choice: waive, Node: id})
	case k < 9:
		s.record(s.ends(cancel, giveUp))
	default:
		s.revise()
	}
}
