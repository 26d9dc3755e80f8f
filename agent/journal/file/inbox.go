package file

import (
	"context"

	"github.com/pawlkit/pawl/agent/journal"
)

// Post implements [journal.Store].
func (st *Store) Post(ctx context.Context, name string, it journal.Item) error {
	if err := journal.ValidateSession(name); err != nil {
		return err
	}
	if err := it.Validate(); err != nil {
		return err
	}
	return st.do(ctx, "post to", name, true, func(s *session) error { return s.post(&it) })
}

func (s *session) post(it *journal.Item) error {
	if s.n == 0 {
		return unknown(s.name)
	}
	if taken, used := s.ids[it.ID]; used {
		if err := s.settle(); err != nil {
			return err
		}
		return &journal.PostedError{Session: s.name, ID: it.ID, Taken: taken}
	}
	buf := s.write()
	defer keepBuffer(buf)
	*buf = appendPost(*buf, s.n+1, it)
	if err := s.commit(*buf); err != nil {
		return err
	}
	s.posted(it.ID, s.last, len(*buf))
	return nil
}

// Take implements [journal.Store].
func (st *Store) Take(ctx context.Context, name string, fence uint64) ([]journal.Item, error) {
	if err := journal.ValidateSession(name); err != nil {
		return nil, err
	}
	var items []journal.Item
	err := st.do(ctx, "take from", name, false, func(s *session) (err error) {
		if !s.writable(fence) {
			return s.conflict(s.head.Seq, fence)
		}
		items, err = s.items()
		return err
	})
	return items, err
}

// items reads the inbox from the log.
func (s *session) items() ([]journal.Item, error) {
	if len(s.inbox) == 0 {
		return nil, nil
	}
	items := make([]journal.Item, 0, len(s.inbox))
	var l line
	for _, p := range s.inbox {
		b := make([]byte, p.len)
		_, err := s.file.ReadAt(b, p.off)
		if err != nil {
			return nil, err
		}
		if err := l.parse(b[:len(b)-1]); err != nil {
			return nil, s.corrupt(p.off, err.Error())
		}
		if l.op != opPost || string(l.item) != p.id {
			return nil, s.corrupt(p.off, "it isn't the item that was posted there")
		}
		data, err := l.content()
		if err != nil {
			return nil, s.corrupt(p.off, err.Error())
		}
		items = append(items, journal.Item{ID: p.id, Kind: string(l.kind), Time: l.when(), Data: data})
	}
	return items, nil
}
