package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/tools"
)

// queuedPrefix begins the names of sessions that only workers drive.
const queuedPrefix = "q-"

// tenant returns the label of the queued runs of a session; "" for those of sessions that others
// drive, too.
func tenant(session string) string {
	if !strings.HasPrefix(session, queuedPrefix) {
		return ""
	}
	return fmt.Sprint("t", len(session)%2, session[len(session)-1]%2)
}

// perTenant is how many runs of a tenant are driven at a time, but for the processes that look at
// the same moment.
func (w *world) perTenant() int { return 1 + int(w.program.seed%2) }

// queues reports whether inputs are queued, so that processes have workers.
func (p *program) queues() bool {
	for i := range p.ops {
		if p.ops[i].kind == opEnqueue {
			return true
		}
	}
	return false
}

// startWorker starts the worker of the process, if the program has work for it.
func (p *process) startWorker() {
	p.workerEnded = make(chan struct{})
	if !p.program.queues() || p.number > processes {
		close(p.workerEnded)
		return
	}
	seed := p.program.seed
	cfg := work.Config{Agents: []*agent.Agent{p.agent}, Parallel: 1 + int(seed%4),
		PerLabel: map[string]int{"tenant": p.perTenant()}, Poll: 1700 * time.Millisecond, Ended: p.ended,
		Leg: agent.Leg{Steps: int(seed / 2 % 4), Grace: time.Second}}
	if seed%3 == 0 {
		cfg.Leg.Time = 6 * time.Second
	}
	if p.number < processes && seed%5 == 0 {
		cfg.Rules = []work.Rule{{Status: agent.Failed, After: 9 * time.Second, Do: work.Retry},
			{Status: agent.Paused, After: 40 * time.Second, Do: work.Cancel}}
	}
	worker, err := work.New(cfg)
	if err != nil {
		panic(err)
	}
	p.worker = worker
	ctx, stop := context.WithCancel(p.ctx)
	p.stopWorker = stop
	go func() {
		defer close(p.workerEnded)
		if err := worker.Run(ctx); err != nil {
			p.fail("a worker of %s ends with %v", p.name, err)
		}
	}()
}

// drainWorker ends the worker of the process politely.
func (p *process) drainWorker() {
	if p.worker == nil {
		return
	}
	p.stopWorker()
	select {
	case <-p.workerEnded:
	case <-p.died:
	case <-time.After(10 * time.Minute):
		p.fail("the worker of %s doesn't end", p.name)
	}
}

// ended is told of the ends of queued runs. It fails now and then, before or after it has recorded
// one.
func (p *process) ended(ctx context.Context, r *agent.Result) error {
	key, n := p.count("ended %s", r.Session)
	if err := p.wait(ctx, 1+p.within(time.Second, p.name, key, n)); err != nil {
		return err
	}
	chance := p.draw(p.name, "receiver", key, n) % 4
	if p.number < processes && chance == 0 {
		return errors.New("the receiver is down")
	}
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	if p.dead() {
		return errKilled
	}
	p.note("%s: told that %s %s is %s", p.name, r.Session, r.Run, r.Status)
	if !p.hasEnded(r) {
		p.failLocked("%s was told that run %s of %s is %s, which its log doesn't say", p.name, r.Run, r.Session, r.Status)
	}
	p.told[r.Run] = append(p.told[r.Run], r.Status)
	if p.number < processes && chance == 1 {
		return errors.New("the receiver's answer is lost")
	}
	return nil
}

// hasEnded reports whether a log says that a run has ended so. The caller holds mu.
func (w *world) hasEnded(r *agent.Result) bool {
	for _, l := range w.kept[r.Session] {
		for _, f := range l.facts {
			if end, ok := f.(*machine.RunEnded); ok && end.Run() == r.Run && end.Status == r.Status &&
				end.Code == r.Code {
				return true
			}
		}
	}
	return false
}

// enqueue queues an input.
func (p *process) enqueue(ctx context.Context, o *op) error {
	in := agent.Input{Session: o.session, Prompt: prompt(o.script), Key: o.script, User: "ann",
		Priority: 40 + int(o.pick%3)*20, Tools: []tools.Tool{external}}
	if t := tenant(o.session); t != "" {
		in.Labels = map[string]string{"tenant": t}
	}
	q := agent.QueueOptions{Attempts: 1 + int(o.pick%4)}
	if o.pick%2 == 0 {
		q.At = time.Now().Add(time.Duration(o.pick % uint64(25*time.Second)))
	}
	err := p.agent.Enqueue(ctx, in, q)
	if err == nil {
		p.worker.Wake(o.session)
	}
	return err
}

// hostContinues notes that a session may be continued by a host, which doesn't wait for the time of
// a queued run, nor for a place of its label.
func (w *world) hostContinues(session string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosted[session] = true
}

// noteQueue follows whether the newest run of a log is queued, or was started by a worker and is
// driven. The caller holds mu.
func (w *world) noteQueue(l *log, f machine.Fact) {
	switch f := f.(type) {
	case *machine.RunStarted:
		l.queued, l.driven = nil, false
		if f.Queue != nil {
			l.queued = &f.Queue.At
		}
	case *machine.RunEnded:
		l.queued, l.driven = nil, false
		if f.Code == machine.CodeQueued {
			l.queued = &f.At
		}
	case *machine.Continued:
		if l.queued != nil && !w.hosted[l.session] {
			w.checkStart(l, *l.queued)
		}
		l.queued = nil
	}
}

// checkStart looks at the start of a queued run by a worker.
func (w *world) checkStart(l *log, at time.Time) {
	if now := time.Now(); now.Before(at) {
		w.failLocked("%s: a queued run is started %v before its time", l.session, at.Sub(now))
	}
	own := tenant(l.session)
	if own == "" {
		return
	}
	l.driven = true
	n := 0
	for session := range w.kept {
		if tenant(session) == own && w.newest(session, false).driven {
			n++
		}
	}
	if most := w.perTenant() + processes - 1; n > most {
		w.failLocked("%s: %d runs of %s are driven, at most %d may be", l.session, n, own, most)
	}
}

// checkEnds wants the host to have been told of the ends of queued runs before the log says so, and
// how each of them has ended at last. The caller holds mu.
func (s *simulation) checkEnds(l *log, exists bool) {
	m := machine.New(l.session)
	last := make(map[string]agent.Status)
	for _, f := range l.facts {
		if d, ok := f.(*machine.Delivered); ok {
			if len(s.told[d.Ended]) == 0 {
				s.failLocked("%s: the end of %s is delivered, and nobody was told", l.session, d.Ended)
			}
		}
		if m.Apply(f) != nil {
			return // the replay of logs is checked elsewhere
		}
		run := m.State().Run
		if end, ok := f.(*machine.RunEnded); ok && run.Queue != nil && end.Code != machine.CodeContextReset &&
			!m.State().Totals.Copied {
			if last[run.ID] = end.Status; end.Status == agent.Paused {
				delete(last, run.ID)
			}
		}
	}
	if !exists {
		return
	}
	if n := len(m.State().Ends); n > 0 {
		s.failLocked("%s: %d ends aren't delivered", l.session, n)
	}
	for run, status := range last {
		if told := s.told[run]; len(told) == 0 || told[len(told)-1] != status {
			s.failLocked("%s: run %s is %s, and the host was told %v", l.session, run, status, told)
		}
	}
}

// forWorker reports whether a worker has to end an open run, without a host: not one that a host
// has paused, or whose tools may be gone.
func (p *process) forWorker(ctx context.Context, info *agent.SessionInfo) bool {
	if tenant(info.Session) == "" || p.program.has("source") {
		return false
	}
	pending, err := p.agent.Session(info.Session).Pending(ctx)
	return info.Status == agent.Running || err != nil || len(pending) > 0
}

// undelivered returns a session whose end wasn't delivered; "" if there is none.
func (s *simulation) undelivered() string {
	if !s.program.queues() {
		return ""
	}
	for h, err := range s.store.Heads(context.Background(), journal.Filter{NoKind: true, NoParent: true}) {
		switch agent.Status(h.Status) {
		case agent.Completed, agent.Stopped, agent.Failed:
			if err == nil && !h.Due.IsZero() {
				return h.Session
			}
		}
	}
	return ""
}
