package durable

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the effects are in a file of it

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

const (
	// Session is the session of the run.
	Session = "s"
	// Steps is how many model calls make tool calls; one more ends the run.
	Steps = 12
	lease = 150 * time.Millisecond
)

// An Order is the input of the tools: N is another for every call.
type Order struct {
	N int `json:"n"`
}

// A World is where the effects are.
type World struct{ db *sql.DB }

// OpenWorld opens the effects of a directory.
func OpenWorld(dir string) (*World, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "effects.db")+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS paid (n INTEGER, key TEXT);
		CREATE TABLE IF NOT EXISTS marks (n INTEGER PRIMARY KEY, key TEXT, times INTEGER)`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &World{db}, nil
}

// Close closes the file.
func (w *World) Close() error { return w.db.Close() }

// Paid returns how often an order was paid: it mustn't be more than once.
func (w *World) Paid(n int) (times int, err error) {
	err = w.db.QueryRow(`SELECT count(*) FROM paid WHERE n = ?`, n).Scan(&times)
	return times, err
}

// Mark returns how often a mark was set. It may be set again, under the same key; under another it isn't.
func (w *World) Mark(n int) (times int, err error) {
	err = w.db.QueryRow(`SELECT coalesce(sum(times), 0) FROM marks WHERE n = ?`, n).Scan(&times)
	return times, err
}

// tools are one that mustn't be repeated and runs beside others, one that mustn't and is a barrier, and one that may.
func (w *World) tools() []tools.Tool {
	pay := func(ctx context.Context, in Order) (string, error) {
		if _, err := w.db.ExecContext(ctx, `INSERT INTO paid (n, key) VALUES (?, ?)`, in.N, tools.IdempotencyKey(ctx)); err != nil {
			return "", err
		}
		return "paid", nil
	}
	return []tools.Tool{
		tools.New(tools.Spec{Name: "pay", ParallelSafe: true}, pay),
		tools.New(tools.Spec{Name: "transfer"}, pay),
		tools.New(tools.Spec{Name: "mark", Idempotent: true, ParallelSafe: true}, func(ctx context.Context, in Order) (string, error) {
			_, err := w.db.ExecContext(ctx, `INSERT INTO marks (n, key, times) VALUES (?1, ?2, 1)
				ON CONFLICT (n) DO UPDATE SET times = times + 1 WHERE key = ?2`, in.N, tools.IdempotencyKey(ctx))
			return "marked", err
		}),
	}
}

// model says in each step what is to be done in it, whoever asks: it knows the step by the conversation.
func model() provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		step := 0
		for i := range req.Messages {
			if req.Messages[i].Role == provider.RoleAssistant {
				step++
			}
		}
		if step == Steps {
			return providertest.Say("All done.").Response(), nil
		}
		n := 10 * (step + 1)
		return providertest.Calls(
			providertest.CallSpec{Tool: "pay", Input: Order{n}}, providertest.CallSpec{Tool: "mark", Input: Order{n + 1}},
			providertest.CallSpec{Tool: "pay", Input: Order{n + 2}}, providertest.CallSpec{Tool: "transfer", Input: Order{n + 3}},
		).Response(), nil
	})
}

// NewAgent returns the agent.
func NewAgent(w *World, store journal.Store) (*agent.Agent, error) {
	return agent.New(agent.Config{Name: "worker", Provider: model(), Journal: store, Tools: w.tools(), Limits: agent.Limits{Steps: 1000}, Lease: lease})
}

// Worker drives the run to its end, from wherever it is, and decides on calls in doubt as a person would who looks what has
// happened. It returns how many those were.
func Worker(ctx context.Context, w *World, store journal.Store) (doubts int, err error) {
	a, err := NewAgent(w, store)
	if err != nil {
		return 0, err
	}
	in := agent.Continue(Session)
	for {
		res, err := a.Run(ctx, in)
		var (
			nothing *agent.NothingOpenError
			paused  *agent.PausedError
			busy    *agent.BusyError
		)
		switch {
		case errors.As(err, &nothing) && nothing.Status == agent.Completed:
			return doubts, nil
		case errors.As(err, &nothing) && nothing.Status == "":
			in = agent.Input{Session: Session, Prompt: "Pay what is to be paid."}
			continue
		case errors.As(err, &busy): // the lease of the one that was killed, or this one's couldn't be renewed in time
			if res != nil {
				in = agent.Continue(Session)
			}
			timer := time.NewTimer(lease / 5)
			<-timer.C
			continue
		case errors.As(err, &paused):
			in, err = w.decide(paused.Pending)
			doubts += len(paused.Pending)
			if err != nil {
				return doubts, err
			}
			continue
		case err != nil:
			return doubts, err
		case res.Status == agent.Completed:
			return doubts, nil
		case res.Status != agent.Paused:
			return doubts, fmt.Errorf("the run ended as %s: %s", res.Status, res.Reason)
		}
		in = agent.Continue(Session)
	}
}

// decide looks what has happened.
func (w *World) decide(pending []agent.Pause) (agent.Input, error) {
	var ds []agent.Decision
	for _, p := range pending {
		var in Order
		if err := json.Unmarshal(p.Call.Input, &in); err != nil {
			return agent.Input{}, err
		}
		paid, err := w.Paid(in.N)
		switch {
		case err != nil:
			return agent.Input{}, err
		case p.Kind != agent.PauseInDoubt:
			return agent.Input{}, fmt.Errorf("a pause of kind %q", p.Kind)
		case paid > 0:
			ds = append(ds, agent.Answer(p.ID, "it was paid"))
		default:
			ds = append(ds, agent.Approve(p.ID))
		}
	}
	return agent.Resume(Session, ds...), nil
}
