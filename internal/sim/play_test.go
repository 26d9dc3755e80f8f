package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// perform performs an operation on a process that is alive.
func (p *process) perform(o *op) {
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Minute)
	defer cancel()
	s := p.agent.Session(o.session)
	err := error(nil)
	switch o.kind {
	case opRun, opHub, opLeave, opExpire, opAdvance, opReplace:
		err = p.begin(ctx, o)
	case opContinue:
		p.hostContinues(o.session)
		in := agent.Continue(o.session)
		in.AcceptChanges = o.pick%2 == 0
		_, err = p.agent.Run(ctx, in)
	case opRecover:
		_, err = p.agent.Recover(ctx, agent.Recovery{Each: p.recovered})
	case opDecide, opResume:
		err = p.decide(ctx, o.session, o.pick, o.kind == opResume)
	case opForge:
		err = p.forge(ctx, o)
	case opSteer:
		err = p.steer(ctx, o)
	case opCancel:
		err = s.Cancel(ctx)
	case opStop:
		err = s.Stop(ctx)
	case opPause:
		err = s.Pause(ctx)
	case opCall:
		for _, c := range p.program.scripts[o.script].first() {
			in := agent.CallTool(o.session, c.tool, order{c.n})
			in.Key = o.script
			_, err = p.agent.Run(ctx, in)
		}
	case opMode:
		err = s.SetMode(ctx, []string{"one", "two"}[o.pick%2])
	case opCompact:
		_, err = s.Compact(ctx, int(o.pick%3000))
	case opRevoke:
		err = s.Revoke(ctx, "wire", "bob")
	case opTitle:
		err = s.SetTitle(ctx, fmt.Sprint("title ", o.pick%100))
	case opFork:
		p.hostContinues(o.to) // a copy has the starts of the original
		err = s.Fork(ctx, o.to, o.pick%30)
	case opUndo:
		_, err = s.Undo(ctx, agent.Rollback{Steps: int(o.pick % 3), User: "ann"})
	case opPrune:
		_, err = s.Prune(ctx)
	case opDelete:
		err = s.Delete(ctx)
	case opMove:
		p.hostContinues(o.to)
		var b bytes.Buffer
		if err = s.Export(ctx, &b); err == nil {
			err = p.agent.Session(o.to).Import(ctx, &b)
		}
	case opWatch:
		p.watch(ctx, o)
	case opPlan:
		err = p.startPlan(ctx, o)
	case opDecidePlan:
		err = p.decidePlan(ctx, o.to, o.pick)
	case opEndPlan:
		err = p.endPlan(ctx, o)
	case opEnqueue:
		err = p.enqueue(ctx, o)
	case opRetry:
		err = s.Retry(ctx)
	case opTake:
		err = p.takeOne(ctx, o)
	}
	p.note("%s: %s %s: %v", p.name, o.kind, o.session, err)
}

// begin starts a run. If the session is busy, it tries again, with the same key.
func (p *process) begin(ctx context.Context, o *op) error {
	in := agent.Input{Session: o.session, Prompt: prompt(o.script), Key: o.script, Supersede: o.pick%3 == 0,
		Interactive: o.pick%2 == 0, User: "ann", Children: o.pick%5 == 0, Tools: []tools.Tool{external}}
	switch o.kind {
	case opExpire:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(o.pick%uint64(8*time.Second)))
		defer cancel()
	case opReplace:
		in.Replaces, in.Supersede = p.earlier(o), false
	case opAdvance:
		return p.advance(ctx, o, in)
	}
	for tries := 0; ; tries++ {
		err := p.beginOnce(ctx, o, in)
		if !errors.Is(err, agent.ErrBusy) || tries == 3 || ctx.Err() != nil {
			return err
		}
		_ = p.wait(ctx, 3*time.Second)
	}
}

func (p *process) beginOnce(ctx context.Context, o *op, in agent.Input) (err error) {
	switch o.kind {
	case opHub:
		started, err := p.hub.Start(ctx, in)
		if err == nil {
			select {
			case <-started.Done:
			case <-p.died:
			}
		}
		return err
	case opLeave:
		left := o.pick % 40
		for _, e := range p.agent.Stream(ctx, in) {
			if err = e; left == 0 {
				break
			}
			left--
		}
		return err
	}
	res, err := p.agent.Run(ctx, in)
	if (err == nil) != (res != nil && res.Status == agent.Completed) {
		p.fail("a run returned %v, and the result %+v", err, res)
	}
	return err
}

// steer sends a message, and waits for its receipt.
func (p *process) steer(ctx context.Context, o *op) error {
	text := fmt.Sprintf("note %d", o.pick)
	var key []string
	if o.pick%2 == 0 {
		key = []string{text}
	}
	r, err := p.agent.Session(o.session).Steer(ctx, text, key...)
	if err != nil {
		return err
	}
	step, err := r.Wait(ctx)
	if err != nil || p.dead() {
		return err
	}
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	for _, l := range p.kept[o.session] {
		for _, f := range l.facts {
			if s, ok := f.(*machine.Steered); ok && s.Message.Text() == text {
				return nil
			}
		}
	}
	p.failLocked("the message %q to %s was delivered in step %d, but isn't in its log", text, o.session, step)
	return nil
}

// A reading is what a reader was shown of a session.
type reading struct {
	session string
	after   uint64
	facts   map[uint64]string
	seqs    []uint64
}

// watch reads some facts of a session, from where another reader of it has left off.
func (p *process) watch(ctx context.Context, o *op) {
	r := &reading{session: o.session, facts: make(map[uint64]string)}
	p.world.mu.Lock()
	if o.pick%2 == 0 {
		for _, other := range p.readers {
			if n := len(other.seqs); other.session == o.session && n > 0 {
				r.after = other.seqs[n-1]
			}
		}
	}
	p.world.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(o.pick%uint64(40*time.Second)))
	defer cancel()
	events := p.hub.Watch(ctx, o.session, r.after)
	if o.pick%3 == 0 {
		events = p.agent.Session(o.session).Watch(ctx, r.after)
	}
	left := o.pick % 60
	for ev, err := range events {
		if err != nil {
			break
		}
		f, ok := ev.(machine.Fact)
		if !ok || f.Envelope().Session() != o.session {
			continue
		}
		seq := f.Envelope().Seq
		r.facts[seq], r.seqs = shown(f), append(r.seqs, seq)
		if left--; left == 0 {
			break
		}
	}
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	p.readers = append(p.readers, r)
}

// decide decides on what a session waits for.
func (p *process) decide(ctx context.Context, session string, pick uint64, resume bool) error {
	s := p.agent.Session(session)
	pending, err := s.Pending(ctx)
	if err != nil {
		return err
	}
	var all []agent.Decision
	for i := range pending {
		if pick%5 == 0 && i > 0 {
			break // not all at once
		}
		if d, ok := p.decision(&pending[i], pick+uint64(i)); ok {
			all = append(all, d.By("ann"))
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case resume:
		_, err = p.agent.Run(ctx, agent.Resume(session, all...))
	default:
		err = s.Decide(ctx, all...)
	}
	return err
}

// decision decides on a pause. Of a call in doubt it finds out what has happened, and waits while
// the call may still be executed.
func (p *process) decision(pause *agent.Pause, pick uint64) (d agent.Decision, ok bool) {
	switch pause.Kind {
	case agent.PauseInDoubt:
		var in order
		_ = json.Unmarshal(pause.Call.Input, &in)
		done, flying := p.acted(in.N)
		switch {
		case flying:
			return d, false
		case done:
			return agent.Answer(pause.ID, "it was done"), true
		case pick%4 == 0:
			return agent.Reject(pause.ID, "leave it"), true
		}
		return agent.Approve(pause.ID), true
	case agent.PauseApproval:
		switch pick % 7 {
		case 0:
			return agent.Reject(pause.ID, "no"), true
		case 1:
			return agent.Suggest(pause.ID, "something else"), true
		case 2:
			return agent.Edit(pause.ID, order{100_000 + int(pick%1000)}), true
		case 3:
			if pause.Always {
				return agent.AllowAlways(pause.ID), true
			}
		}
		return agent.Approve(pause.ID), true
	}
	if pick%6 == 0 {
		return agent.Reject(pause.ID, "no"), true
	}
	return agent.Answer(pause.ID, "seven"), true
}

// forge decides with an id that was never given, or is that of another session, or was used before.
func (p *process) forge(ctx context.Context, o *op) error {
	id := fmt.Sprintf("p-%d", o.pick)
	p.world.mu.Lock()
	for session, all := range p.kept {
		for _, l := range all {
			for _, f := range l.facts {
				switch f := f.(type) {
				case *machine.Suspended:
					if session != o.session && o.pick%3 == 0 && f.Pause.Kind != machine.PauseAgent &&
						!strings.HasPrefix(session, machine.ChildPrefix) { // those are decided in the parent's
						id = f.Pause.ID
					}
				case *machine.Decided:
					if session == o.session && o.pick%3 == 1 && l == all[len(all)-1] {
						id = f.Decision.ID
					}
				}
			}
		}
	}
	p.world.mu.Unlock()
	d := []agent.Decision{agent.Approve(id), agent.AllowAlways(id), agent.Edit(id, order{7}), agent.Answer(id, "x"),
		agent.Reject(id, "x")}[o.pick/7%5]
	err := p.agent.Session(o.session).Decide(ctx, d)
	if err == nil {
		p.fail("the decision %s on %s in %s was taken", d.Kind, id, o.session)
	}
	return err
}
