package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

const (
	// watchFirst is how long Watch waits after a fact before it reads again, and watchMost how long
	// it waits at most.
	watchFirst = 50 * time.Millisecond
	watchMost  = 2 * time.Second
	// watchAtOnce is how many facts Watch reads at once.
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
		wake, leave := s.agent.sessions.Listen(s.id)
		defer leave()
		after, wait := after, watchFirst
		for {
			facts, err := s.agent.newFacts(ctx, s.id, after)
			if err != nil {
				if ctx.Err() != nil {
					err = causeOf(ctx)
				}
				yield(nil, err)
				return
			}
			for _, f := range facts {
				if ctx.Err() != nil {
					break
				}
				after, wait = f.Envelope().Seq, watchFirst
				if !yield(withoutStates(f), nil) {
					return
				}
			}
			if len(facts) == watchAtOnce && ctx.Err() == nil { // there may be more
				continue
			}
			if err := await(ctx, wake, wait); err != nil {
				yield(nil, err)
				return
			}
			wait = min(2*wait, watchMost)
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

// newFacts returns the next facts of a session with numbers above after, at most watchAtOnce. The
// session must exist, and have as many facts.
func (a *Agent) newFacts(ctx context.Context, session string, after uint64) ([]Fact, error) {
	head, err := a.sessions.Store.Head(ctx, session)
	switch {
	case errors.Is(err, journal.ErrNoSession), err == nil && head.Seq < after:
		return nil, &SessionError{Session: session, Code: ErrNothingOpen}
	case err != nil:
		return nil, fmt.Errorf("agent: session %q: reading its head: %w", session, err)
	case head.Seq == after:
		return nil, nil
	}
	return a.sessions.Facts(ctx, session, after, watchAtOnce)
}
