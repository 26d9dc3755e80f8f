package agent_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A mute store answers no renewal: it hangs until the renewal is given up, or fails at once.
type mute struct {
	journal.Store
	fails    error
	renewals int
}

func (m *mute) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if m.renewals++; m.fails != nil {
		return journal.Lease{}, m.fails
	}
	<-ctx.Done()
	return journal.Lease{}, ctx.Err()
}

// longTool is busy until its context ends, and notes when and why.
func longTool(ended *time.Duration, why *error) tools.Tool {
	return tools.New(tools.Spec{Name: "long", Timeout: time.Hour}, func(ctx context.Context, _ Number) (string, error) {
		began := time.Now()
		<-ctx.Done()
		*ended, *why = time.Since(began), context.Cause(ctx)
		return "", ctx.Err()
	})
}

func TestToolsAreStoppedBeforeALeaseEndsThatCannotBeRenewed(t *testing.T) {
	for name, fails := range map[string]error{"the store hangs": nil, "the store fails": context.DeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended time.Duration
				var why error
				store := &mute{Store: &journal.MapStore{}, fails: fails}
				a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{longTool(&ended, &why)}},
					call("long", 1))
				res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
				require.ErrorIs(t, err, agent.ErrBusy)
				require.ErrorIs(t, why, agent.ErrBusy)
				require.Equal(t, agent.Failed, res.Status)
				require.Equal(t, machine.CodeJournal, res.Code)
				require.Less(t, ended, 25*time.Second, "the lease lasts 30 s, and the tool has 5 s to return")
				require.Greater(t, ended, 10*time.Second)
				require.Positive(t, store.renewals)
			})
		})
	}
}

func TestALeaseIsRenewedForAsLongAsARunLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		store := &journal.MapStore{}
		a, _ := scripted(t,
			agent.Config{Journal: store, Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow", Timeout: time.Hour})}},
			call("slow", 600), say("Done."))
		b, _ := scripted(t, agent.Config{Journal: store}, say("Mine."))
		go func() {
			<-time.After(5 * time.Minute)
			_, err := b.Run(t.Context(), agent.Input{Session: "s", Prompt: "let me"})
			if !errors.Is(err, agent.ErrBusy) {
				t.Errorf("a second writer got in: %v", err)
			}
		}()
		require.Equal(t, "Done.", run(t, a).Text())
		require.Equal(t, 1, done.of(600))
	})
}

func TestARunThatLostItsLeaseIsGoneOnWithElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		var why error
		store := &journal.MapStore{}
		slow := &mute{Store: store, fails: context.DeadlineExceeded}
		a, _ := scripted(t, agent.Config{Name: "same", Journal: slow, Tools: []tools.Tool{longTool(&took, &why)}},
			call("long", 1))
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.Error(t, err)
		<-time.After(time.Minute)
		b, _ := scripted(t, agent.Config{Name: "same", Journal: store, Tools: []tools.Tool{longTool(&took, &why)}},
			say("Done."))
		res := runInput(t, b, agent.Continue("s"))
		require.Equal(t, agent.PauseInDoubt, res.Pending[0].Kind, "the call was stopped, and isn't run again by itself")
		res = runInput(t, b, agent.Resume("s", agent.Answer(res.Pending[0].ID, "it was half done")))
		require.Equal(t, "Done.", res.Text())
		require.Equal(t, tools.Answered, finished(t, b, "s")[0].Status)
	})
}

// A stuck store renews no lease. Once it is told to, it hangs instead of answering a reading.
type stuck struct {
	mute
	hangs string
	spare int // so many are answered before
}

func (s *stuck) hang(ctx context.Context, what string) {
	if s.hangs != what {
		return
	}
	if s.spare--; s.spare < 0 {
		<-ctx.Done()
	}
}

func (s *stuck) Head(ctx context.Context, session string) (journal.Head, error) {
	if s.hang(ctx, "Head"); ctx.Err() != nil {
		return journal.Head{}, ctx.Err()
	}
	return s.Store.Head(ctx, session)
}

func (s *stuck) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	s.hang(ctx, "Read")
	return s.Store.Read(ctx, session, after)
}

func (s *stuck) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	s.hang(ctx, "Take")
	return s.Store.Take(ctx, session, fence)
}

// What is read as a run begins ends with the lease, and then another process may have the session.
func TestARunWhoseLeaseIsLostAsItBeginsIsBusy(t *testing.T) {
	for name, c := range map[string]struct {
		hangs    string
		spare    int
		replaces bool
	}{
		"its head":                        {hangs: "Head"},
		"its log":                         {hangs: "Read"},
		"its inbox":                       {hangs: "Take"},
		"its log again, to replace a run": {hangs: "Read", spare: 1, replaces: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &stuck{mute: mute{Store: &journal.MapStore{}, fails: errors.New("away")}}
				a, _ := scripted(t, agent.Config{Journal: store, Lease: 8 * time.Second}, say("One."))
				res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
				// it has nothing of it in memory
				b, _ := scripted(t, agent.Config{Journal: store, Lease: 8 * time.Second}, say("Two."))
				store.hangs, store.spare = c.hangs, c.spare
				in := agent.Input{Session: "s", Prompt: "go"}
				if c.replaces {
					in.Replaces = res.Start
				}
				_, err := b.Run(t.Context(), in)
				require.ErrorIs(t, err, agent.ErrBusy)
			})
		})
	}
}

// A call that may be repeated and that the loss of the lease has stopped is made again.
func TestACallThatTheLossOfItsLeaseHasStoppedIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		list := []tools.Tool{tools.New(tools.Spec{Name: "long", Timeout: time.Hour, Idempotent: true},
			func(ctx context.Context, _ Number) (string, error) {
				if calls++; calls == 1 {
					<-ctx.Done()
					return "", errors.New("it was stopped")
				}
				return "done", nil
			})}
		store := &journal.MapStore{}
		a, _ := scripted(t, agent.Config{Name: "same", Journal: &mute{Store: store, fails: context.DeadlineExceeded},
			Tools: list}, call("long", 1))
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.Error(t, err)
		<-time.After(time.Minute)
		b, _ := scripted(t, agent.Config{Name: "same", Journal: store, Tools: list}, say("Done."))
		require.Equal(t, "Done.", runInput(t, b, agent.Continue("s")).Text())
		ended := finished(t, b, "s")
		require.Len(t, ended, 1)
		require.Equal(t, tools.OK, ended[0].Status)
	})
}
