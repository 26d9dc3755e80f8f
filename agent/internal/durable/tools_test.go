package durable

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

// pay pays an order. It mustn't happen twice. It takes some time before and after, so that some
// kills fall into it.
func (w *World) pay(ctx context.Context, n int, note string) (string, error) {
	some := func() { <-time.After(time.Duration(rand.IntN(10)) * time.Millisecond) }
	some()
	defer some()
	_, err := w.db.ExecContext(ctx, `INSERT INTO paid (n, key, note) VALUES (?, ?, ?)`, n, tools.IdempotencyKey(ctx),
		note)
	return "paid", err
}

// tools are the agent's own: some that mustn't be repeated, alone or beside others, after an
// approval, or after answers; and some that may.
func (w *World) tools() []tools.Tool {
	pay := func(ctx context.Context, in Order) (string, error) { return w.pay(ctx, in.N, "") }
	return []tools.Tool{
		tools.New(tools.Spec{Name: "pay", ParallelSafe: true}, pay),
		tools.New(tools.Spec{Name: "transfer"}, pay),
		tools.New(tools.Spec{Name: "approved", Risk: tools.High}, pay),
		tools.New(tools.Spec{Name: "mark", Idempotent: true, ParallelSafe: true},
			func(ctx context.Context, in Order) (string, error) {
				_, err := w.db.ExecContext(ctx, `INSERT INTO marks (n, key, times) VALUES (?1, ?2, 1)
				ON CONFLICT (n) DO UPDATE SET times = times + 1 WHERE key = ?2`, in.N, tools.IdempotencyKey(ctx))
				return "marked", err
			}),
		tools.New(tools.Spec{Name: "book"}, w.book),
		tools.New(tools.Spec{Name: "load", Idempotent: true}, func(ctx context.Context, in Order) (string, error) {
			if err := w.Change(); err != nil {
				return "", err
			}
			return "loaded", agent.LoadTools(ctx)
		}),
	}
}

// A booking is what a call of book keeps while it waits for answers.
type booking struct {
	Key     string   `json:"key"`
	Answers []string `json:"answers"`
	Text    string   `json:"text"` // so that the state is about as large as it may be
}

const questions = 2

// book asks two questions, one after the other, and pays with both answers.
func (w *World) book(ctx context.Context, in Order) (string, error) {
	b := booking{Key: tools.IdempotencyKey(ctx)}
	b.Text = strings.Repeat("x", tools.MaxState-1000)
	if r, ok := tools.Resumed(ctx); ok {
		var was booking
		var answer string
		if err := r.Decode(&was, &answer); err != nil {
			return "", err
		}
		if was.Key != b.Key || was.Text != b.Text {
			return "", w.Wrong("order %d: the state was lost: %d bytes, key %s, which was %s", in.N, len(r.State),
				b.Key, was.Key)
		}
		b.Answers = append(was.Answers, answer)
	}
	if len(b.Answers) == questions {
		return w.pay(ctx, in.N, strings.Join(b.Answers, " "))
	}
	return "", tools.Suspend{Kind: "question", Prompt: fmt.Sprint("question ", len(b.Answers)),
		Schema: json.RawMessage(`{"type":"string"}`), Again: true, State: b}
}

// pick is a tool of the input that somebody else executes.
func pick() tools.Tool {
	return tools.External(tools.Spec{Name: "pick",
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
		Output: json.RawMessage(`{"type":"string"}`)})
}

// shelved is how many tools there are for the shelf. Two of them are on it at a time.
const shelved = 5

// A Shelf is a source whose tools depend on the version of the shelf, which other processes change.
type Shelf struct {
	world *World
	list  [shelved]*tools.Definition
	stop  context.Context // ends what waits for changes
}

// NewShelf returns the source.
func NewShelf(stop context.Context, w *World) (*Shelf, error) {
	s := &Shelf{world: w, stop: stop}
	for i := range s.list {
		d, err := tools.New(tools.Spec{Name: fmt.Sprint("item", i), ParallelSafe: i%2 == 0},
			func(ctx context.Context, in Order) (string, error) {
				return w.pay(ctx, in.N, "")
			}).Define()
		if err != nil {
			return nil, err
		}
		s.list[i] = d
	}
	return s, nil
}

// Name returns the name of the source.
func (s *Shelf) Name() string { return "shelf" }

// List returns the two tools that are on the shelf.
func (s *Shelf) List(context.Context) ([]tools.Tool, error) {
	v, err := s.world.Version()
	return []tools.Tool{s.list[v%shelved], s.list[(v+1)%shelved]}, err
}

// Changed returns a channel that is closed when the version has changed.
func (s *Shelf) Changed() <-chan struct{} {
	changed := make(chan struct{})
	first, err := s.world.Version()
	if err != nil {
		return nil
	}
	go func() {
		defer close(changed)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-s.stop.Done():
				return
			case <-tick.C:
				if v, err := s.world.Version(); err != nil || v != first {
					return
				}
			}
		}
	}()
	return changed
}
