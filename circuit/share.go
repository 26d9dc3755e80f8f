package circuit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// sharing is the state of a Set's exchange with other processes.
type sharing struct {
	busy atomic.Bool // guards origin and mark
	wake atomic.Pointer[chan struct{}]

	origin string
	mark   uint64
}

// Sync reads from the store what other processes have published since the last Sync, then publishes which breakers have
// opened or closed here:
//
//   - A breaker that is open there is open here until the same time, but never for longer than its own cooldown from now,
//     so that neither a wrong clock nor an old record keeps it open. The clocks of the processes should agree to within a
//     second.
//   - One that has closed there, or was reset, may be probed here at once, unless it has opened here since the last Sync.
//     It closes by its own probes: each process lets at most Config.ClosesAfter pass.
//
// Failures aren't added up across processes: each process opens a breaker by its own results. The first Sync reads which
// breakers are open already, so call it before the first call, and keep [Set.Share] running. The second of two concurrent
// calls returns an error. After an error, or a panic of the store, the set is unchanged, and the next Sync completes the
// work.
func (s *Set) Sync(ctx context.Context, store Store) error {
	if s == nil || store == nil || ctx == nil {
		return fault.New(fault.Invalid, "circuit: Sync needs a set, a context and a store, got nil")
	}
	if !s.sharing.busy.CompareAndSwap(false, true) {
		return errors.New("circuit: another Sync of this set is on its way: share it from one place")
	}
	defer s.sharing.busy.Store(false)
	if s.sharing.origin == "" {
		s.sharing.origin = rand.Text()
	}
	records, mark, err := changes(ctx, store, s.sharing.mark)
	if err != nil {
		return fmt.Errorf("circuit: read what has changed: %w", err)
	}
	for _, r := range records {
		if r.Origin != s.sharing.origin {
			s.learn(r)
		}
	}
	s.sharing.mark = mark
	news := s.news() // after reading, so that the later of two times is published
	if len(news) == 0 {
		return nil
	}
	if err := publish(ctx, store, news); err != nil {
		return fmt.Errorf("circuit: publish %d records: %w", len(news), err)
	}
	s.published(news)
	return nil
}

func changes(ctx context.Context, store Store, after uint64) (_ []Record, _ uint64, err error) {
	defer contain(&err)
	return store.Changes(ctx, after)
}

func publish(ctx context.Context, store Store, news []Record) (err error) {
	defer contain(&err)
	return store.Publish(ctx, news)
}

// contain turns a store's panic into an error.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the store panicked: %v", p)
	}
}

// Share calls [Set.Sync] at once, whenever a breaker opens or closes here, and otherwise each interval (1 s if it is 0 or
// less, which is about how late one process knows what another does), until ctx ends; then it returns the cause. Each Sync
// may take 10 s; failed, which may be nil, is called with its error. Share runs in the caller's goroutine:
//
//	go func() { _ = breakers.Share(ctx, store, time.Second, nil) }()
func (s *Set) Share(ctx context.Context, store Store, interval time.Duration, failed func(error)) error {
	if s == nil || store == nil || ctx == nil {
		return fault.New(fault.Invalid, "circuit: Share needs a set, a context and a store, got nil")
	}
	if interval <= 0 {
		interval = time.Second
	}
	wake := make(chan struct{}, 1)
	if !s.sharing.wake.CompareAndSwap(nil, &wake) {
		return errors.New("circuit: this set is being shared already")
	}
	defer s.sharing.wake.Store(nil)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := s.syncFor(ctx, store); err != nil && ctx.Err() == nil {
			if failed != nil {
				failed(err)
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-wake:
		}
	}
	return context.Cause(ctx)
}

func (s *Set) syncFor(ctx context.Context, store Store) error {
	const most = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return s.Sync(ctx, store)
}

// changed wakes Share. It is called under a breaker's lock, so it mustn't wait.
func (s *Set) changed() {
	if wake := s.sharing.wake.Load(); wake != nil {
		select {
		case *wake <- struct{}{}:
		default:
		}
	}
}

// news returns the states that haven't been published yet. It compares states, so intermediate changes are left out, and
// what a failed Sync didn't publish is included.
func (s *Set) news() []Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var news []Record
	for _, b := range s.all {
		b.mu.Lock()
		if until := b.shared(); !until.Equal(b.member.published) {
			news = append(news, Record{Key: b.name, Origin: s.sharing.origin, Until: until})
		}
		b.mu.Unlock()
	}
	return news
}

// shared returns the time to publish, until which b is open. While half-open it is the time published before, which
// has passed for the other processes, too.
func (b *Breaker) shared() time.Time {
	switch b.state {
	case Closed:
		return time.Time{}
	case Open:
		return b.until.Round(0)
	}
	return b.member.published
}

func (s *Set) published(news []Record) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, r := range news {
		if b := s.byKey[r.Key]; b != nil {
			b.mu.Lock()
			b.member.published = r.Until
			b.mu.Unlock()
		}
	}
}

// learn applies a record of another process.
func (s *Set) learn(r Record) {
	now := time.Now()
	s.mu.Lock()
	b := s.byKey[r.Key]
	if b == nil && r.Until.After(now) && len(s.all) < mostBreakers { // a full set drops nothing for a key that isn't used here
		b = s.get(r.Key, now)
	}
	s.mu.Unlock()
	if b == nil {
		return
	}
	b, now = b.lock()
	defer b.unlock()
	unpublished := !b.shared().Equal(b.member.published)
	if unpublished && r.Until.IsZero() {
		return // this process has opened it since, which is newer
	}
	b.applyShared(now, r.Until)
	if !unpublished || b.shared().Equal(r.Until) {
		b.member.published = b.shared()
	}
}

// applyShared applies what another process found out: that the resource must not be called before until, or that it works
// again.
func (b *Breaker) applyShared(now, until time.Time) {
	wait := min(until.Sub(now), b.cfg.Cooldown) // by both wall clocks; from here on by our monotonic one
	switch {
	case until.IsZero() && b.state == Open:
		b.until = now
		b.advance(now)
	case wait <= 0:
	case b.state != Open:
		b.openAt(now, Elsewhere, now.Add(wait), errElsewhere)
	case b.until.Before(now.Add(wait)):
		b.until = now.Add(wait)
	}
}

var errElsewhere = fault.New(fault.Degraded, "circuit: another process found it failing")
