package transcripts

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A process is one that runs agents on the store that all processes share. When it is killed, it
// doesn't reach the store any more, and its tools have no effect.
type process struct {
	w    *world
	name string

	agent *agent.Agent // made when it is used first
	ctx   context.Context
	end   context.CancelFunc
	runs  sync.WaitGroup

	mu     sync.Mutex
	point  string        // at which it is killed; empty: it isn't
	times  int           // how often the point is passed before that
	dead   chan struct{} // closed when it is killed
	killed bool
	cut    bool // it doesn't reach the store
}

func (w *world) newProcess(name string) *process {
	p := &process{w: w, name: name, dead: make(chan struct{})}
	p.ctx, p.end = context.WithCancel(context.Background())
	return p
}

// kill ends the process as a signal does.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return
	}
	p.killed, p.point = true, ""
	p.w.print(p.name, "", "the process is killed")
	close(p.dead)
	p.end() // what is under way ends, unseen
}

// at is called at the points at which a process can be killed. It reports whether the process is
// dead: then nothing may happen any more.
func (p *process) at(point string) (dead bool) {
	p.mu.Lock()
	hit := p.point != "" && p.point == point
	if hit && p.times > 0 {
		p.times--
		hit = false
	}
	p.mu.Unlock()
	if hit {
		p.kill()
	}
	return p.isDead()
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// print adds a line to the transcript, unless the process is dead.
func (p *process) print(session, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return
	}
	p.w.print(p.name, session, fmt.Sprintf(format, args...))
}

// A store is the shared store as a process reaches it. It prints the facts that are stored.
type store struct {
	journal.Store
	p *process
}

var errDead = errors.New("the process is dead")

// reach returns an error if the process doesn't reach the store.
func (s store) reach() error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	switch {
	case s.p.killed:
		return errDead
	case s.p.cut:
		return fault.New(fault.Transient, "the store can't be reached")
	}
	return nil
}

func (s store) Append(ctx context.Context, a journal.Append) error {
	for _, r := range a.Records {
		if s.p.at("before " + r.Kind) {
			return errDead
		}
	}
	if err := s.reach(); err != nil {
		return err
	}
	if err := s.Store.Append(ctx, a); err != nil {
		return err
	}
	for _, r := range a.Records {
		f, err := machine.Decode(a.Session, r)
		if err != nil {
			return err
		}
		if parent := f.Envelope().Parent(); parent != "" {
			s.p.print("", "in %s: %s", parent, s.p.w.names.fact(f))
		} else {
			s.p.print(a.Session, "%s", s.p.w.names.fact(f))
		}
	}
	for _, r := range a.Records {
		if s.p.at("after " + r.Kind) {
			return errDead
		}
	}
	return nil
}

func (s store) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := s.reach(); err != nil {
			yield(journal.Record{}, err)
			return
		}
		s.Store.Read(ctx, session, after)(yield)
	}
}

func (s store) Head(ctx context.Context, session string) (journal.Head, error) {
	if err := s.reach(); err != nil {
		return journal.Head{}, err
	}
	return s.Store.Head(ctx, session)
}

func (s store) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	if err := s.reach(); err != nil {
		return journal.Lease{}, err
	}
	return s.Store.Lease(ctx, session, owner, ttl)
}

func (s store) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if err := s.reach(); err != nil {
		return l, err
	}
	return s.Store.Renew(ctx, l, ttl)
}

func (s store) Release(ctx context.Context, l journal.Lease) error {
	if err := s.reach(); err != nil {
		return err
	}
	return s.Store.Release(ctx, l)
}

func (s store) Post(ctx context.Context, session string, it journal.Item) error {
	if err := s.reach(); err != nil {
		return err
	}
	return s.Store.Post(ctx, session, it)
}

func (s store) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	if err := s.reach(); err != nil {
		return nil, err
	}
	return s.Store.Take(ctx, session, fence)
}
