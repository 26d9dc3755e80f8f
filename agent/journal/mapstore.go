package journal

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// A MapStore is a [Store] in memory, for tests and for runs that aren't resumed after the process
// has ended.
//
// It keeps every session until that is deleted. It starts no goroutine, and its clock is time.Now.
// The zero MapStore is empty and ready to use; it must not be copied.
type MapStore struct {
	mu       sync.Mutex // guards what follows, and the sessions
	sessions map[string]*session
	children map[string]map[string]*session // of each parent
	fence    uint64                         // the last one of any session; it keeps rising after one is deleted
	turn     uint64                         // the last one of any session
	begun    uint64                         // how many sessions have begun
	queue    map[string]*standing           // of the sessions that have a place in the queue
}

var _ Store = (*MapStore)(nil)

// A session is never returned, only copied from. The records in entries don't change, so a reader
// may use the slice that it got under the lock.
type session struct {
	head    Head   // Until has the monotonic reading, which what is handed out doesn't
	n       uint64 // its number among all that have begun
	entries []entry
	inbox   []Item
	ids     map[string]bool // every id posted or closed; true once taken
	turns   []turn          // oldest first
}

// An entry is a record and the fence with which it was appended. The same record with another fence
// is another append.
type entry struct {
	Record
	fence uint64
}

// Append implements [Store].
func (m *MapStore) Append(ctx context.Context, a Append) error {
	if err := ready(ctx, "append to", a.Session, a.Validate()); err != nil {
		return err
	}
	now := normalize(time.Now())

	m.mu.Lock()
	defer m.mu.Unlock()
	s, known := m.sessions[a.Session]
	if !known {
		s = newSession(a.Session, now)
	}
	if !s.writable(a.Fence) {
		return s.conflict(a.After, a.Fence)
	}
	if s.repeats(a) {
		return nil
	}
	if a.After != s.head.Seq {
		return s.conflict(a.After, a.Fence)
	}
	if a.Quiet && len(s.inbox) > 0 {
		return ErrInbox
	}
	before := s.head.Parent
	s.add(a, now)
	if !known {
		m.enter(s)
	}
	if a.Head != nil {
		m.stand(s, a.Head.Queue)
	}
	if a.Head != nil && len(a.Records) > 0 {
		m.turn++
		s.turns = append(s.turns, turn{m.turn, s.head.Seq})
	}
	if before != s.head.Parent {
		m.leave(s, before)
		m.join(s)
	}
	return nil
}

// Read implements [Store]. It yields what was there when the loop began.
func (m *MapStore) Read(ctx context.Context, session string, after uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		entries, err := m.entries(session, after)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for i := range entries {
			if err := ready(ctx, "read", session, nil); err != nil {
				yield(Record{}, err)
				return
			}
			r := entries[i].Record
			r.Data = bytes.Clone(r.Data)
			if !yield(r, nil) {
				return
			}
		}
		if err := ready(ctx, "read", session, nil); err != nil {
			yield(Record{}, err)
		}
	}
}

func (m *MapStore) entries(session string, after uint64) ([]entry, error) {
	if err := ValidateSession(session); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	switch {
	case s == nil || after >= s.head.Seq:
		return nil, nil
	case after < s.head.Pruned:
		return nil, &PrunedError{Session: session, After: after, UpTo: s.head.Pruned}
	}
	return s.entries[after-s.head.Pruned:], nil
}

// Head implements [Store].
func (m *MapStore) Head(ctx context.Context, session string) (Head, error) {
	if err := ready(ctx, "head of", session, ValidateSession(session)); err != nil {
		return Head{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return Head{}, fmt.Errorf("%w: %q", ErrNoSession, session)
	}
	return s.head.clone(), nil
}

// Heads implements [Store]. It yields what was there when the loop began.
func (m *MapStore) Heads(ctx context.Context, f Filter) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		for _, h := range m.matching(f) {
			if err := ctx.Err(); err != nil {
				break
			}
			if !yield(h.clone(), nil) { // what a head refers to doesn't change
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Head{}, fmt.Errorf("journal: list heads: %w", err))
		}
	}
}

func (m *MapStore) matching(f Filter) []Head {
	m.mu.Lock()
	defer m.mu.Unlock()
	var heads []Head
	for _, s := range m.candidates(f) {
		if f.Match(s.head) {
			heads = append(heads, s.head)
		}
	}
	slices.SortFunc(heads, f.compare)
	if f.Limit > 0 && len(heads) > f.Limit {
		heads = heads[:f.Limit]
	}
	return heads
}

// candidates returns at least the sessions that f lists.
func (m *MapStore) candidates(f Filter) map[string]*session {
	if f.Parent != "" {
		return m.children[f.Parent]
	}
	return m.sessions
}

// enter enters a new session.
func (m *MapStore) enter(s *session) {
	if m.sessions == nil {
		m.sessions, m.children = make(map[string]*session), make(map[string]map[string]*session)
	}
	m.begun++
	s.n = m.begun
	m.sessions[s.head.Session] = s
}

// join enters a session among the children of its parent.
func (m *MapStore) join(s *session) {
	if s.head.Parent == "" {
		return
	}
	if m.children[s.head.Parent] == nil {
		m.children[s.head.Parent] = make(map[string]*session)
	}
	m.children[s.head.Parent][s.head.Session] = s
}

// leave removes a session from the children of a parent.
func (m *MapStore) leave(s *session, parent string) {
	if delete(m.children[parent], s.head.Session); len(m.children[parent]) == 0 {
		delete(m.children, parent)
	}
}

// Delete implements [Store].
func (m *MapStore) Delete(ctx context.Context, session string, upTo uint64) error {
	if err := ready(ctx, "delete from", session, ValidateSession(session)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return nil
	}
	if upTo == All {
		m.leave(s, s.head.Parent)
		delete(m.sessions, session)
		delete(m.queue, session)
		return nil
	}
	if upTo = min(upTo, s.head.Seq); upTo > s.head.Pruned {
		s.entries = slices.Clone(s.entries[upTo-s.head.Pruned:]) // a copy, so that the rest is freed
		s.head.Pruned = upTo
		s.turns = slices.DeleteFunc(s.turns, func(t turn) bool { return t.seq <= upTo })
	}
	return nil
}

func newSession(name string, now time.Time) *session {
	return &session{head: Head{Session: name, Created: now, Updated: now}, turns: make([]turn, 0, 2)}
}

// writable reports whether fence may append: it is the newest, and wasn't released.
func (s *session) writable(fence uint64) bool {
	return fence == s.head.Fence && (fence == 0 || s.head.Owner != "")
}

// repeats reports whether the records of a are in the log already, at the same numbers and with the
// same fence.
func (s *session) repeats(a Append) bool {
	n := uint64(len(a.Records))
	if n == 0 || a.After < s.head.Pruned || a.After+n > s.head.Seq {
		return false
	}
	for i, e := range s.entries[a.After-s.head.Pruned:][:n] {
		if e.fence != a.Fence || !e.Equal(a.Records[i]) {
			return false
		}
	}
	return true
}

func (s *session) add(a Append, now time.Time) {
	for _, r := range a.Records {
		s.head.Seq++
		r.Seq = s.head.Seq
		r.Time = normalize(r.Time)
		r.Data = bytes.Clone(r.Data)
		s.entries = append(s.entries, entry{r, a.Fence})
	}
	if a.Head != nil {
		s.head.Set(a.Head)
	}
	s.take(a.Taken)
	s.head.Updated = now
}

func (s *session) conflict(after, fence uint64) error {
	h := &s.head
	return &ConflictError{
		Session: h.Session,
		After:   after, HaveSeq: h.Seq,
		Fence: fence, HaveFence: h.Fence,
		Owner: h.Owner, Until: normalize(h.Until),
	}
}

// normalize returns t as every store returns it: in UTC, without a monotonic reading.
func normalize(t time.Time) time.Time { return t.Round(0).UTC() }

// ready says why a call can't begin: it is invalid, or its context has ended.
func ready(ctx context.Context, what, session string, invalid error) error {
	if err := ctx.Err(); invalid == nil && err != nil {
		return fmt.Errorf("journal: %s %q: %w", what, session, err)
	}
	return invalid
}
