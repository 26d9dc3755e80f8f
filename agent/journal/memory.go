package journal

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// A Memory is a [Store] that forgets everything with its process: for tests, and for runs that nobody has to take up again.
//
// It keeps every session until that is deleted. It starts no goroutine, and takes the time from time.Now.
type Memory struct {
	mu       sync.Mutex // guards what follows, and all that hangs from it
	sessions map[string]*session
	fence    uint64 // the last one given out, to whichever session: so fences outlive the sessions
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty [Memory].
func NewMemory() *Memory {
	return &Memory{sessions: make(map[string]*session)}
}

// A session is never handed out, only copied from. The records in entries are never written to again, so a reader may continue
// with the slice that it saw under the lock.
type session struct {
	head    Head // Seq, Pruned and Inbox are kept up to date here
	entries []entry
	inbox   []Item
	ids     map[string]bool // every id posted or closed; true once taken
	until   time.Time       // head.Until, with the monotonic reading
}

// An entry is a record and the fence under which it was appended: the same record under another fence is another append.
type entry struct {
	Record
	fence uint64
}

// Append implements [Store].
func (m *Memory) Append(ctx context.Context, a Append) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return ended("append to", a.Session, err)
	}
	now := plain(time.Now())

	m.mu.Lock()
	defer m.mu.Unlock()
	s, known := m.sessions[a.Session]
	if !known {
		s = newSession(a.Session, now)
	}
	if !s.writable(a.Fence) {
		return s.conflict(a.After, a.Fence)
	}
	if s.has(a) {
		return nil
	}
	if a.After != s.head.Seq {
		return s.conflict(a.After, a.Fence)
	}
	s.add(a, now)
	if !known {
		m.sessions[a.Session] = s
	}
	return nil
}

// Read implements [Store]. It yields what was there when the loop began.
func (m *Memory) Read(ctx context.Context, session string, after uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		entries, err := m.from(session, after)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for i := range entries {
			if err := ctx.Err(); err != nil {
				yield(Record{}, ended("read", session, err))
				return
			}
			r := entries[i].Record
			r.Data = bytes.Clone(r.Data)
			if !yield(r, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Record{}, ended("read", session, err))
		}
	}
}

func (m *Memory) from(session string, after uint64) ([]entry, error) {
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
func (m *Memory) Head(ctx context.Context, session string) (Head, error) {
	if err := ValidateSession(session); err != nil {
		return Head{}, err
	}
	if err := ctx.Err(); err != nil {
		return Head{}, ended("head of", session, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return Head{}, fmt.Errorf("%w: %q", ErrNoSession, session)
	}
	return s.copyHead(), nil
}

// Heads implements [Store]. It yields what was there when the loop began.
func (m *Memory) Heads(ctx context.Context, f Filter) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		for _, h := range m.matching(f) {
			if err := ctx.Err(); err != nil {
				break
			}
			if !yield(h, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Head{}, fmt.Errorf("journal: list heads: %w", err))
		}
	}
}

func (m *Memory) matching(f Filter) []Head {
	m.mu.Lock()
	defer m.mu.Unlock()
	var heads []Head
	for _, s := range m.sessions {
		if f.Match(s.head) {
			heads = append(heads, s.head)
		}
	}
	slices.SortFunc(heads, func(a, b Head) int { return cmp.Compare(a.Session, b.Session) })
	if f.Limit > 0 && len(heads) > f.Limit {
		heads = heads[:f.Limit]
	}
	for i := range heads {
		heads[i].Open = slices.Clone(heads[i].Open)
	}
	return heads
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, session string, upTo uint64) error {
	if err := ValidateSession(session); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return ended("delete from", session, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return nil
	}
	if upTo == All {
		delete(m.sessions, session)
		return nil
	}
	if upTo = min(upTo, s.head.Seq); upTo > s.head.Pruned {
		s.entries = slices.Clone(s.entries[upTo-s.head.Pruned:]) // a copy, so that the rest is let go
		s.head.Pruned = upTo
	}
	return nil
}

func newSession(name string, now time.Time) *session {
	return &session{head: Head{Session: name, Updated: now}}
}

// writable reports whether fence may append: it is the newest, and wasn't released.
func (s *session) writable(fence uint64) bool {
	return fence == s.head.Fence && (fence == 0 || s.head.Owner != "")
}

// has reports whether the very records of a stand where a would put them, under the same fence.
func (s *session) has(a Append) bool {
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
		r.Time = plain(r.Time)
		r.Data = bytes.Clone(r.Data)
		s.entries = append(s.entries, entry{r, a.Fence})
	}
	if a.Head != nil {
		s.head.Status = a.Head.Status
		s.head.Open = slices.Clone(a.Head.Open)
		for i := range s.head.Open {
			s.head.Open[i].Expires = plain(s.head.Open[i].Expires)
		}
	}
	s.take(a.Taken)
	s.head.Updated = now
}

func (s *session) copyHead() Head {
	h := s.head
	h.Open = slices.Clone(h.Open)
	return h
}

func (s *session) conflict(after, fence uint64) error {
	h := &s.head
	return &ConflictError{
		Session: h.Session,
		After:   after, HaveSeq: h.Seq,
		Fence: fence, HaveFence: h.Fence,
		Owner: h.Owner, Until: h.Until,
	}
}

// plain returns t as every store gives it back: in UTC, without a monotonic reading.
func plain(t time.Time) time.Time { return t.Round(0).UTC() }

func ended(what, session string, err error) error {
	return fmt.Errorf("journal: %s %q: %w", what, session, err)
}
