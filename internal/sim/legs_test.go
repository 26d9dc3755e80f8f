package sim

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// recovered looks at what Recover says of a session.
func (p *process) recovered(r agent.Recovered) {
	p.note("%s: recovered %s: %v", p.name, r.Session, r.Err)
}

// advance drives a run in legs as a job queue does: each job is a leg, and queues the next. Some
// legs are cut off.
func (p *process) advance(ctx context.Context, o *op, in agent.Input) error {
	for n := uint64(0); n < 30; n++ {
		pick := p.draw("leg", o.pick, n)
		leg := agent.Leg{Steps: int(pick % 4), Grace: time.Second}
		if pick%3 == 0 {
			leg.Time = time.Duration(pick % uint64(6*time.Second))
		}
		own, cancel := context.WithCancel(ctx)
		if pick%5 == 0 {
			own, cancel = context.WithTimeout(ctx, time.Duration(pick%uint64(7*time.Second)))
		}
		got, err := p.agent.Advance(own, in, leg)
		cancel()
		if p.dead() {
			return errKilled
		}
		p.note("%s: a leg of %s: %s at %v: %v", p.name, o.session, got.Next, got.At.Sub(p.began), err)
		p.progressed(o, got, err)
		if err == nil && (got.Next == agent.NextEnded || got.At.IsZero()) {
			return nil
		}
		wait := 3 * time.Second
		if !got.At.IsZero() {
			wait = time.Until(got.At)
		}
		if err := p.wait(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

// progressed looks at what Advance says.
func (p *process) progressed(o *op, got agent.Progressed, err error) {
	status := agent.Status("")
	if got.Result != nil {
		status = got.Result.Status
	}
	open := status == agent.Running || status == agent.Paused
	switch {
	case err != nil && got.Next == "":
	case err != nil:
		p.fail("Advance returns %s and %v", got.Next, err)
	case got.Next == agent.NextEnded && (got.Result == nil || open):
		p.fail("a leg of %s has ended its run, which is %q", o.session, status)
	case got.Next == agent.NextWait && status != agent.Paused:
		p.fail("a leg of %s waits for a decision, and its run is %q", o.session, status)
	case got.At.IsZero() != (got.Key == ""):
		p.fail("a leg of %s: At is %v, and Key %q", o.session, got.At, got.Key)
	case got.Next != agent.NextEnded && got.Next != agent.NextWait && time.Until(got.At) < 900*time.Millisecond:
		p.fail("a leg of %s has to follow in %v", o.session, time.Until(got.At))
	}
}

// earlier returns the number of the fact that started a run of the session; one that there may not
// be if it has none.
func (p *process) earlier(o *op) uint64 {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	var starts []uint64
	if all := p.kept[o.session]; len(all) > 0 {
		for _, f := range all[len(all)-1].facts {
			if s, ok := f.(*machine.RunStarted); ok && s.ContextReset == nil {
				starts = append(starts, s.Envelope().Seq)
			}
		}
	}
	if len(starts) == 0 {
		return 1
	}
	return starts[o.pick%uint64(len(starts))]
}
