package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	processes = 3
	// lease is that of the agents. It is short beside a program, so that processes take sessions
	// over.
	lease = 12 * time.Second
	// span is how long a program lasts at most.
	span = 90 * time.Second
)

// A weight says how often a kind of operation is chosen among others.
type weight struct {
	kind  kind
	often int
}

// begins are the operations that begin a run, and others are those that follow.
var (
	begins = []weight{{opRun, 4}, {opHub, 4}, {opAdvance, 4}, {opLeave, 1}, {opExpire, 1}, {opCall, 1}}
	others = []weight{{opContinue, 4}, {opReplace, 3}, {opRecover, 4}, {opDecide, 16}, {opResume, 6}, {opForge, 4},
		{opSteer, 8},
		{opCancel, 3}, {opStop, 4}, {opPause, 5}, {opRevoke, 2}, {opTitle, 2}, {opMode, 2}, {opCompact, 2},
		{opFork, 3},
		{opUndo, 6}, {opPrune, 2}, {opDelete, 1}, {opMove, 1}, {opWatch, 6}, {opTake, 4},
		{opKill, 24}, {opDrain, 3}, {opClose, 3}, {opSlow, 3}, {opRefuse, 4}, {opLose, 5}, {opStall, 4}, {opClock, 2}}
)

// choose returns one of the kinds.
func (g *generator) choose(list []weight) kind {
	all := 0
	for _, w := range list {
		all += w.often
	}
	n, i := g.IntN(all), 0
	for ; n >= list[i].often; i++ {
		n -= list[i].often
	}
	return list[i].kind
}

// queued are the operations that follow on an input that is queued.
var queued = []weight{{opDecide, 12}, {opResume, 2}, {opSteer, 3}, {opCancel, 4}, {opStop, 2}, {opPause, 3},
	{opRetry, 12}, {opUndo, 2}, {opPrune, 2}, {opFork, 1}, {opMove, 1}, {opDelete, 1}, {opWatch, 2}, {opContinue, 1},
	{opKill, 12}, {opDrain, 6}, {opClose, 2}, {opSlow, 2}, {opRefuse, 2}, {opLose, 3}, {opStall, 3}, {opClock, 1}}

// A generator makes a program.
type generator struct {
	*rand.Rand
	p        *program
	sessions []string
	n        int // of calls
}

// generate returns the program of a seed.
func generate(seed uint64) *program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), p: &program{seed: seed, scripts: make(map[string]script)},
		sessions: []string{"a", "b", "c"}[:1+seed%3]}
	for _, f := range features {
		if g.IntN(4) == 0 {
			g.p.with = append(g.p.with, f)
		}
	}
	var runs []op
	for range 1 + g.IntN(6) {
		g.add(g.choose(begins), nil)
		runs = append(runs, g.p.ops[len(g.p.ops)-1])
	}
	g.addPlans()
	for range 3 + g.IntN(30) {
		var near *op
		if g.IntN(4) > 0 {
			near = &runs[g.IntN(len(runs))]
		}
		g.add(g.choose(others), near)
	}
	g.addQueue()
	slices.SortStableFunc(g.p.ops, func(a, b op) int { return cmp.Compare(a.at, b.at) })
	return g.p
}

// between returns a time between two.
func (g *generator) between(least, most time.Duration) time.Duration {
	return least + time.Duration(g.Int64N(int64(most-least)))
}

// add adds an operation of that kind, which may be about a run, soon after its beginning.
func (g *generator) add(k kind, near *op) {
	o := op{at: g.between(0, span), kind: k, process: g.IntN(processes), pick: g.Uint64()}
	switch k {
	case opKill, opDrain, opClose, opLose:
		o.length = g.between(time.Second, 5*time.Second)
	case opSlow, opRefuse:
		o.length = g.between(time.Second, 3*lease)
	case opStall:
		o.length = g.between(lease/2, 2*lease)
	case opClock:
		o.length = g.between(-lease, lease)
	case opRecover, opTake:
	default:
		o.session = g.sessions[g.IntN(len(g.sessions))]
	}
	switch k {
	case opRun, opHub, opLeave, opExpire, opAdvance, opReplace, opEnqueue:
		if k != opReplace {
			o.at /= 2 // they begin early
		}
		o.script = g.script(2)
	case opCall:
		g.n++
		o.script = fmt.Sprintf("s%d", len(g.p.scripts)+1)
		g.p.scripts[o.script] = script{{{tool: calledTools[g.IntN(len(calledTools))], n: g.n}}}
	case opFork, opMove:
		o.to = fmt.Sprintf("copy-%d", len(g.sessions))
		g.sessions = append(g.sessions, o.to)
	}
	if near != nil {
		o.at = near.at + g.between(0, 8*time.Second)
		if o.session == "" {
			o.process = near.process // its fault
		} else {
			o.session = near.session
		}
		switch k {
		case opDecide, opResume, opUndo, opPrune, opFork, opReplace:
			o.at += g.between(0, 30*time.Second)
		}
	}
	g.p.ops = append(g.p.ops, o)
	if o.session != "" && g.IntN(8) == 0 { // another process wants the same at the same time
		other := o
		other.process, other.pick = (o.process+1)%processes, g.Uint64()
		other.at += g.between(0, 20*time.Millisecond)
		if k != opFork && k != opMove {
			g.p.ops = append(g.p.ops, other)
		}
	}
}

// addPlans adds runs of plans now and then, with what is decided on them.
func (g *generator) addPlans() {
	for i := range max(0, g.IntN(4)-1) {
		o := op{at: g.between(0, span/2), kind: opPlan, process: g.IntN(processes), pick: g.Uint64(),
			to: fmt.Sprintf("plan-%d", i+1), script: fmt.Sprintf("s%d", len(g.p.scripts)+1)}
		var nodes []call
		for range 1 + g.IntN(5) {
			g.n++
			nodes = append(nodes, call{tool: plannedTools[g.IntN(len(plannedTools))], n: g.n})
		}
		g.p.scripts[o.script] = script{nodes}
		g.p.ops = append(g.p.ops, o)
		for range g.IntN(6) {
			k := opDecidePlan
			if g.IntN(4) == 0 {
				k = opEndPlan
			}
			g.p.ops = append(g.p.ops, op{at: o.at + g.between(0, 30*time.Second), kind: k, process: g.IntN(processes),
				pick: g.Uint64(), to: o.to})
		}
	}
}

// addQueue adds queued inputs to a third of the programs, with what follows on them. It draws from
// numbers of its own.
func (g *generator) addQueue() {
	g.Rand = rand.New(rand.NewPCG(g.p.seed, 2))
	if g.IntN(3) > 0 {
		return
	}
	var runs []op
	for i := range 1 + g.IntN(7) {
		before, session := len(g.p.ops), g.sessions[0]
		if g.add(opEnqueue, nil); g.IntN(8) > 0 {
			session = fmt.Sprint(queuedPrefix, i)
		}
		for j := before; j < len(g.p.ops); j++ {
			g.p.ops[j].session = session
		}
		runs = append(runs, g.p.ops[before])
	}
	for range g.IntN(16) {
		g.add(g.choose(queued), &runs[g.IntN(len(runs))])
	}
}

// script adds a script whose subagents are nested as deep at most, and returns its name.
func (g *generator) script(deep int) string {
	name := fmt.Sprintf("s%d", len(g.p.scripts)+1)
	g.p.scripts[name] = nil
	var s script
	for range g.IntN(6) {
		var step []call
		for range 1 + g.IntN(3) {
			g.n++
			c := call{tool: calledTools[g.IntN(len(calledTools))], n: g.n}
			if c.tool == helper {
				if deep == 0 || len(g.p.scripts) > 12 {
					c.tool = "pay"
				} else {
					c.task = g.script(deep - 1)
				}
			}
			step = append(step, c)
		}
		s = append(s, step)
	}
	g.p.scripts[name] = s
	return name
}
