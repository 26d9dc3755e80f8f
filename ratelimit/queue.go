package ratelimit

import (
	"context"
	"math/bits"
	"time"
)

// An arrival is the part of a request that doesn't change when its call starts again.
type arrival struct {
	req      AcquireRequest
	rank     uint8
	preempts uint8
	seq      uint64 // in the order of arrival
	since    time.Time
}

// A waiter is a request in the queue. All fields except wake and the arrival are guarded by the gate's mu.
type waiter struct {
	arrival
	returned bool // it held a slot before

	cancel context.CancelCauseFunc
	wake   chan struct{} // capacity 1; the state has changed or, if it listens, the reason for waiting
	state  waitState
	slot   *slot // when granted
	gen    uint64
	err    error // when failed
	ahead  int   // of an interactive request: requests ahead of it when it arrived

	lane    links[waiter] // in its lane or level, in the order of arrival
	turn    links[waiter] // in its session
	session *session
}

// newWaiter returns a waiter, possibly one that was granted before, with its channel.
func (q *queue) newWaiter(r *arrival, cancel context.CancelCauseFunc) *waiter {
	w, _ := q.granted.Get().(*waiter)
	if w == nil {
		w = &waiter{wake: make(chan struct{}, 1)}
	}
	w.arrival, w.cancel = *r, cancel
	return w
}

// free takes back a granted waiter, which is in no queue.
func (q *queue) free(w *waiter) {
	select {
	case <-w.wake:
	default:
	}
	*w = waiter{wake: w.wake}
	q.granted.Put(w)
}

type waitState uint8

const (
	waiting waitState = iota
	granted
	failed
)

func (w *waiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func inLane(w *waiter) *links[waiter]    { return &w.lane }
func inSession(w *waiter) *links[waiter] { return &w.turn }
func inRing(s *session) *links[session]  { return &s.ring }

// A session holds the requests of one session and one priority that haven't had a slot yet.
type session struct {
	name  string
	queue list[waiter]
	ring  links[session]
}

// insertReturned puts a request that held a slot back in order of arrival. Requests start in that order, so the ones
// before it in the list have held a slot, too, and it passes no more requests than there are slots.
func insertReturned(l *list[waiter], w *waiter) {
	at := l.head
	for at != nil && at.seq < w.seq {
		at = at.lane.next
	}
	l.insertBefore(at, w)
}

// A level is one priority of the background lane.
type level struct {
	returned list[waiter] // held a slot before: they have used their session's turn, and go first
	fresh    list[waiter] // the others, in the order of arrival
	sessions map[string]*session
	ring     list[session] // sessions of fresh, in the order of their turns
	running  int
}

func newLevel() *level {
	return &level{
		returned: list[waiter]{links: inLane},
		fresh:    list[waiter]{links: inLane},
		sessions: make(map[string]*session),
		ring:     list[session]{links: inRing},
	}
}

func (l *level) queued() int { return l.returned.n + l.fresh.n }

func (l *level) push(w *waiter) {
	if w.returned {
		insertReturned(&l.returned, w)
		return
	}
	l.fresh.pushBack(w)
	s := l.sessions[w.req.Session]
	if s == nil {
		s = &session{name: w.req.Session, queue: list[waiter]{links: inSession}}
		l.sessions[s.name] = s
		l.ring.pushBack(s)
	}
	s.queue.pushBack(w)
	w.session = s
}

func (l *level) next() *waiter {
	if l.returned.head != nil {
		return l.returned.head
	}
	return l.ring.head.queue.head
}

// remove removes w. If it starts, its session has used its turn.
func (l *level) remove(w *waiter, starts bool) {
	if w.returned {
		l.returned.remove(w)
		return
	}
	l.fresh.remove(w)
	s := w.session
	w.session = nil
	s.queue.remove(w)
	switch {
	case s.queue.n == 0:
		l.ring.remove(s)
		delete(l.sessions, s.name)
	case starts:
		l.ring.remove(s)
		l.ring.pushBack(s)
	}
}

// A backlog is the queue of the background lane.
type backlog struct {
	levels [highest + 1]*level         // by priority; nil until used
	used   [(highest + 64) / 64]uint64 // one bit for each level that has something queued
	n      int
}

func (b *backlog) level(rank uint8) *level {
	l := b.levels[rank]
	if l == nil {
		l = newLevel()
		b.levels[rank] = l
	}
	return l
}

func (b *backlog) push(w *waiter) {
	b.level(w.rank).push(w)
	b.used[w.rank/64] |= 1 << (w.rank % 64)
	b.n++
}

func (b *backlog) remove(w *waiter, starts bool) {
	l := b.levels[w.rank]
	l.remove(w, starts)
	if l.queued() == 0 {
		b.used[w.rank/64] &^= 1 << (w.rank % 64)
	}
	b.n--
}

// next returns the request whose turn it is, or nil.
func (b *backlog) next() *waiter {
	for i := len(b.used) - 1; i >= 0; i-- {
		if b.used[i] != 0 {
			return b.levels[i*64+bits.Len64(b.used[i])-1].next()
		}
	}
	return nil
}

// last returns the request to drop for one of a higher priority: the newest of the lowest priority, if that is below rank.
// It returns nil if there is none. Requests that held a slot before are never dropped.
func (b *backlog) last(rank uint8) *waiter {
	for i, used := range b.used {
		for ; used != 0; used &= used - 1 {
			at := i*64 + bits.TrailingZeros64(used)
			if at >= int(rank) {
				return nil
			}
			if w := b.levels[at].fresh.tail; w != nil {
				return w
			}
		}
	}
	return nil
}

// ahead returns how many requests of this lane may go before one of that rank.
func (b *backlog) ahead(rank uint8) (n int) {
	for i := int(rank) / 64; i < len(b.used); i++ {
		used := b.used[i]
		if i == int(rank)/64 {
			used &= ^uint64(0) << (rank % 64)
		}
		for ; used != 0; used &= used - 1 {
			n += b.levels[i*64+bits.TrailingZeros64(used)].queued()
		}
	}
	return n
}
