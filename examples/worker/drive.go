package main

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

// leg is how long a worker keeps a run before another one gets its place.
const leg = 20 * time.Second

// newWorker returns a worker of this process, and what it tells the ledger.
func (p *program) newWorker(ctx context.Context) (*work.Worker, *report.Signs, error) {
	id, err := p.ledger.Join(ctx, os.Getpid())
	if err != nil {
		return nil, nil, err
	}
	a, err := p.newAgent(id)
	if err != nil {
		return nil, nil, err
	}
	s := report.NewSigns(p.ledger, id, p.log)
	w, err := work.New(work.Config{Agents: []*agent.Agent{a}, Parallel: 4, Leg: agent.Leg{Time: leg},
		Poll: min(time.Second, p.lease/4), OnEvent: s.Event, Logger: p.log,
		Ended: func(ctx context.Context, r *agent.Result) error { return report.Ended(ctx, p.ledger, r) }})
	return w, s, err
}

// drive drives runs until ctx ends. Those in progress pause then, and another worker goes on.
func (p *program) drive(ctx context.Context, w *work.Worker, s *report.Signs) error {
	var beating sync.WaitGroup
	defer beating.Wait()
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	beating.Go(func() { s.Beat(working) })
	return w.Run(ctx)
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
