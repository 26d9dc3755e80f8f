package site

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
)

// A runView is a run in a list. Times are in ms since 1970.
type runView struct {
	ID      string       `json:"id"`
	Topic   string       `json:"topic"`
	Status  agent.Status `json:"status"`
	Created int64        `json:"created"`
	Updated int64        `json:"updated"`
	Pending int          `json:"pending,omitempty"` // decisions that it waits for
	Legs    []ledger.Leg `json:"legs"`
}

// list returns the runs that have changed most recently.
func (s *server) list(ctx context.Context, f agent.SessionFilter) ([]runView, error) {
	all, index := []runView{}, make(map[string]int)
	f.Prefix = prefix
	var ids []string
	for info, err := range s.Agent.Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		index[info.Session] = len(all)
		all = append(all, viewOf(&info))
		ids = append(ids, info.Session)
	}
	legs, err := s.Ledger.Legs(ctx, ids...)
	for _, g := range legs {
		v := &all[index[g.Session]]
		v.Legs = append(v.Legs, g)
	}
	return all, err
}

func viewOf(info *agent.SessionInfo) runView {
	return runView{ID: info.Session, Topic: info.Title, Status: info.Status, Created: info.Created.UnixMilli(),
		Updated: info.Updated.UnixMilli(), Pending: info.Pending, Legs: []ledger.Leg{}}
}

// A workerView is a worker and what it does.
type workerView struct {
	ledger.Worker
	Runs []doing `json:"runs"`
}

type doing struct {
	ID    string `json:"id"`
	Topic string `json:"topic"`
	Now   string `json:"now"`
}

// operations is what the first page shows.
type operations struct {
	Now     int64         `json:"now"`
	Counts  work.Counts   `json:"counts"`
	Rates   []int         `json:"rates"` // runs that have ended, in 30 times 2 s
	Workers []workerView  `json:"workers"`
	Runs    []runView     `json:"runs"` // the newest first
	Totals  ledger.Totals `json:"totals"`
	Lost    int           `json:"lost"`
	Chaos   bool          `json:"chaos"`
	Auto    bool          `json:"auto"`
	CanKill bool          `json:"canKill"`
	Lease   int64         `json:"lease"`
	Oldest  int64         `json:"oldest,omitempty"` // when the queued run that has waited longest was due
	Away    int64         `json:"away,omitempty"`   // since when the database doesn't answer: all else is older
}

const (
	mostRuns    = 24
	bucket      = 2 * time.Second
	buckets     = 30
	workersGone = 8 * time.Second // how long a worker that has ended is shown
)

// operations returns what the first page shows. While the database doesn't answer, that is what was
// read last, with the time since then.
func (s *server) operations(ctx context.Context) (any, error) {
	o, err := s.read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.last, s.away = o, time.Time{}
	case ctx.Err() != nil || s.last == nil:
		return nil, err
	case s.away.IsZero():
		s.away = time.Now()
		s.Logger.Error("the operations can't be read; the page shows the last ones until it works", "error", err)
	}
	shown := *s.last
	if !s.away.IsZero() {
		shown.Away = s.away.UnixMilli()
	}
	return &shown, nil
}

func (s *server) read(ctx context.Context) (*operations, error) {
	stats, err := s.Worker.Stats(ctx)
	if err != nil {
		return nil, err
	}
	o := &operations{Now: time.Now().UnixMilli(), Counts: stats.Counts, Chaos: s.Chaos, Auto: s.Auto,
		CanKill: s.Kill != nil, Lease: s.Lease.Milliseconds(), Workers: []workerView{}}
	if !stats.Oldest.IsZero() {
		o.Oldest = stats.Oldest.UnixMilli()
	}
	if o.Rates, err = s.Ledger.Rates(ctx, buckets, bucket); err != nil {
		return nil, err
	}
	if o.Totals, o.Lost, _, err = Count(ctx, s.Agent, s.Ledger); err != nil {
		return nil, err
	}
	if o.Runs, err = s.list(ctx, agent.SessionFilter{Limit: mostRuns}); err != nil {
		return nil, err
	}
	slices.SortStableFunc(o.Runs, func(a, b runView) int { return int(b.Created - a.Created) })
	runs := make(map[int][]doing)
	for _, r := range o.Runs {
		for _, g := range r.Legs {
			if g.Open {
				runs[g.Worker] = append(runs[g.Worker], doing{r.ID, r.Topic, g.Now})
			}
		}
	}
	workers, err := s.Ledger.Workers(ctx, workersGone)
	for _, w := range workers {
		o.Workers = append(o.Workers, workerView{w, append([]doing{}, runs[w.ID]...)})
	}
	return o, err
}

// A deadView is a run that has failed for good.
type deadView struct {
	runView
	Reason  string `json:"reason"`
	Code    string `json:"code"`
	Steps   int    `json:"steps"`
	Retries int    `json:"retries"`
	Stays   string `json:"stays,omitempty"` // why it can't be retried
}

func (s *server) dead(ctx context.Context) (any, error) {
	all := []deadView{}
	for d, err := range s.Worker.Dead(ctx, agent.SessionFilter{Prefix: prefix, Limit: 100}) {
		if err != nil {
			return nil, err
		}
		all = append(all, deadView{runView: viewOf(&d.SessionInfo), Reason: d.Result.Reason, Code: d.Result.Code,
			Steps: d.Result.Steps, Retries: d.Retries, Stays: d.Stays})
	}
	return all, nil
}

// metrics answers in the text format of Prometheus.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	stats, err := s.Worker.Stats(r.Context())
	if err != nil {
		serve.Problem(err).ServeHTTP(w, r)
		return
	}
	t, lost, _, err := Count(r.Context(), s.Agent, s.Ledger)
	if err != nil {
		serve.Problem(err).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	fmt.Fprintf(w, `# HELP reports_runs Runs by status.
# TYPE reports_runs gauge
reports_runs{status="queued"} %d
reports_runs{status="running"} %d
reports_runs{status="waiting"} %d
reports_runs{status="failed"} %d
`, stats.Queued, stats.Running, stats.Waiting, stats.Failed)
	for name, n := range map[string]int{"ended": t.Ended, "kills": t.Kills, "effects": t.Effects,
		"attempts": t.Attempts, "repeated": t.Repeated, "lost": lost} {
		fmt.Fprintf(w, "# TYPE reports_%s_total counter\nreports_%[1]s_total %d\n", name, n)
	}
}
