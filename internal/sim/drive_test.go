package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// A simulation is a program that is run.
type simulation struct {
	*world
	work sync.WaitGroup // all goroutines of the simulation

	live [processes]*process // guarded by world.mu
	all  []*process          // that were started; guarded by world.mu
}

// simulate runs a program and returns what is wrong. The ids that agents make up are the same each
// time.
func simulate(t *testing.T, p *program, trace func(string, ...any)) (wrong []string) {
	t.Run(fmt.Sprint(p.seed), func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, p.seed)
		defer func() {
			if v := recover(); v != nil {
				stacks := make([]byte, 1<<20)
				wrong = append(wrong, fmt.Sprintf("panic: %v\n%s", v, stacks[:runtime.Stack(stacks, true)]))
			}
		}()
		synctest.Test(t, func(*testing.T) {
			s := &simulation{world: newWorld(p, trace)}
			s.play()
			s.settle()
			wrong = s.wrong
		})
	})
	return wrong
}

// play runs the operations of the program at their times, and waits for their end.
func (s *simulation) play() {
	for i := range s.live {
		p := s.start(i, fmt.Sprintf("p%d.0", i))
		s.mu.Lock()
		s.live[i] = p
		s.mu.Unlock()
	}
	var ops sync.WaitGroup
	for i := range s.program.ops {
		o := &s.program.ops[i]
		time.Sleep(time.Until(s.began.Add(o.at)))
		s.mu.Lock()
		p := s.live[o.process]
		s.mu.Unlock()
		if p == nil {
			continue // the next one hasn't started yet
		}
		s.note("%s: %s", p.name, o)
		switch o.kind {
		case opKill, opDrain, opClose:
			s.mu.Lock()
			s.live[o.process] = nil
			s.mu.Unlock()
			s.work.Go(func() { s.replace(p, o) })
		case opSlow, opRefuse, opLose, opStall, opClock:
			p.set(o.kind, o.length)
		default:
			ops.Go(func() { p.perform(o) })
		}
	}
	ended := make(chan struct{})
	go func() {
		ops.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		// what is left waits for something that no process does
		s.killAll()
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Minute):
		stacks := make([]byte, 1<<20)
		s.fail("operations hang:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
}

// killAll kills all processes that are alive.
func (s *simulation) killAll() {
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	for _, p := range live {
		if p != nil {
			p.kill()
		}
	}
}

// replace ends a process and starts another one.
func (s *simulation) replace(p *process, o *op) {
	switch o.kind {
	case opKill:
		if at := trap(o.pick % uint64(traps)); at != anywhere {
			p.mu.Lock()
			p.trap = at
			p.mu.Unlock()
			_ = p.wait(context.Background(), 15*time.Second)
		}
	case opDrain:
		if o.pick%3 > 0 {
			p.drainWorker()
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*o.length)
		err := p.agent.Drain(ctx)
		cancel()
		s.note("%s: drained: %v", p.name, err)
	case opClose:
		err := p.hub.Close()
		s.note("%s: closed: %v", p.name, err)
	}
	p.kill()
	time.Sleep(o.length)
	var generation int
	_, _ = fmt.Sscanf(p.name, fmt.Sprintf("p%d.%%d", o.process), &generation)
	next := s.start(o.process, fmt.Sprintf("p%d.%d", o.process, generation+1))
	s.mu.Lock()
	s.live[o.process] = next
	s.mu.Unlock()
}

// settle ends all processes, drives what is left open to its end with a healthy one, and looks at
// what came of it.
func (s *simulation) settle() {
	time.Sleep(20 * time.Second) // processes that are being replaced

	// a process that was stopped politely may be replaced later than that
	for range 2 {
		s.killAll()
		s.work.Wait()
	}
	time.Sleep(2 * lease)
	p := s.start(processes, "healthy")
	s.finishPlans(p)
	s.finish(p)
	s.check(p)
	if err := p.hub.Close(); err != nil {
		s.fail("a hub without runs is closed: %v", err)
	}
	p.kill()
	s.work.Wait()
	s.mu.Lock()
	all := s.all
	s.mu.Unlock()
	for _, p := range all {
		if n := p.spans.open.Load(); n != 0 {
			s.fail("%d spans of %s haven't ended", n, p.name)
		}
	}
}

// storedFacts returns how many facts all sessions have stored.
func (s *simulation) storedFacts() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, all := range s.kept {
		for _, l := range all {
			n += len(l.facts)
		}
	}
	return n
}

// finish drives all sessions to their ends. It gives up when nothing was stored in 100 rounds, or
// after 1,000: a run of a worker may take many, which are of 2 s.
func (s *simulation) finish(p *process) {
	ctx := context.Background()
	var open string
	stored, since := 0, 0
	for round := range 1_000 {
		if now := s.storedFacts(); now != stored {
			stored, since = now, round
		} else if round-since > 100 {
			break
		}
		_, err := p.agent.Recover(ctx, agent.Recovery{Each: func(r agent.Recovered) {
			var changed *agent.ChangedError
			if r.Result == nil && !errors.As(r.Err, &changed) {
				s.fail("%s isn't recovered: %v", r.Session, r.Err)
			}
		}})
		if err != nil {
			s.fail("recover: %v", err)
		}
		open = ""
		for info, err := range p.agent.Sessions(ctx, agent.SessionFilter{}) {
			if err != nil {
				s.fail("a session is listed with an error: %v", err)
				continue
			}
			if info.Status != agent.Running && info.Status != agent.Paused && info.Status != agent.Queued {
				continue
			}
			open = fmt.Sprintf("%s is %s", info.Session, info.Status)
			if info.Status == agent.Queued {
				continue // for the worker
			}
			if err := p.decide(ctx, info.Session, s.draw("finish", round, info.Session), false); err != nil {
				s.note("healthy: decide: %v", err)
			}
			if p.forWorker(ctx, &info) {
				continue
			}
			s.hostContinues(info.Session)
			in := agent.Continue(info.Session)
			in.AcceptChanges = true // tools of the source may be gone
			if s.draw("leg", round)%2 == 0 {
				got, err := p.agent.Advance(ctx, in, agent.Leg{Steps: 5})
				s.note("healthy: advanced %s: %s %v", info.Session, got.Next, err)
				continue
			}
			_, err := p.agent.Run(ctx, in)
			s.note("healthy: continue %s: %v", info.Session, err)
		}
		if session := s.undelivered(); open == "" && session != "" {
			open = "the end of " + session + " isn't delivered"
		}
		if open == "" {
			time.Sleep(time.Second) // the worker lets go of the session
			return
		}
		time.Sleep(2 * time.Second)
	}
	s.fail("a run doesn't end: %s", open)
}
