package ratelimit

import (
	"context"
	"slices"
	"time"

	"github.com/pawlkit/pawl/ratelimit/internal/list"
)

// An arrival is the part of a request that doesn't change when its call starts again.
type arrival struct {
	req      AcquireRequest
	rank     uint8
	preempts uint8
	seq      uint64 // in the order of arrival
	since    time.Time
}

// A waiter is a request in the queue. All fields except wake and the arrival are guarded by the
// gate's mu.
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

	lane    list.Links[waiter] // in its lane or level, in the order of arrival
	turn    list.Links[waiter] // in its session
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

func inLane(w *waiter) *list.Links[waiter]    { return &w.lane }
func inSession(w *waiter) *list.Links[waiter] { return &w.turn }
func inRing(s *session) *list.Links[session]  { return &s.ring }

// A session holds the requests of one session and one priority that haven't had a slot yet.
type session struct {
	name  string
	queue list.List[waiter]
	ring  list.Links[session]
}

// insertReturned puts a request that held a slot back in order of arrival. Requests start in that
// order, so the ones before it in the list have held a slot, too, and it passes no more requests
// than there are slots.
func insertReturned(l *list.List[waiter], w *waiter) {
	at := l.Head
	for at != nil && at.seq < w.seq {
		at = at.lane.Next
	}
	l.InsertBefore(at, w)
}

// A level is one priority of the background lane.
type level struct {
	rank     uint8
	returned list.List[waiter] // held a slot before: they have used their session's turn, and go first
	fresh    list.List[waiter] // the others, in the order of arrival
	sessions map[string]*session
	ring     list.List[session] // sessions of fresh, in the order of their turns
	running  int
}

func newLevel(rank uint8) *level {
	return &level{
		rank:     rank,
		returned: list.List[waiter]{Links: inLane},
		fresh:    list.List[waiter]{Links: inLane},
		sessions: make(map[string]*session),
		ring:     list.List[session]{Links: inRing},
	}
}

func (l *level) queued() int { return l.returned.Len + l.fresh.Len }

func (l *level) push(w *waiter) {
	if w.returned {
		insertReturned(&l.returned, w)
		return
	}
	l.fresh.PushBack(w)
	s := l.sessions[w.req.Session]
	if s == nil {
		s = &session{name: w.req.Session, queue: list.List[waiter]{Links: inSession}}
		l.sessions[s.name] = s
		l.ring.PushBack(s)
	}
	s.queue.PushBack(w)
	w.session = s
}

func (l *level) next() *waiter {
	if l.returned.Head != nil {
		return l.returned.Head
	}
	return l.ring.Head.queue.Head
}

// remove removes w. If it starts, its session has used its turn.
func (l *level) remove(w *waiter, starts bool) {
	if w.returned {
		l.returned.Remove(w)
		return
	}
	l.fresh.Remove(w)
	s := w.session
	w.session = nil
	s.queue.Remove(w)
	switch {
	case s.queue.Len == 0:
		l.ring.Remove(s)
		delete(l.sessions, s.name)
	case starts:
		l.ring.Remove(s)
		l.ring.PushBack(s)
	}
}

// A backlog is the queue of the background lane.
type backlog struct {
	levels []*level // the highest priority first
	n      int
}

// level returns the level of a priority, and adds one if there is none.
func (b *backlog) level(rank uint8) *level {
	above := func(l *level, rank uint8) int { return int(rank) - int(l.rank) }
	i, found := slices.BinarySearchFunc(b.levels, rank, above)
	if !found {
		b.levels = slices.Insert(b.levels, i, newLevel(rank))
	}
	return b.levels[i]
}

func (b *backlog) push(w *waiter) {
	b.level(w.rank).push(w)
	b.n++
}

func (b *backlog) remove(w *waiter, starts bool) {
	b.level(w.rank).remove(w, starts)
	b.n--
}

// next returns the request whose turn it is, or nil.
func (b *backlog) next() *waiter {
	for _, l := range b.levels {
		if l.queued() > 0 {
			return l.next()
		}
	}
	return nil
}

// ahead returns how many requests of this lane may go before one of that rank.
func (b *backlog) ahead(rank uint8) (n int) {
	for _, l := range b.levels {
		if l.rank >= rank {
			n += l.queued()
		}
	}
	return n
}
