package circuit

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Set holds a [Breaker] for each key: for each provider, host or tool, shared by all its callers.
//
// It holds at most 10,000 breakers. A closed breaker is dropped when it hasn't been used for 10
// minutes; Get and Snapshot check this at most once a minute. When the set is full, a new key
// replaces another: among 128 breakers, preferably a closed one that hasn't been used since the
// last check, else any closed one, else any. A breaker that was dropped can still be used: it
// forwards its calls to the breaker that the set now has under its name. A Set starts no goroutine.
// The zero Set is ready to use, with the defaults of [Config]; a nil Set has only nil breakers. A
// Set is safe for concurrent use.
type Set struct {
	cfg Config // fixed at creation

	mu    sync.Mutex // guards what follows; taken before a breaker's own
	byKey map[string]*Breaker
	swept time.Time
}

// A member is what the set records about a breaker.
type member struct {
	seen time.Time // when it was last known to have been used; guarded by Set.mu

	// guarded by the breaker's mu
	idle    bool // not used since seen
	dropped bool
}

const (
	mostBreakers = 10_000
	idleFor      = 10 * time.Minute
	sweepEvery   = time.Minute
	mostLooked   = 128
)

// NewSet returns an empty set whose breakers have this configuration and are named by their keys.
func NewSet(cfg Config) *Set { return &Set{cfg: cfg} }

// Get returns the breaker of a key, and creates it if there is none.
func (s *Set) Get(key string) *Breaker {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	b := s.byKey[key]
	if b != nil {
		b.use()
	}
	s.sweep(now)
	if b != nil {
		return b
	}
	if len(s.byKey) >= mostBreakers {
		s.drop(s.victim(now))
	}
	if s.byKey == nil {
		s.byKey = make(map[string]*Breaker)
	}
	b = New(key, s.cfg)
	b.set = s
	b.member = member{seen: now, idle: true}
	s.byKey[key] = b
	return b
}

// use records that b is used.
func (b *Breaker) use() {
	b.mu.Lock()
	b.member.idle = false
	b.mu.Unlock() // not unlock: the caller holds the set's lock, and OnChange must not be called under it
}

// Snapshot returns a snapshot of each breaker, in the order of their names.
func (s *Set) Snapshot() []Snapshot {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	s.sweep(time.Now())
	all := slices.Collect(maps.Values(s.byKey))
	s.mu.Unlock()
	shots := make([]Snapshot, 0, len(all))
	for _, b := range all {
		b.mu.Lock()
		dropped := b.member.dropped
		b.mu.Unlock()
		if !dropped {
			shots = append(shots, b.Snapshot())
		}
	}
	slices.SortFunc(shots, func(a, b Snapshot) int { return cmp.Compare(a.Name, b.Name) })
	return shots
}

// sweep drops closed breakers that have been idle; it runs at most once a minute.
func (s *Set) sweep(now time.Time) {
	if since := now.Sub(s.swept); 0 <= since && since < sweepEvery {
		return
	}
	s.swept = now
	for _, b := range s.byKey {
		if b.unused(now) == unusedClosed && now.Sub(b.member.seen) >= idleFor {
			s.drop(b)
		}
	}
}

// A dropRank says how suitable a breaker is for being dropped; higher is dropped first.
type dropRank int

const (
	inTrouble    dropRank = iota // open or half-open
	usedClosed                   // closed
	unusedClosed                 // closed, and not used since the last check
)

// unused says how b was used since the last check, and starts the next interval. The caller holds
// the set's lock.
func (b *Breaker) unused(now time.Time) dropRank {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.member.idle
	if !was {
		b.member.idle, b.member.seen = true, now
	}
	switch {
	case b.state != Closed:
		return inTrouble
	case was:
		return unusedClosed
	}
	return usedClosed
}

// victim returns the breaker to drop for a new one: the best of some in the map's random order.
func (s *Set) victim(now time.Time) (best *Breaker) {
	rank, looked := dropRank(-1), 0
	for _, b := range s.byKey {
		if u := b.unused(now); u > rank {
			best, rank = b, u
		}
		if looked++; rank == unusedClosed || looked == mostLooked {
			break
		}
	}
	return best
}

// drop removes b from the set. It forwards later calls to its successor; results of calls in
// progress are ignored.
func (s *Set) drop(b *Breaker) {
	delete(s.byKey, b.name)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.member.dropped = true
}
