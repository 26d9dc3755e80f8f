package report

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
)

// Signs are what a worker tells the ledger about itself, for the page. They are safe for concurrent
// use.
type Signs struct {
	ledger *ledger.Ledger
	worker int
	log    *slog.Logger

	mu      sync.Mutex           // guards what follows
	current map[string]*legSigns // by session
	news    []*legSigns          // those that aren't over, or whose end the ledger doesn't know
}

// NewSigns returns the signs of a worker.
func NewSigns(l *ledger.Ledger, worker int, log *slog.Logger) *Signs {
	return &Signs{ledger: l, worker: worker, log: log, current: make(map[string]*legSigns)}
}

// A legSigns is a run that the worker drives, or did.
type legSigns struct {
	session string
	since   time.Time
	id      int // in the ledger; only flush uses it

	over time.Time // guarded by Signs.mu, as now
	now  string    // what is being done
}

// Event notes an event of a run.
func (s *Signs) Event(session string, ev agent.Event) {
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
		g.now = StepName(ev.Call.Name)
	case *agent.Progress:
		if ev.Done > 0 {
			g.now = fmt.Sprintf("%s, %.0f %%", ev.Text, 100*ev.Done)
		}
	}
}

// beat is how often a worker says that it is alive, and what it does.
const beat = 250 * time.Millisecond

// Beat tells the ledger regularly until ctx ends, and then that the worker has stopped.
func (s *Signs) Beat(ctx context.Context) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.flush(context.WithoutCancel(ctx))
		case <-ctx.Done():
			ctx = context.WithoutCancel(ctx)
			s.flush(ctx)
			if err := s.ledger.Left(ctx, s.worker, ledger.Stopped); err != nil {
				s.log.Error("worker: the ledger can't be written", "error", err)
			}
			return
		}
	}
}

// flush tells the ledger that the worker is alive, and what is new.
func (s *Signs) flush(ctx context.Context) {
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
