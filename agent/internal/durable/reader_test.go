package durable

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

// A reader watches the session of a run from another process than those that drive it and are killed.
type reader struct {
	stop  context.CancelFunc
	ended chan struct{}
	facts []agent.Fact
	err   error
}

// startReader returns a reader of the run in dir, whose store several processes may use.
func startReader(t *testing.T, kind, dir string) *reader {
	w, err := OpenWorld(dir)
	require.NoError(t, err)
	store, closed, err := open(kind, dir)
	require.NoError(t, err)
	a, err := NewAgent(w, store)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	r := &reader{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		defer w.Close()
		defer closed()
		for ctx.Err() == nil && !r.watch(ctx, a.Session(Session)) {
		}
	}()
	return r
}

// watch reads until the run is complete, and reports whether there is nothing more to read.
func (r *reader) watch(ctx context.Context, s *agent.Session) (over bool) {
	for ev, err := range s.Watch(ctx, uint64(len(r.facts))) {
		var none *agent.NothingOpenError
		switch end := ev.(type) {
		case nil:
			if !errors.As(err, &none) {
				r.err = err
				return true
			}
			timer := time.NewTimer(lease / 5) // no process has begun
			<-timer.C
			return false
		case agent.RunEnded:
			r.facts = append(r.facts, end.RunEnded)
			if end.Status == agent.Completed {
				return true
			}
		default:
			r.facts = append(r.facts, ev.(agent.Fact))
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
		require.Equal(t, f, r.facts[i])
	}
}
