package journaltest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A gated store doesn't append while it is closed.
type gated struct {
	journal.Store
	open chan struct{}
	deaf bool
}

func (g *gated) Append(ctx context.Context, a journal.Append) error {
	done := ctx.Done()
	if g.deaf {
		done = nil
	}
	select {
	case <-g.open:
		return g.Store.Append(context.WithoutCancel(ctx), a)
	case <-done:
		return ctx.Err()
	}
}

func (g *gated) block() (release func()) {
	g.open = make(chan struct{})
	return func() { close(g.open) }
}

func TestAStoreInMemoryIsNeverBlocked(t *testing.T) {
	RunBlocked(t, func(*testing.T) (journal.Store, func() func()) {
		return &journal.MapStore{}, func() func() { return func() {} }
	})
}

func TestACallThatOutlastsItsContextIsCaught(t *testing.T) {
	for name, deaf := range map[string]bool{"it ends": false, "it doesn't": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				open := make(chan struct{})
				close(open)
				store := &gated{Store: &journal.MapStore{}, open: open, deaf: deaf}
				failure := failureOf(t.Context(), check{"blocked", func(f *fixture) {
					f.blocked(blockedCalls[0], store.block)
				}}, store)
				if want := map[bool]string{true: "didn't return within 5s"}[deaf]; !strings.Contains(failure, want) ||
					want == "" && failure != "" {
					t.Errorf("got %q, want %q", failure, want)
				}
				<-time.After(time.Minute)
			})
		})
	}
}
