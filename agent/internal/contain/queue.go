package contain

import (
	"context"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Queue returns the queue of a store, so that its calls end and don't panic; nil if it has none.
func Queue(store journal.Store) journal.Queue {
	c, ok := store.(*containedStore)
	if !ok {
		queue, _ := store.(journal.Queue)
		return queue
	}
	if queue, ok := c.store.(journal.Queue); ok {
		return &containedQueue{c, queue}
	}
	return nil
}

type containedQueue struct {
	*containedStore
	queue journal.Queue
}

func (c *containedQueue) Due(ctx context.Context, claim journal.Claim, take func(journal.Head) bool) (
	journal.Queued, error) {
	var mu sync.Mutex
	over := false // a call that was abandoned may go on
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}()
	return ask(ctx, c.containedStore, storeCall, "Due", "", func(ctx context.Context) (journal.Queued, error) {
		return c.queue.Due(ctx, claim, func(h journal.Head) bool {
			mu.Lock()
			defer mu.Unlock()
			return !over && take(h)
		})
	})
}

func (c *containedQueue) Claim(ctx context.Context, claim journal.Claim, owner string, ttl time.Duration) (
	journal.Queued, journal.Lease, error) {
	type claimed struct {
		queued journal.Queued
		lease  journal.Lease
	}
	got, err := ask(ctx, c.containedStore, storeCall, "Claim", "", func(ctx context.Context) (v claimed, err error) {
		v.queued, v.lease, err = c.queue.Claim(ctx, claim, owner, ttl)
		return v, err
	})
	return got.queued, got.lease, err
}

func (c *containedQueue) Delay(ctx context.Context, l journal.Lease, until time.Time) error {
	return c.do(ctx, storeCall, "Delay", l.Session, func(ctx context.Context) error {
		return c.queue.Delay(ctx, l, until)
	})
}

func (c *containedQueue) Depths(ctx context.Context) ([]journal.Depth, error) {
	return ask(ctx, c.containedStore, storeCall, "Depths", "", c.queue.Depths)
}

// Transactor returns a store as one that can make several changes at once; nil if it can't.
func Transactor(store journal.Store) journal.Transactor {
	if c, ok := store.(*containedStore); ok {
		store = c.store
	}
	t, _ := store.(journal.Transactor)
	return t
}
