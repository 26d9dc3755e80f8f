package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
	"github.com/pawlkit/pawl/examples/worker/internal/site"
)

// serve serves the page until ctx ends, with a worker of its own or over worker processes.
func (p *program) serve(ctx context.Context) (err error) {
	if p.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, p.limit)
		defer stop()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return err
	}
	defer listener.Close() // the server has closed it, unless it didn't start
	cfg := site.Config{Agent: p.agent, Ledger: p.ledger, Queue: site.InJournal(p.agent),
		Chaos: p.chaos, Auto: p.approve == "auto", Lease: p.lease, Logger: p.log}
	var tasks sync.WaitGroup
	if p.workers == 0 {
		w, s, err := p.newWorker(ctx)
		if err != nil {
			return err
		}
		cfg.Worker = w
		tasks.Go(func() {
			if err := p.drive(ctx, w, s); err != nil {
				p.log.Error("this process drives no runs", "error", err)
			}
		})
	} else {
		if cfg.Worker, err = work.New(work.Config{Agents: []*agent.Agent{p.agent}}); err != nil { // it only counts
			return err
		}
		c := &crew{p: p, all: make(map[int]*os.Process)}
		cfg.Kill = c.kill
		tasks.Go(func() { c.keep(ctx, p.workers) })
		if p.chaos {
			tasks.Go(func() { c.chaos(ctx, p.every) })
		}
	}
	cfg.Wake = cfg.Worker.Wake
	tasks.Go(func() {
		p.feed(ctx, cfg.Worker)
		stop()
	})
	if cfg.Auto {
		tasks.Go(func() { site.Edit(ctx, cfg, time.Duration(p.pace*float64(1500*time.Millisecond))) })
	}
	server := &http.Server{Handler: site.New(ctx, cfg), ReadHeaderTimeout: 10 * time.Second}
	tasks.Go(func() {
		<-ctx.Done()
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if server.Shutdown(down) != nil {
			_ = server.Close()
		}
	})
	fmt.Fprintf(p.out, "http://%s\n", listener.Addr())
	err = server.Serve(listener)
	stop()
	tasks.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, p.sum(context.WithoutCancel(ctx)))
}

// sum prints what the ledger says.
func (p *program) sum(ctx context.Context) error {
	t, lost, open, err := site.Count(ctx, p.agent, p.ledger)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%d runs, %d kills: %d repeated, %d lost (%d effects after %d attempts; %d runs go on next time)\n",
		t.Ended, t.Kills, t.Repeated, lost, t.Effects, t.Attempts, open)
	return nil
}

// feed asks for the reports of the flags, and with -chaos always for some more. With -for it
// returns when those of the flags have ended, else when ctx ends.
func (p *program) feed(ctx context.Context, w *work.Worker) {
	asked, o := 0, site.Outage{Log: p.log, Doing: "asking for reports"}
	for ctx.Err() == nil {
		open, err := p.ledger.Unended(ctx)
		for n := len(open); err == nil && (asked < p.runs || p.chaos && p.runs == 0 && n < mostOpen); n++ {
			_, err = site.Enqueue(ctx, site.InJournal(p.agent), p.ledger, report.Topic(asked), "")
			asked++
			w.Wake("")
		}
		if p.limit > 0 && p.runs > 0 && asked == p.runs && err == nil {
			if open, err = p.ledger.Unended(ctx); err == nil && len(open) == 0 {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(o.After(err, 300*time.Millisecond)):
		case <-ctx.Done():
		}
	}
}

// mostOpen is how many runs -chaos keeps open.
const mostOpen = 10
