package main

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

const (
	// leg is how long a worker keeps a run before another one gets its place.
	leg = 20 * time.Second
	// beat is how often a worker says that it is alive, and what it does.
	beat = 250 * time.Millisecond
)

// newWorker returns a worker of this process, and what it tells the ledger.
func (p *program) newWorker(ctx context.Context) (*work.Worker, *signs, error) {
	id, err := p.ledger.Join(ctx, os.Getpid())
	if err != nil {
		return nil, nil, err
	}
	a, err := p.newAgent(id)
	if err != nil {
		return nil, nil, err
	}
	s := &signs{ledger: p.ledger, worker: id, log: p.log, current: make(map[string]*legSigns)}
	w, err := work.New(work.Config{Agents: []*agent.Agent{a}, Parallel: 4, Leg: agent.Leg{Time: leg},
		Poll: min(time.Second, p.lease/4), OnEvent: s.event, Logger: p.log,
		Ended: func(ctx context.Context, r *agent.Result) error { return ended(ctx, p.ledger, r) }})
	return w, s, err
}

// ended records the end of a run, and whether all of its effects are there.
func ended(ctx context.Context, l *ledger.Ledger, r *agent.Result) error {
	missing := 0
	if r.Status == agent.Completed {
		_, n, err := l.EffectsOf(ctx, r.Session)
		if err != nil {
			return err
		}
		missing = max(0, report.Expected(r)-n)
	}
	return l.End(ctx, r.Session, r.Start, string(r.Status), missing)
}

// drive drives runs until ctx ends. Those in progress pause then, and another worker goes on.
func (p *program) drive(ctx context.Context, w *work.Worker, s *signs) error {
	var beating sync.WaitGroup
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	beating.Go(func() { s.beat(working) })
	err := w.Run(ctx)
	stop()
	beating.Wait()
	ctx = context.WithoutCancel(ctx)
	s.flush(ctx)
	return errors.Join(err, p.ledger.Left(ctx, s.worker, ledger.Stopped))
}

// driveAlone is a worker process. It ends when the process that has started it ends: that closes
// its standard input.
func (p *program) driveAlone(ctx context.Context, in io.Reader) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	w, s, err := p.newWorker(ctx)
	if err != nil {
		return err
	}
	return p.drive(ctx, w, s)
}
