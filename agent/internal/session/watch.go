package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
)

// pollInbox is how often an inbox is read whose store isn't a [journal.Notifier].
const pollInbox = 500 * time.Millisecond

// WatchInbox has the holder told what other processes post to the run that has begun, until Close.
// What was posted to an earlier run has been taken or removed before.
func (l *Log) WatchInbox() {
	if l.sessions.InMemory { // there are no other processes
		return
	}
	posted, leave := contain.Posted(l.sessions.Store, l.Name)
	var ticks <-chan time.Time
	if posted == nil {
		tick := time.NewTicker(pollInbox)
		ticks, leave = tick.C, tick.Stop
	}
	ctx, cancel := context.WithCancel(l.Reads)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		defer leave()
		var before []string
		for {
			select {
			case <-posted:
			case <-ticks:
			case <-ctx.Done():
				return
			}
			before = l.look(ctx, before)
		}
	})
	l.unwatch = func() {
		cancel()
		watcher.Wait()
	}
}

// look tells the holder what is in the inbox, if something is that wasn't there before, and returns
// its ids.
func (l *Log) look(ctx context.Context, before []string) (ids []string) {
	items, err := l.readInbox(ctx)
	if err != nil { // the next look sees it, or the holder's own at a safe point
		return before
	}
	isNew := false
	for i := range items {
		ids = append(ids, items[i].ID)
		isNew = isNew || !slices.Contains(before, items[i].ID)
	}
	if h := l.sessions.Holder(l.Name); isNew && h != nil {
		h.Posted(items)
		h.Poke()
	}
	return ids
}
