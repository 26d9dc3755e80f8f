package circuit

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// A Set holds a [Breaker] for each key: for each provider, host or tool, shared by all who call it.
//
// It holds at most 10,000. A closed breaker is dropped when nobody has used it for 10 minutes, as far as Get and Snapshot
// can tell, which look once a minute when they are called. When the set is full, a new key takes the place of another: a
// closed one that hasn't been used since it was last looked at, if one is found among 128, else any closed one of these,
// else one of them. Whoever still holds a breaker that was dropped may go on using it: it hands its calls to the one that
// the set has under its name. A Set starts no goroutine. The zero Set works, with the defaults of [Config]; a nil one has
// only nil breakers. A Set is safe for concurrent use.
type Set struct {
	cfg Config // fixed at creation

	mu    sync.RWMutex // guards what follows; taken before a breaker's own
	byKey map[string]*Breaker
	all   []*Breaker // in no order
	hand  int        // where to look for a place
	swept time.Time

	sharing sharing
}

// What is known of a breaker in a set.
type member struct {
	at   int       // its place in Set.all; guarded by Set.mu
	seen time.Time // when it was last known to have been used; guarded by Set.mu

	// guarded by the breaker's mu
	idle      bool // not used since seen
	dropped   bool
	published time.Time // what other processes know of it: until when it is open
}

const (
	mostBreakers = 10_000
	idleFor      = 10 * time.Minute
	sweepEvery   = time.Minute
	mostLooked   = 128
)

// NewSet returns an empty set whose breakers have this configuration. Their names are their keys.
func NewSet(cfg Config) *Set { return &Set{cfg: cfg} }

// Get returns the breaker of that key, which it makes if there is none.
func (s *Set) Get(key string) *Breaker {
	if s == nil {
		return nil
	}
	s.mu.RLock()
	b, swept := s.byKey[key], s.swept
	s.mu.RUnlock()
	now := time.Now()
	if b != nil && now.Sub(swept) < sweepEvery {
		b.use()
		return b
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(key, now)
}

// get is Get under the lock.
func (s *Set) get(key string, now time.Time) *Breaker {
	b := s.byKey[key]
	if b != nil {
		b.use()
	}
	s.sweep(now)
	if b != nil {
		return b
	}
	if len(s.all) >= mostBreakers {
		s.drop(s.victim(now))
	}
	if s.byKey == nil {
		s.byKey = make(map[string]*Breaker)
	}
	b = New(key, s.cfg)
	b.set = s
	b.member = member{at: len(s.all), seen: now, idle: true}
	b.publish()
	s.byKey[key] = b
	s.all = append(s.all, b)
	return b
}

// use notes that b is used.
func (b *Breaker) use() {
	if b.word.Load()&idle == 0 {
		return
	}
	b.mu.Lock()
	b.member.idle = false
	b.publish()
	b.mu.Unlock() // not unlock: the caller may hold the set's lock, under which nobody is told anything
}

// Snapshot returns a snapshot of each breaker, in the order of their names.
func (s *Set) Snapshot() []Snapshot {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	s.sweep(time.Now())
	all := slices.Clone(s.all)
	s.mu.Unlock()
	shots := make([]Snapshot, 0, len(all))
	for _, b := range all {
		if b.word.Load()&dropped == 0 {
			shots = append(shots, b.Snapshot())
		}
	}
	slices.SortFunc(shots, func(a, b Snapshot) int { return cmp.Compare(a.Name, b.Name) })
	return shots
}

// sweep drops what is closed and has been idle, once a minute.
func (s *Set) sweep(now time.Time) {
	if since := now.Sub(s.swept); 0 <= since && since < sweepEvery {
		return
	}
	s.swept = now
	for i := len(s.all) - 1; i >= 0; i-- { // drop puts the last, which was looked at, in the place of the dropped
		b := s.all[i]
		if b.unused(now) == unusedClosed && now.Sub(b.member.seen) >= idleFor {
			s.drop(b)
		}
	}
}

// How willingly a breaker makes room.
type unwanted int

const (
	inTrouble    unwanted = iota // open or half-open
	usedClosed                   // closed
	unusedClosed                 // closed, and not used since it was last looked at
)

// unused says how b was used since the last look, and begins the next. The caller holds the set's lock.
func (b *Breaker) unused(now time.Time) unwanted {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.member.idle
	if !was {
		b.member.idle, b.member.seen = true, now
		b.publish()
	}
	switch {
	case b.state != Closed:
		return inTrouble
	case was:
		return unusedClosed
	}
	return usedClosed
}

// victim returns the breaker that makes room for another.
func (s *Set) victim(now time.Time) *Breaker {
	var best *Breaker
	rank := unwanted(-1)
	for range min(mostLooked, len(s.all)) {
		s.hand++
		if s.hand >= len(s.all) {
			s.hand = 0
		}
		b := s.all[s.hand]
		if u := b.unused(now); u > rank {
			best, rank = b, u
		}
		if rank == unusedClosed {
			break
		}
	}
	s.hand = best.member.at // so that each has its turn, even if all are alike
	return best
}

// drop takes b out of the set. What it lets pass from now on is the business of its successor, what is on its way of nobody.
func (s *Set) drop(b *Breaker) {
	last := len(s.all) - 1
	s.all[b.member.at] = s.all[last]
	s.all[b.member.at].member.at = b.member.at
	s.all[last] = nil
	s.all = s.all[:last]
	delete(s.byKey, b.name)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.member.dropped = true
	b.publish()
}
