package sim

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// An account is what a tree has really spent, as its models and tools know it, and what of that is
// in the journal: what a process has used and not stored is gone with it. A forest's mu guards it.
type account struct {
	limit  provider.Money
	kept   []expense  // in the journal, in order
	open   []expense  // of tool calls that haven't ended, which their process alone knows
	passed *time.Time // when the journal had the limit
}

// An expense is what a model call or a tool has cost.
type expense struct {
	session, call string // the call is that of the tool that has made the model call, or has booked it
	p             *mortal
	began         time.Time // the model call, or that which has made the tool call
	at            time.Time // when it was known to the process, or stored
	cost          provider.Money
}

// begins notes that a model call of a run or of a tool in it begins. The result is false if the
// process is dead.
//
// What others have stored or used at the same instant doesn't count: the call may have been let
// through before.
func (f *forest) begins(p *mortal, session string, ofRun bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.dead.Load() {
		return false
	}
	now, known := time.Now(), provider.Money(0)
	count := func(all []expense, own bool) {
		for _, e := range all {
			if (!own || e.p == p) && (e.at.Before(now) || e.session == session) {
				known = known.Add(e.cost)
			}
		}
	}
	count(f.kept, false)
	count(f.open, true)
	if known >= f.limit {
		f.problems = append(f.problems, fmt.Sprintf("a model call of %s begins, and %v are spent", session, known))
	}
	if f.busy++; ofRun {
		f.called[session] = now
	}
	return true
}

// ends notes that a model call has ended.
func (f *forest) ends() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy--
}

// calledAt returns when the model call began that has made the open calls of a session.
func (f *forest) calledAt(session string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.called[session]
}

// used notes what an open tool call has used.
func (f *forest) used(p *mortal, call *tools.Call, began time.Time, cost provider.Money) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open, expense{call.Session, call.ID, p, began, time.Now(), cost})
}

// keep notes what an append of a process says was spent. What a subagent has used is in its own
// session.
func (f *forest) keep(p *mortal, a journal.Append) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, rec := range a.Records {
		if rec.Kind != "replied" && rec.Kind != "tool_finished" && rec.Kind != "suspended" {
			continue
		}
		rec.Seq = a.After + uint64(i) + 1
		fact, err := machine.Decode(a.Session, rec)
		if err != nil {
			f.problems = append(f.problems, err.Error())
			continue
		}
		switch fact := fact.(type) {
		case *machine.Suspended:
			f.problems = append(f.problems, a.Session+": nothing waits in a tree")
		case *machine.Replied:
			f.add(expense{a.Session, "", p, f.called[a.Session], time.Now(), fact.Cost})
		case *machine.ToolFinished:
			if fact.Meta.Call != "" && fact.Call.Name != "m" {
				f.settle(p, a.Session, fact.Meta.Call, fact.Spent)
			}
		}
	}
}

// settle moves what a tool call has used to what the journal has.
func (f *forest) settle(p *mortal, session, call string, spent *machine.Spent) {
	var left []expense
	sum := provider.Money(0)
	for _, e := range f.open {
		switch {
		case e.session != session || e.call != call:
			left = append(left, e)
		case e.p == p: // else its process has died
			e.at = time.Now()
			f.add(e)
			sum = sum.Add(e.cost)
		}
	}
	f.open = left
	said := provider.Money(0)
	if spent != nil {
		said = spent.Cost
	}
	if said != sum {
		f.problems = append(f.problems, fmt.Sprintf("the call %s has used %v, and the journal says %v", call, sum, said))
	}
}

// add adds what is stored.
func (f *forest) add(e expense) {
	f.kept = append(f.kept, e)
	if f.passed == nil && f.spent() >= f.limit {
		f.passed = new(time.Now())
	}
}

// spent returns what the journal has.
func (a *account) spent() (sum provider.Money) {
	for _, e := range a.kept {
		sum = sum.Add(e.cost)
	}
	return sum
}

// inProgress returns what all that was in progress when the limit was passed has cost.
func (a *account) inProgress() (sum provider.Money) {
	for _, e := range a.kept {
		if a.passed != nil && !e.at.Before(*a.passed) && e.began.Before(*a.passed) {
			sum = sum.Add(e.cost)
		}
	}
	return sum
}
