package agent_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// asFacts returns events as the facts that Session.Facts returns.
func asFacts(all []agent.Event) (facts []agent.Fact) {
	for _, ev := range all {
		if end, ok := ev.(*agent.RunEnded); ok {
			stored := *end
			stored.Result = nil
			ev = &stored
		}
		facts = append(facts, ev.(agent.Fact))
	}
	return facts
}

// ended reports whether an event is the end of a run.
func ended(ev agent.Event) bool {
	end, ok := ev.(*agent.RunEnded)
	return ok && end.Status != agent.Paused
}

func TestWatchYieldsEachFactOnceFromAnyNumberOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}},
			call("slow", 5), call("slow", 7), say("Done."))
		b, _ := scripted(t, agent.Config{Journal: store}) // another process
		var wg sync.WaitGroup
		wg.Go(func() { run(t, a) })
		<-time.After(time.Second)
		seen := make([][]agent.Event, 15)
		for after := range seen {
			wg.Go(func() {
				<-time.After(time.Duration(after) * time.Second)
				for ev, err := range b.Session("s").Watch(t.Context(), uint64(min(after, 4))) {
					require.NoError(t, err)
					if seen[after] = append(seen[after], ev); ended(ev) {
						require.Nil(t, ev.(*agent.RunEnded).Result)
						return
					}
				}
			})
		}
		wg.Wait()
		all := facts(t, a, "s")
		for after, got := range seen {
			require.Equal(t, all[min(after, 4):], asFacts(got), "after %d", after)
		}
	})
}

func TestWatchPollsLessAndLessWhileNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingHeads{Store: &journal.MapStore{}}
		a, _ := scripted(t, agent.Config{Journal: store}, say("Done."))
		run(t, a)
		store.n = 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var failure error
		for _, err := range a.Session("s").Watch(ctx, 0) {
			failure = err
		}
		require.ErrorIs(t, failure, context.DeadlineExceeded)
		require.Equal(t, 35, store.n, "7 reads in the first 3.2 s, then one each 2 s")
	})
}

type countingHeads struct {
	journal.Store
	n int
}

func (s *countingHeads) Head(ctx context.Context, session string) (journal.Head, error) {
	s.n++
	return s.Store.Head(ctx, session)
}

func TestWatchEndsWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}}, say("Done."))
		last := func(ctx context.Context, session string, after uint64) (failure error) {
			for _, err := range a.Session(session).Watch(ctx, after) {
				failure = err
			}
			return failure
		}
		require.ErrorIs(t, last(t.Context(), "s", 0), agent.ErrNothingOpen, "unknown")
		run(t, a)
		require.ErrorIs(t, last(t.Context(), "s", 99), agent.ErrNothingOpen, "a number that it hasn't")
		time.AfterFunc(time.Minute, func() { require.NoError(t, a.Session("s").Delete(t.Context())) })
		require.ErrorIs(t, last(t.Context(), "s", 0), agent.ErrNothingOpen, "deleted")
		why := errors.New("the page was closed")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		require.ErrorIs(t, last(ctx, "s", 0), why)
		var nobody *agent.Session
		for _, err := range nobody.Watch(t.Context(), 0) {
			require.Error(t, err)
		}
	})
}

func TestWatchingAPrunedSessionBeginsWithASnapshot(t *testing.T) {
	a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}}, say("One."), say("Two."))
	run(t, a)
	_, err := a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	run(t, a)
	var got []agent.Event
	for ev, err := range a.Session("s").Watch(t.Context(), 1) {
		require.NoError(t, err)
		if got = append(got, ev); ended(ev) {
			break
		}
	}
	require.IsType(t, &machine.Snapshot{}, got[0])
	_, err = machine.Replay("s", asFacts(got)...)
	require.NoError(t, err)
}

func TestWatchShowsASuspendedCallAsAStreamDoesWithoutItsState(t *testing.T) {
	var q asker
	a := newAgent(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{q.tool(tools.Spec{})},
		Provider: inTurn(call("ask", 2), say("Done."))})
	streamed, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	runInput(t, a, agent.Resume("s", agent.Answer(of[*agent.Suspended](streamed)[0].Pause.ID, "red")))
	watched := func() (all []agent.Event) {
		log := facts(t, a, "s")
		for ev, err := range a.Session("s").Watch(t.Context(), 0) {
			require.NoError(t, err)
			if all = append(all, ev); ev.Envelope().Seq == log[len(log)-1].Envelope().Seq {
				return all
			}
		}
		return all
	}
	suspended := of[*agent.Suspended](watched())
	require.Len(t, suspended, 2)
	require.Equal(t, of[*agent.Suspended](streamed)[0], suspended[0])
	require.Empty(t, suspended[1].State)
	require.NotEmpty(t, of[*agent.Suspended](asEvents(facts(t, a, "s")))[1].State, "the log has it")

	_, err = a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	snapshots := of[*machine.Snapshot](watched())
	require.Len(t, snapshots, 1)
	require.NotEmpty(t, snapshots[0].State.Run.Calls)
	require.Empty(t, snapshots[0].State.Run.Calls[0].State)
	pending, err := a.Session("s").Pending(t.Context())
	require.NoError(t, err)
	require.Equal(t, agent.Completed, runInput(t, a, agent.Resume("s", agent.Answer(pending[0].ID, "blue"))).Status)
	require.Equal(t, "red,blue", finished(t, a, "s")[0].Text())
}

func TestLeavingWatchAtEachFactLeavesNothingBehind(t *testing.T) {
	a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}}, providertest.Say("Done."))
	run(t, a)
	for leave := range facts(t, a, "s") {
		n := 0
		for _, err := range a.Session("s").Watch(t.Context(), 0) {
			require.NoError(t, err)
			if n++; n > leave {
				break
			}
		}
		require.Equal(t, leave+1, n)
	}
}

func TestWatchReadsALongSessionPieceByPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingReads{Store: &journal.MapStore{}}
		many := doing("many", func(ctx context.Context) error {
			for range 5_000 {
				if err := agent.Emit(ctx, "counted", 1); err != nil {
					return err
				}
			}
			return nil
		})
		a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{many}}, call("many", 1), say("Done."))
		run(t, a)
		store.n = 0
		for _, err := range a.Session("s").Watch(t.Context(), 0) {
			require.NoError(t, err)
			break
		}
		require.Equal(t, 1_000, store.n)
		began := time.Now()
		var all []agent.Event
		for ev, err := range a.Session("s").Watch(t.Context(), 0) {
			require.NoError(t, err)
			if all = append(all, ev); ended(ev) {
				break
			}
		}
		require.Equal(t, facts(t, a, "s")[:len(all)], asFacts(all))
		require.Greater(t, len(all), 5_000)
		require.Zero(t, time.Since(began), "it doesn't wait between the pieces")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for range a.Session("s").Watch(ctx, 0) {
			cancel()
			n++
		}
		require.Equal(t, 2, n, "a fact, and the cause")
	})
}

type countingReads struct {
	journal.Store
	n int
}

func (s *countingReads) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for rec, err := range s.Store.Read(ctx, session, after) {
			if s.n++; !yield(rec, err) {
				return
			}
		}
	}
}

func TestAReaderInTheSameProcessSeesFactsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{},
			Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow", Timeout: time.Hour})}}, call("slow", 10),
			say("Done."))
		var ran sync.WaitGroup
		started := make(chan struct{})
		ran.Go(func() {
			for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				if _, ok := ev.(*agent.RunStarted); ok {
					close(started)
				}
			}
		})
		<-started
		for ev, err := range a.Session("s").Watch(t.Context(), 0) {
			require.NoError(t, err)
			require.Zero(t, time.Since(ev.Envelope().Time), "%T", ev)
			if _, ok := ev.(*agent.RunEnded); ok {
				break
			}
		}
		ran.Wait()
	})
}
