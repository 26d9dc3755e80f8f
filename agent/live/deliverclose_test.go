package live_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
)

// A hub that is closed during a delivery stores what was told before, so that the next one tells
// nothing twice. It gives the lease back.
func TestCloseDuringADeliveryTellsNothingTwice(t *testing.T) {
	for name, refused := range map[string]error{"told": nil, "refused": errors.New("the mail server is gone")} {
		t.Run(name, func(t *testing.T) {
			followedStores(t, func(t *testing.T, store journal.Store) {
				first, next := &mailbox{}, &mailbox{}
				elsewhere := askingAgent(t, store)
				closing := make(chan struct{})
				h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}),
					Deliver: func(ctx context.Context, d live.Delivery) error {
						time.Sleep(2 * time.Second)
						select {
						case <-closing:
							if refused != nil {
								return refused
							}
						default:
						}
						return first.deliver(ctx, d)
					}})
				<-time.After(time.Second)
				approved(t, elsewhere, "a")
				<-time.After(3500 * time.Millisecond) // one was told, and the second one is being told
				require.Len(t, first.all(), 1)
				close(closing)
				require.NoError(t, h.Close())
				newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Deliver: next.deliver})
				<-time.After(2 * time.Second)
				require.Equal(t, mustBeTold(t, store), append(first.all(), next.all()...), "each once, in order")
			})
		})
	}
}

// What was refused before is told once, too, if the hub is closed while it is tried again.
func TestCloseDuringASecondTryTellsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, first, next, tries := &journal.MapStore{}, &mailbox{}, &mailbox{}, 0
		elsewhere := askingAgent(t, store)
		h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}),
			Deliver: func(ctx context.Context, d live.Delivery) error {
				if tries++; tries == 1 {
					return errors.New("the mail server is gone")
				}
				time.Sleep(10 * time.Second)
				return first.deliver(ctx, d)
			}})
		<-time.After(time.Second)
		approved(t, elsewhere, "a")
		<-time.After(5 * time.Second)
		require.Empty(t, first.all())
		require.NoError(t, h.Close())
		require.Len(t, first.all(), 1)
		newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Deliver: next.deliver})
		<-time.After(3 * time.Second)
		require.Equal(t, mustBeTold(t, store), append(first.all(), next.all()...), "each once, in order")
	})
}

// The log of what was delivered is nobody's session, and nobody's session is taken for it.
func TestNoSessionIsTakenForTheLogOfDeliveries(t *testing.T) {
	const name = "call/live/deliver"
	_, err := askingAgent(t, &journal.MapStore{}).Run(t.Context(), agent.Input{Session: name, Prompt: "go"})
	require.ErrorAs(t, err, new(*agent.ArgError))
	synctest.Test(t, func(t *testing.T) {
		store, box, logged := &journal.MapStore{}, &mailbox{}, &bytes.Buffer{}
		approved(t, askingAgent(t, store), "a")
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: name, // as by an import of another program
			Records: []journal.Record{{Time: time.Now(), Kind: "delivered", V: 1, Data: []byte(`{}`)}}}))
		h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Deliver: box.deliver,
			Logger: slog.New(slog.NewTextHandler(logged, nil))})
		<-time.After(time.Minute)
		require.Empty(t, box.all(), "of all that was before")
		require.NoError(t, store.Delete(t.Context(), name, journal.All))
		<-time.After(6 * time.Minute)
		approved(t, askingAgent(t, store), "b")
		<-time.After(2 * time.Second)
		require.Len(t, box.all(), 4, "it begins when that session is deleted")
		require.NoError(t, h.Close())
		require.Contains(t, logged.String(), "delete that session")
	})
}

// After an error of the store, too, the next process needn't wait for the end of the lease.
func TestAProcessThatFailsGivesTheLeaseBack(t *testing.T) {
	for name, fails := range map[string]func(*failingReads, bool){
		"at the beginning": func(s *failingReads, fail bool) { s.head.Store(fail) },
		"later":            func(s *failingReads, fail bool) { s.changes.Store(fail) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, box := &journal.MapStore{}, &mailbox{}
				first := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: memory}), Deliver: box.deliver})
				<-time.After(time.Second)
				require.NoError(t, first.Close()) // deliveries have begun
				store := &failingReads{Store: memory}
				if name == "at the beginning" {
					fails(store, true)
				}
				h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}), Deliver: box.deliver,
					Recover: -1})
				<-time.After(2 * time.Second)
				fails(store, true)
				<-time.After(5 * time.Second)
				require.NoError(t, h.Close())
				approved(t, askingAgent(t, memory), "a")
				newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: memory}), Deliver: box.deliver})
				<-time.After(2 * time.Second)
				require.Len(t, box.all(), 4)
			})
		})
	}
}

// failingReads is a store of which some calls fail.
type failingReads struct {
	journal.Store
	head, changes atomic.Bool
}

func (s *failingReads) Head(ctx context.Context, session string) (journal.Head, error) {
	if s.head.Load() {
		return journal.Head{}, errors.New("the disk is gone")
	}
	return s.Store.Head(ctx, session)
}

func (s *failingReads) Changes(ctx context.Context, cursor string) ([]journal.Change, string, error) {
	if s.changes.Load() {
		return nil, "", errors.New("the disk is gone")
	}
	return journal.Changes(ctx, s.Store, cursor)
}
