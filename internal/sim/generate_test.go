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

// weights say how often an operation is chosen.
var weights = []struct {
	kind  kind
	often int
}{
	{opRun, 20}, {opHub, 12}, {opLeave, 5}, {opExpire, 5}, {opContinue, 8}, {opRecover, 6}, {opDecide, 22},
	{opResume, 8}, {opForge, 6}, {opSteer, 10}, {opCancel, 4}, {opStop, 4}, {opPause, 5}, {opRevoke, 3}, {opTitle, 2},
	{opFork, 4}, {opUndo, 5}, {opPrune, 3}, {opDelete, 2}, {opMove, 2}, {opWatch, 8}, {opTake, 6},
	{opKill, 10}, {opDrain, 3}, {opClose, 3}, {opSlow, 5}, {opRefuse, 5}, {opLose, 6}, {opStall, 4}, {opClock, 3},
}

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
	all := 0
	for _, w := range weights {
		all += w.often
	}
	for range 4 + g.IntN(30) {
		n, i := g.IntN(all), 0
		for ; n >= weights[i].often; i++ {
			n -= weights[i].often
		}
		g.add(weights[i].kind)
	}
	slices.SortStableFunc(g.p.ops, func(a, b op) int { return cmp.Compare(a.at, b.at) })
	return g.p
}

// between returns a time between two.
func (g *generator) between(least, most time.Duration) time.Duration {
	return least + time.Duration(g.Int64N(int64(most-least)))
}

// add adds an operation of that kind.
func (g *generator) add(k kind) {
	o := op{at: g.between(0, span), kind: k, process: g.IntN(processes), pick: g.Uint64()}
	switch k {
	case opKill, opDrain, opClose, opLose:
		o.length = g.between(time.Second, 5*time.Second)
	case opSlow, opRefuse:
		o.length = g.between(time.Second, 20*time.Second)
	case opStall:
		o.length = g.between(lease/2, 2*lease)
	case opClock:
		o.length = g.between(-lease, lease)
	case opRecover, opTake:
	default:
		o.session = g.sessions[g.IntN(len(g.sessions))]
	}
	switch k {
	case opRun, opHub, opLeave, opExpire:
		o.at /= 2 // runs begin early
		o.script = g.script(2)
	case opFork, opMove:
		to := fmt.Sprintf("%s-%d", o.session, len(g.sessions))
		o.to = to
		g.sessions = append(g.sessions, to)
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

// script adds a script whose subagents are nested as deep at most, and returns its name.
func (g *generator) script(deep int) string {
	name := fmt.Sprintf("s%d", len(g.p.scripts)+1)
	g.p.scripts[name] = nil
	var s script
	for range g.IntN(4) {
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
