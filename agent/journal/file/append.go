package file

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Append implements [journal.Store]. It is one write, and where the store is to survive a loss of power one sync.
func (st *Store) Append(ctx context.Context, a journal.Append) error {
	if err := a.Validate(); err != nil {
		return err
	}
	return st.do(ctx, "append to", a.Session, true, func(s *session) error { return s.append(&a) })
}

func (s *session) append(a *journal.Append) error {
	if !s.writable(a.Fence) {
		return s.conflict(a.After, a.Fence)
	}
	stands, err := s.has(a)
	switch {
	case err != nil:
		return err
	case stands:
		return s.settle()
	case a.After != s.head.Seq:
		return s.conflict(a.After, a.Fence)
	}
	buf := s.write()
	defer keepBuffer(buf)
	b, at := *buf, time.Now().UnixNano()
	for i := range a.Records {
		b = appendRecord(b, s.n+1, a.After+1+uint64(i), a.Fence, &a.Records[i])
	}
	b = appendAppend(b, s.n+1, len(a.Records), at, a.Head, a.Taken)
	*buf = b
	if err := s.commit(b); err != nil {
		return err
	}
	s.appended(uint64(len(a.Records)), at, own(a.Head), a.Taken)
	return nil
}

// own returns a copy of h, with times as every store gives them back.
func own(h *journal.HeadUpdate) *journal.HeadUpdate {
	if h == nil {
		return nil
	}
	c := &journal.HeadUpdate{Status: h.Status, Open: slices.Clone(h.Open)}
	for i := range c.Open {
		c.Open[i].Expires = plain(c.Open[i].Expires)
	}
	return c
}

// has reports whether the very records of a stand where a would put them, under the same fence.
func (s *session) has(a *journal.Append) (bool, error) {
	n := len(a.Records)
	if n == 0 || a.After < s.head.Pruned || a.After+uint64(n) > s.head.Seq {
		return false, nil
	}
	same, i := true, 0
	err := s.scan(a.After, func(l *line) bool {
		same = l.fence == a.Fence && sameRecord(l, &a.Records[i])
		i++
		return same && i < n
	})
	return same && i == n, err
}

func sameRecord(l *line, r *journal.Record) bool {
	if l.v != r.V || string(l.kind) != r.Kind || !l.when().Equal(r.Time) {
		return false
	}
	if !l.encoded {
		return bytes.Equal(l.data, r.Data)
	}
	data, err := l.content()
	return err == nil && bytes.Equal(data, r.Data)
}

// scan walks over the records after number after. The lock is held.
func (s *session) scan(after uint64, do func(l *line) bool) error {
	return scan(s.name, s.stem+logExt, s.file, s.from(after), s.end, func(l *line) bool {
		return l.seq <= after || do(l)
	})
}

// writable reports whether fence may append: it is the newest, and wasn't released.
func (s *state) writable(fence uint64) bool {
	return fence == s.head.Fence && (fence == 0 || s.head.Owner != "")
}

func (s *state) conflict(after, fence uint64) error {
	h := &s.head
	return &journal.ConflictError{
		Session: h.Session,
		After:   after, HaveSeq: h.Seq,
		Fence: fence, HaveFence: h.Fence,
		Owner: h.Owner, Until: h.Until,
	}
}

// plain returns t in UTC, without a monotonic reading.
func plain(t time.Time) time.Time { return t.Round(0).UTC() }
