package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

// signs are what a worker tells the ledger about itself, for the page.
type signs struct {
	ledger *ledger.Ledger
	worker int
	log    *slog.Logger

	mu      sync.Mutex           // guards what follows
	current map[string]*legSigns // by session
	news    []*legSigns          // those that aren't over, or whose end the ledger doesn't know
}

// A legSigns is a run that the worker drives, or did.
type legSigns struct {
	session string
	since   time.Time
	id      int // in the ledger; only flush uses it

	over time.Time // guarded by signs.mu, as now
	now  string    // what is being done
}

// event notes an event of a run.
func (s *signs) event(session string, ev agent.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.current[session]
	_, over := ev.(*agent.RunEnded)
	switch {
	case g == nil && over:
		return
	case g == nil:
		g = &legSigns{session: session, since: time.Now()}
		s.current[session], s.news = g, append(s.news, g)
	case over:
		g.over = time.Now()
		delete(s.current, session)
	}
	switch ev := ev.(type) {
	case *agent.StepStarted:
		g.now = "Thinking"
	case *agent.ToolStarted:
		g.now = report.StepName(ev.Call.Name)
	case *agent.Progress:
		if ev.Done > 0 {
			g.now = fmt.Sprintf("%s, %.0f %%", ev.Text, 100*ev.Done)
		}
	}
}

// beat tells the ledger until ctx ends.
func (s *signs) beat(ctx context.Context) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.flush(context.WithoutCancel(ctx))
		case <-ctx.Done():
			return
		}
	}
}

// flush tells the ledger that the worker is alive, and what is new.
func (s *signs) flush(ctx context.Context) {
	s.mu.Lock()
	news := slices.Clone(s.news)
	states := make([]legSigns, len(news))
	for i, g := range news {
		states[i] = *g
	}
	s.mu.Unlock()
	doing, told := make(map[int]string), make(map[*legSigns]bool)
	var err error
	for i, g := range news {
		if g.id == 0 {
			g.id, err = s.ledger.BeginLeg(ctx, g.session, s.worker, g.since)
		}
		if over := states[i].over; err == nil && over.IsZero() {
			doing[g.id] = states[i].now
		} else if err == nil {
			err, told[g] = s.ledger.EndLeg(ctx, g.id, over), true
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = s.ledger.Alive(ctx, s.worker, doing)
	}
	if err != nil {
		s.log.Error("worker: the ledger can't be written", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = slices.DeleteFunc(s.news, func(g *legSigns) bool { return told[g] })
}
