package durable

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
)

// readers are those in the process that drives the runs. Each of them remembers the last fact that
// it was shown, also if it is killed, and leaves and comes back with its number.
var readers = []string{"ann", "bob"}

// follow is one of the readers. It prints a line for each event.
func follow(ctx context.Context, h *live.Hub, w *World, name string) {
	for ctx.Err() == nil {
		last, err := w.Seen(name)
		if err != nil {
			continue
		}
		most := 1 + rand.IntN(50) // events until it leaves
		for ev, err := range h.Watch(ctx, Session, last) {
			if err != nil {
				<-time.After(pause) // no process has begun
				break
			}
			if fact, ok := ev.(agent.Fact); ok {
				data, err := agent.MarshalEvent(fact)
				if err == nil {
					err = w.See(name, fact.Envelope().Seq, data)
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, "reader:", err)
					break
				}
			}
			fmt.Println(name)
			if most--; most == 0 {
				break
			}
		}
	}
}

// A reader watches the session from another process than those that drive it and are killed.
type reader struct {
	stop  context.CancelFunc
	ended chan struct{}
	facts []agent.Fact
	runs  int // that are complete
	err   error
}

// startReader returns a reader of the runs in dir.
func startReader(t *testing.T, dir string) *reader {
	w, err := OpenWorld(dir)
	require.NoError(t, err)
	store, err := open(dir)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	a, err := NewAgent(ctx, w, store)
	require.NoError(t, err)
	r := &reader{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		defer w.Close()
		defer store.Close()
		for ctx.Err() == nil && !r.watch(ctx, a.Session(Session)) {
		}
	}()
	return r
}

// watch reads some facts, and reports whether there is nothing more to read.
func (r *reader) watch(ctx context.Context, s *agent.Session) (over bool) {
	most := 1 + rand.IntN(50)
	for ev, err := range s.Watch(ctx, uint64(len(r.facts))) {
		switch end := ev.(type) {
		case nil:
			if !errors.Is(err, agent.ErrNothingOpen) || len(r.facts) > 0 {
				r.err = err
				return true
			}
			<-time.After(pause) // no process has begun
			return false
		case *agent.RunEnded:
			r.facts = append(r.facts, end)
			if end.Status == agent.Completed {
				r.runs++
			}
			if r.runs == Runs {
				return true
			}
		default:
			r.facts = append(r.facts, ev.(agent.Fact))
		}
		if most--; most == 0 {
			return false
		}
	}
	return false
}

// requireAll ends the reader, which must have been shown all the facts, each once and in order.
func (r *reader) requireAll(t *testing.T, facts []agent.Fact) {
	<-r.ended
	r.stop()
	require.NoError(t, r.err)
	require.Equal(t, len(facts), len(r.facts))
	for i, f := range facts {
		require.Equal(t, shown(f), r.facts[i])
	}
}
