package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A kind is what an operation does.
type kind string

// The operations.
const (
	opRun      kind = "run"      // starts a run and waits for its end
	opHub      kind = "hub"      // starts a run in the hub of the process
	opLeave    kind = "leave"    // starts a run, and leaves its loop after some events
	opExpire   kind = "expire"   // starts a run whose context ends
	opAdvance  kind = "advance"  // drives a run in legs, some of which are cut off
	opReplace  kind = "replace"  // starts a run in place of an earlier one
	opContinue kind = "continue" // resumes a session
	opRecover  kind = "recover"  // resumes what is due
	opDecide   kind = "decide"   // decides on what a session waits for
	opResume   kind = "resume"   // the same, and resumes it
	opForge    kind = "forge"    // decides with an id that can't be right
	opSteer    kind = "steer"
	opCancel   kind = "cancel"
	opStop     kind = "stop"
	opPause    kind = "pause"
	opRevoke   kind = "revoke"
	opTitle    kind = "title"
	opFork     kind = "fork"
	opUndo     kind = "undo"
	opPrune    kind = "prune"
	opDelete   kind = "delete"
	opMove     kind = "move" // exports a session and imports it under another name
	opWatch    kind = "watch"
	opCall     kind = "call" // makes a call of a tool without a model
	opMode     kind = "mode"
	opCompact  kind = "compact"
	opPlan     kind = "plan" // starts a run of plans
	opEndPlan  kind = "end"  // cancels or undoes it
	opTake     kind = "take" // takes from the allowance that all processes share
	opEnqueue  kind = "enqueue"
	opRetry    kind = "retry" // queues a run again that has failed for good
)

// opDecidePlan decides on what a run of plans waits for.
const opDecidePlan kind = "judge"

// The faults.
const (
	opKill   kind = "KILL"
	opDrain  kind = "DRAIN"
	opClose  kind = "CLOSE"  // of the hub
	opSlow   kind = "SLOW"   // each call of the store takes up to as long
	opRefuse kind = "REFUSE" // the store refuses for as long
	opLose   kind = "LOSE"   // the store keeps what it gets, and answers with an error
	opStall  kind = "STALL"  // the process does nothing for as long
	opClock  kind = "CLOCK"  // the clock of the process is off by as much
)

// An op is an operation or a fault: what process does with a session at a time.
type op struct {
	at      time.Duration
	kind    kind
	process int
	session string
	length  time.Duration // of a fault
	pick    uint64        // decides what the kind leaves open
	script  string        // the name of what the model says in the run
	to      string        // the name of a copy
}

func (o *op) String() string {
	s := fmt.Sprintf("%9.3fs  p%d %-8s", o.at.Seconds(), o.process, o.kind)
	if o.session != "" {
		s += " " + o.session
	}
	if o.length != 0 {
		s += fmt.Sprintf(" for %v", o.length)
	}
	if o.script != "" {
		s += " script " + o.script
	}
	if o.to != "" {
		s += " to " + o.to
	}
	return s + fmt.Sprintf(" (%d)", o.pick%1000)
}

// A call is a tool call that the model makes. Its number is that of no other call.
type call struct {
	tool string
	n    int
	task string // the script of a subagent
}

func (c call) String() string {
	if c.task != "" {
		return c.tool + "(" + c.task + ")"
	}
	return fmt.Sprintf("%s(%d)", c.tool, c.n)
}

// A script is what the model says in a run: a reply with calls for each step, and then a text.
type script [][]call

// first returns the calls of the first step; none if it was removed.
func (s script) first() []call {
	if len(s) == 0 {
		return nil
	}
	return s[0]
}

// A program is what processes do in a simulation.
type program struct {
	seed    uint64
	with    []string // what the agents have besides: see features
	ops     []op
	scripts map[string]script
}

// clone returns a copy that can be made shorter.
func (p *program) clone() *program {
	c := &program{seed: p.seed, with: slices.Clone(p.with), ops: slices.Clone(p.ops), scripts: make(map[string]script)}
	for name, s := range p.scripts {
		own := make(script, len(s))
		for i := range s {
			own[i] = slices.Clone(s[i])
		}
		c.scripts[name] = own
	}
	return c
}

// used returns the names of the scripts that the operations lead to, in order.
func (p *program) used() (names []string) {
	var add func(name string)
	add = func(name string) {
		if name == "" || slices.Contains(names, name) {
			return
		}
		names = append(names, name)
		for _, step := range p.scripts[name] {
			for _, c := range step {
				add(c.task)
			}
		}
	}
	for i := range p.ops {
		add(p.ops[i].script)
	}
	return names
}

// has reports whether the agents have a feature.
func (p *program) has(feature string) bool { return slices.Contains(p.with, feature) }

// deletes reports whether sessions are deleted, so that their names and keys are used again.
func (w *world) deletes() bool {
	return slices.ContainsFunc(w.program.ops, func(o op) bool { return o.kind == opDelete })
}

// size counts what shrinking may remove.
func (p *program) size() (n int) {
	for _, name := range p.used() {
		for _, step := range p.scripts[name] {
			n += len(step)
		}
	}
	return n + len(p.ops) + len(p.with)
}

func (p *program) String() string {
	var b strings.Builder
	if len(p.with) > 0 {
		fmt.Fprintln(&b, "with", strings.Join(p.with, ", "))
	}
	for i := range p.ops {
		fmt.Fprintln(&b, &p.ops[i])
	}
	for _, name := range p.used() {
		fmt.Fprintf(&b, "script %s:", name)
		for _, step := range p.scripts[name] {
			fmt.Fprintf(&b, " %v", step)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
