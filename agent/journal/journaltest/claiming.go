package journaltest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// RunClaims checks that stores of one empty journal, as processes have it, claim so many sessions
// at the same moment: each starts once, none is lost, and the limit of a group is never exceeded,
// though some claims die before they have started anything. It is part of [Run] with few sessions
// and one store.
func RunClaims(t *testing.T, stores []journal.Queue, sessions int) {
	t.Helper()
	f := on(t, stores[0])
	f.ctx = t.Context() // many take long
	f.claimAll(stores, sessions)
}

// deadTime is how long a claim lasts that dies.
const deadTime = 50 * time.Millisecond

// A claiming is what is known of claims that several make at a time.
type claiming struct {
	mu      sync.Mutex
	starts  map[string]int // by session
	now     map[string]int // by group, those that are claimed or have started
	queued  int            // sessions
	claimed int            // claims
}

// perGroup is the limit of each group.
const perGroup = 2

// claimAll has two workers for each store, and one for all that queues sessions meanwhile.
func (f *fixture) claimAll(stores []journal.Queue, sessions int) {
	f.t.Helper()
	c := &claiming{starts: make(map[string]int), now: make(map[string]int)}
	queue := func(upTo int) error {
		for i := c.queued; i < upTo; i++ {
			if err := f.store.Append(f.ctx, journal.Append{Session: fmt.Sprint("s", i), Records: recs(1, 1),
				Head: &journal.HeadUpdate{Status: "queued", Due: longAgo, Queue: &journal.Place{Agent: "a",
					Group: fmt.Sprint("g", i%3), Precedence: i % 7}}}); err != nil {
				return err
			}
		}
		c.queued = upTo
		return nil
	}
	if err := queue(sessions / 2); err != nil {
		f.t.Fatalf("append: %v", err)
	}
	f.together(2*len(stores)+1, func(w int) error {
		if w == 2*len(stores) {
			return queue(sessions)
		}
		return f.claimer(c, stores[w%len(stores)], fmt.Sprint("w", w), sessions)
	})
	for name, n := range c.starts {
		f.equal("starts of "+name, n, 1)
	}
	f.equal("number of sessions that have started", len(c.starts), sessions)
	all, err := stores[0].Depths(f.ctx)
	if err != nil || len(all) > 0 {
		f.t.Fatalf("depths in the end: %+v, %v", all, err)
	}
}

// claimer claims, starts and ends sessions until so many have started.
func (f *fixture) claimer(c *claiming, store journal.Queue, owner string, sessions int) error {
	claim := journal.Claim{Agents: []string{"a"}, PerGroup: perGroup}
	for {
		c.mu.Lock()
		c.claimed++
		dies, over := c.claimed%7 == 0, len(c.starts) == sessions
		c.mu.Unlock()
		ttl := time.Hour
		if dies {
			ttl = deadTime
		}
		if over {
			return nil
		}
		q, l, err := store.Claim(f.ctx, claim, owner, ttl)
		if err != nil {
			return err
		}
		if q.Session == "" { // the groups are full, or their claims have died
			select {
			case <-time.After(time.Millisecond):
			case <-f.ctx.Done():
				return f.ctx.Err()
			}
			continue
		}
		claim.After = q.Group
		c.mu.Lock()
		c.now[q.Group]++
		busy := c.now[q.Group]
		if dies {
			c.now[q.Group]--
		} else {
			c.starts[q.Session]++
		}
		c.mu.Unlock()
		switch {
		case busy > perGroup:
			return fmt.Errorf("%d of group %q are claimed at a time", busy, q.Group)
		case dies:
			continue
		}
		if err := f.endOf(c, store, q, l); err != nil {
			return err
		}
	}
}

// endOf starts and ends a session that was claimed.
func (f *fixture) endOf(c *claiming, store journal.Queue, q journal.Queued, l journal.Lease) error {
	started := started(q.Place)
	a := journal.Append{Session: q.Session, After: 1, Fence: l.Fence, Records: recs(2, 2), Head: &started}
	if err := store.Append(f.ctx, a); err != nil {
		return err
	}
	c.mu.Lock()
	c.now[q.Group]-- // from here on another may have its place
	c.mu.Unlock()
	a.After, a.Records, a.Head = 2, recs(3, 3), &journal.HeadUpdate{Status: "completed"}
	return store.Append(f.ctx, a)
}
