package agent_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// An unsteady store panics once, at the nth call of one of its methods: before it has done what was
// asked, or behind it.
type unsteady struct {
	journal.Store
	method string
	left   int
	behind bool
}

func (p *unsteady) call(method string, f func()) {
	if method != p.method {
		f()
		return
	}
	if p.left--; p.left != 0 {
		f()
		return
	}
	if p.behind {
		f()
	}
	panic("in the store's " + method)
}

func (p *unsteady) Append(ctx context.Context, a journal.Append) (err error) {
	p.call("Append", func() { err = p.Store.Append(ctx, a) })
	return err
}

func (p *unsteady) Head(ctx context.Context, session string) (h journal.Head, err error) {
	p.call("Head", func() { h, err = p.Store.Head(ctx, session) })
	return h, err
}

func (p *unsteady) Lease(ctx context.Context, session, owner string, ttl time.Duration) (l journal.Lease, err error) {
	p.call("Lease", func() { l, err = p.Store.Lease(ctx, session, owner, ttl) })
	return l, err
}

func (p *unsteady) Release(ctx context.Context, l journal.Lease) (err error) {
	p.call("Release", func() { err = p.Store.Release(ctx, l) })
	return err
}

func (p *unsteady) Take(ctx context.Context, session string, fence uint64) (items []journal.Item, err error) {
	p.call("Take", func() { items, err = p.Store.Take(ctx, session, fence) })
	return items, err
}

func (p *unsteady) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for rec, err := range p.Store.Read(ctx, session, after) {
			more := false
			p.call("Read", func() { more = yield(rec, err) })
			if !more {
				return
			}
		}
	}
}

func TestAPanicOfAStoreNeitherHangsARunNorRepeatsACall(t *testing.T) {
	for _, method := range []string{"Append", "Head", "Lease", "Release", "Take", "Read"} {
		for left := 1; left <= 10; left++ {
			for _, behind := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					var done effects
					store := &unsteady{Store: &journal.MapStore{}, method: method, left: left, behind: behind}
					a, _ := scripted(t, agent.Config{Journal: store,
						Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", ParallelSafe: true})}},
						calls("work", 1, 2, 3), say("first"), say("second"), say("third"), say("fourth"))
					told := fmt.Sprintf("%s %d %v", method, left, behind)
					for range 3 { // the panic is in one of them, and that may fail
						_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go", Supersede: true})
						if err != nil {
							require.ErrorContains(t, err, "in the store's "+method, told)
						}
						<-time.After(time.Minute) // the end of a lease that wasn't given back
					}
					store.left = 0 // never, from now on
					require.Equal(t, agent.Completed,
						runInput(t, a, agent.Input{Session: "s", Prompt: "on", Supersede: true}).Status, told)
					for n := 1; n <= 3; n++ {
						require.Equal(t, 1, done.of(n), told)
					}
					requireSound(t, "s", facts(t, a, "s"))
				})
			}
		}
	}
}

// A fullStore has no room for large records, and counts the appends that it refuses.
type fullStore struct {
	journal.Store
	failed atomic.Int64
}

func (s *fullStore) Append(ctx context.Context, a journal.Append) error {
	for _, r := range a.Records {
		if len(r.Data) > 100_000 {
			s.failed.Add(1)
			return fmt.Errorf("store: %w: %w", journal.Unusable("the disk is full"), syscall.ENOSPC)
		}
	}
	return s.Store.Append(ctx, a)
}

// The cause is known, so that trying again for 30 s could only delay the end of the run.
func TestAFullDiskFailsAnAppendAtOnce(t *testing.T) {
	store := &fullStore{Store: &journal.MapStore{}}
	big := tools.New(tools.Spec{Name: "big"}, func(context.Context, Number) (string, error) {
		return strings.Repeat("text ", 50_000), nil
	})
	a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{big}}, call("big", 1), say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorIs(t, err, journal.ErrUnusable)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, agent.Failed, res.Status)
	require.Equal(t, machine.CodeJournal, res.Code)
	require.EqualValues(t, 1, store.failed.Load(), "appends that failed")
}

// A slowHandler takes a second for each record.
type slowHandler struct{ slog.Handler }

func (slowHandler) Enabled(context.Context, slog.Level) bool { return true }

func (slowHandler) Handle(context.Context, slog.Record) error {
	<-time.After(time.Second)
	return nil
}

func TestAFactThatTheJournalRefusesIsNotShownWhileThatIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &unwilling{Store: &journal.MapStore{}}
		refuse := tools.New(tools.Spec{Name: "refuse"}, func(context.Context, Number) (string, error) {
			store.on = true
			return "ok", nil
		})
		a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{refuse}, Logger: slog.New(slowHandler{})},
			call("refuse", 1), say("Done."))
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.ErrorContains(t, err, "refused by order")
		require.Empty(t, of[*agent.ToolFinished](all))
		require.Len(t, of[*agent.RunEnded](all), 1)
	})
}

func TestTheEndOfARunWhoseContextResetTheJournalRefusesIsOfThatRun(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	reset := tools.New(tools.Spec{Name: "reset"}, func(ctx context.Context, _ Number) (string, error) {
		return "ok", agent.RequestContextReset(ctx)
	})
	a, _ := scripted(t,
		agent.Config{Journal: refusesResets{&journal.MapStore{}}, Memory: mem, Tools: []tools.Tool{reset}},
		call("reset", 1), say("Done."))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.ErrorContains(t, err, "refused by order")
	ends := of[*agent.RunEnded](all)
	require.Len(t, ends, 1)
	require.Equal(t, of[*agent.RunStarted](all)[0].Run(), ends[0].Run())
	require.Equal(t, ends[0].Run(), ends[0].Result.Run)
}

// A refusesResets store refuses context resets.
type refusesResets struct{ journal.Store }

func (s refusesResets) Append(ctx context.Context, a journal.Append) error {
	if len(a.Records) > 1 && a.Records[len(a.Records)-1].Kind == "run_started" {
		return journal.Unusable("store: refused by order")
	}
	return s.Store.Append(ctx, a)
}
