package journaltest

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

type (
	claimFunc func(m *journal.MapStore, ctx context.Context, c journal.Claim, owner string, ttl time.Duration) (
		journal.Queued, journal.Lease, error)
	dueFunc func(m *journal.MapStore, ctx context.Context, c journal.Claim, take func(journal.Head) bool) (
		journal.Queued, error)
)

// hasty is a queue in memory with some of its methods replaced.
type hasty struct {
	*journal.MapStore
	claim  claimFunc
	due    dueFunc
	delay  func(m *journal.MapStore, ctx context.Context, l journal.Lease, until time.Time) error
	depths func([]journal.Depth) []journal.Depth
	append func(*journal.HeadUpdate)
}

func (h *hasty) Claim(ctx context.Context, c journal.Claim, owner string, ttl time.Duration) (
	journal.Queued, journal.Lease, error) {
	if h.claim == nil {
		return h.MapStore.Claim(ctx, c, owner, ttl)
	}
	return h.claim(h.MapStore, ctx, c, owner, ttl)
}

func (h *hasty) Due(ctx context.Context, c journal.Claim, take func(journal.Head) bool) (journal.Queued, error) {
	if h.due == nil {
		return h.MapStore.Due(ctx, c, take)
	}
	return h.due(h.MapStore, ctx, c, take)
}

func (h *hasty) Delay(ctx context.Context, l journal.Lease, until time.Time) error {
	if h.delay == nil {
		return h.MapStore.Delay(ctx, l, until)
	}
	return h.delay(h.MapStore, ctx, l, until)
}

func (h *hasty) Depths(ctx context.Context) ([]journal.Depth, error) {
	all, err := h.MapStore.Depths(ctx)
	if h.depths != nil {
		all = h.depths(all)
	}
	return all, err
}

func (h *hasty) Append(ctx context.Context, a journal.Append) error {
	if h.append != nil && a.Head != nil {
		head := *a.Head
		h.append(&head)
		a.Head = &head
	}
	return h.MapStore.Append(ctx, a)
}

// claimingWith returns a queue that claims with other options.
func claimingWith(change func(*journal.Claim)) *hasty {
	return &hasty{
		claim: func(m *journal.MapStore, ctx context.Context, c journal.Claim, owner string, ttl time.Duration) (
			journal.Queued, journal.Lease, error) {
			if c.Validate() == nil {
				change(&c)
			}
			return m.Claim(ctx, c, owner, ttl)
		},
		due: func(m *journal.MapStore, ctx context.Context, c journal.Claim, take func(journal.Head) bool) (
			journal.Queued, error) {
			if c.Validate() == nil {
				change(&c)
			}
			return m.Due(ctx, c, take)
		},
	}
}

// placing returns a queue that keeps other places.
func placing(change func(*journal.Place)) *hasty {
	return &hasty{append: func(h *journal.HeadUpdate) {
		if h.Queue != nil {
			p := *h.Queue
			change(&p)
			h.Queue = &p
		}
	}}
}

func TestEveryDefectOfAQueueIsCaught(t *testing.T) {
	for name, d := range map[string]struct {
		store *hasty
		check func(*fixture)
	}{
		"precedence is ignored": {placing(func(p *journal.Place) { p.Precedence = 0 }), claimsInOrder},
		"time is ignored": {&hasty{append: func(h *journal.HeadUpdate) {
			if h.Queue != nil {
				h.Due = longAgo
			}
		}}, claimsInOrder},
		"what has started waits":         {placing(func(p *journal.Place) { p.Started = false }), claimsOnlyWaiting},
		"groups are one":                 {placing(func(p *journal.Place) { p.Group = "" }), claimsInTurn},
		"each turn is the first group's": {claimingWith(func(c *journal.Claim) { c.After = "" }), claimsInTurn},
		"the limit is ignored":           {claimingWith(func(c *journal.Claim) { c.PerGroup = 0 }), claimsPerGroup},
		"the limit is another":           {claimingWith(func(c *journal.Claim) { c.PerGroup *= 2 }), claimsPerGroup},
		"a claim is two steps": {&hasty{claim: func(m *journal.MapStore, ctx context.Context, c journal.Claim,
			owner string, ttl time.Duration) (q journal.Queued, l journal.Lease, err error) {
			if q, err = m.Due(ctx, c, func(journal.Head) bool { return false }); err != nil || q.Session == "" {
				return q, l, err
			}
			for range 1000 { // others claim meanwhile
				runtime.Gosched()
			}
			l, err = m.Lease(ctx, q.Session, owner, ttl)
			return q, l, err
		}}, claimsAtOnce},
		"other agents are claimed for": {claimingWith(func(c *journal.Claim) { c.Agents = []string{"a", "b", "c"} }),
			claimsForAgents},
		"labels are ignored": {claimingWith(func(c *journal.Claim) { c.Full = nil }), claimsWithoutLabels},
		"a claim is no lease": {&hasty{claim: func(m *journal.MapStore, ctx context.Context, c journal.Claim,
			owner string, ttl time.Duration) (journal.Queued, journal.Lease, error) {
			q, l, err := m.Claim(ctx, c, owner, ttl)
			if err == nil {
				_ = m.Release(ctx, l)
			}
			return q, l, err
		}}, claimsLease},
		"a claim lasts": {&hasty{claim: func(m *journal.MapStore, ctx context.Context, c journal.Claim,
			owner string, ttl time.Duration) (journal.Queued, journal.Lease, error) {
			return m.Claim(ctx, c, owner, max(ttl, time.Hour))
		}}, claimsEnd},
		"nothing is delayed": {&hasty{delay: func(m *journal.MapStore, ctx context.Context, l journal.Lease,
			_ time.Time) error {
			return m.Delay(ctx, l, longAgo)
		}}, claimsDelayed},
		"nothing is put back": {&hasty{delay: func(*journal.MapStore, context.Context, journal.Lease, time.Time) error {
			return nil
		}}, claimsGoneOn},
		"no session is due": {&hasty{due: func(m *journal.MapStore, ctx context.Context, c journal.Claim,
			_ func(journal.Head) bool) (journal.Queued, error) {
			return m.Due(ctx, c, func(journal.Head) bool { return false })
		}}, dueForWorkers},
		"leased ones are due": {&hasty{due: func(m *journal.MapStore, ctx context.Context, c journal.Claim,
			take func(journal.Head) bool) (journal.Queued, error) {
			for h := range m.Heads(ctx, journal.Filter{Status: "running", NoParent: true}) {
				take(h)
			}
			return m.Due(ctx, c, take)
		}}, dueForWorkers},
		"depths end at two": {&hasty{depths: func(all []journal.Depth) []journal.Depth {
			for i := range all {
				all[i].Waiting = min(all[i].Waiting, 2)
			}
			return all
		}}, depths},
		"anything is a claim": {&hasty{claim: func(m *journal.MapStore, ctx context.Context, _ journal.Claim,
			owner string, ttl time.Duration) (journal.Queued, journal.Lease, error) {
			return m.Claim(ctx, claimOfA, owner, ttl)
		}}, claimsInvalid},
		"the context is ignored": {&hasty{claim: func(m *journal.MapStore, _ context.Context, c journal.Claim,
			owner string, ttl time.Duration) (journal.Queued, journal.Lease, error) {
			return m.Claim(context.Background(), c, owner, ttl)
		}}, claimsEnded},
	} {
		t.Run(name, func(t *testing.T) {
			d.store.MapStore = &journal.MapStore{}
			if failureOf(t.Context(), check{name, d.check}, d.store) == "" {
				t.Fatal("the check passes")
			}
		})
	}
}
