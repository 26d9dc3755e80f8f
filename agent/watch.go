package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

const (
	// watchFirst is how long a follower waits after a fact before it reads again, and watchMost how
	// long it waits at most.
	watchFirst = 50 * time.Millisecond
	watchMost  = 2 * time.Second
	// watchAtOnce is how many facts a follower reads at once.
	watchAtOnce = 1_000
)

// Watch returns the facts of the session with numbers above after, and then each new one as it is
// stored, by this or another process, as streams show them: without the state of suspended calls. A
// [RunEnded] has no Result. If earlier facts were pruned, a [machine.Snapshot] comes first. Notes
// aren't stored: readers in the process that drives the run get them from package agent/live.
//
// What this process stores is seen at once. For other processes Watch polls the journal: 50 ms
// after a fact, and then at intervals that double up to 2 s until there is another. The sequence
// ends with an error: the cause when ctx ends, [ErrNothingOpen] if the session is unknown, deleted,
// or hasn't that many facts, and what the journal says if it can't be read. Watch again with the
// number of the last fact to continue. Each range over the sequence begins anew.
func (s *Session) Watch(ctx context.Context, after uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, err := s.ready(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		w := s.agent.follow(s.id, after)
		defer w.leave()
		for {
			facts, err := w.read(ctx)
			for _, f := range facts {
				if ctx.Err() != nil {
					break
				}
				if !yield(withoutStates(f), nil) {
					return
				}
			}
			if err == nil {
				err = w.await(ctx)
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// withoutStates returns a fact as readers see it: what suspended calls keep for themselves
// ([tools.Suspend].State) isn't for them.
func withoutStates(f Fact) Fact {
	switch f := f.(type) {
	case *Suspended:
		own := *f
		own.State = nil
		return &own
	case *machine.Snapshot:
		if f.State == nil || f.State.Run == nil || len(f.State.Run.Calls) == 0 {
			return f
		}
		state, run := *f.State, *f.State.Run
		run.Calls = slices.Clone(run.Calls)
		for i := range run.Calls {
			run.Calls[i].State = nil
		}
		own := *f
		state.Run, own.State = &run, &state
		return &own
	}
	return f
}

// A follower reads the facts of a session as they are stored: at once what this process stores, and
// what other processes store at intervals that grow from watchFirst to watchMost while nothing
// comes.
type follower struct {
	sessions *session.Sessions
	session  string
	leave    func() // ends it

	wake  <-chan struct{} // something may have been stored in this process
	after uint64          // the number of the newest fact that was read
	wait  time.Duration   // until it reads again; 0: there may be more now
}

// follow returns a follower of the facts with numbers above after.
func (a *Agent) follow(session string, after uint64) *follower {
	wake, leave := a.sessions.Listen(session)
	return &follower{sessions: a.sessions, session: session, leave: leave, wake: wake, after: after, wait: watchFirst}
}

// read returns the next facts that are stored, at most watchAtOnce. The session must exist, and
// have as many facts as were read.
func (w *follower) read(ctx context.Context) (facts []Fact, err error) {
	head, err := w.sessions.Store.Head(ctx, w.session)
	switch {
	case err == nil && head.Seq > w.after:
		facts, err = w.sessions.Facts(ctx, w.session, w.after, watchAtOnce)
	case errors.Is(err, journal.ErrNoSession), err == nil && head.Seq < w.after:
		err = &SessionError{Session: w.session, Code: ErrNothingOpen}
	case err != nil:
		err = fmt.Errorf("agent: session %q: reading its head: %w", w.session, err)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = causeOf(ctx)
		}
		return nil, err
	}
	if n := len(facts); n > 0 {
		w.after, w.wait = facts[n-1].Envelope().Seq, watchFirst
		if n == watchAtOnce {
			w.wait = 0
		}
	}
	return facts, nil
}

// await waits until there may be more facts.
func (w *follower) await(ctx context.Context) error {
	if ctx.Err() == nil && w.wait == 0 {
		w.wait = watchFirst // if there was no more
		return nil
	}
	select {
	case <-ctx.Done():
		return causeOf(ctx)
	case <-w.wake:
	case <-time.After(w.wait):
	}
	w.wait = min(2*w.wait, watchMost)
	return nil
}
