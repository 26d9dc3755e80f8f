package file

import (
	"context"
	"slices"

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
	return st.do(ctx, "post to", name, true, func(s *session) error {
		if s.n == 0 {
			return noSession(name)
		}
		for _, id := range append([]string{it.ID}, it.Closes...) {
			if taken, used := s.ids[id]; used {
				if err := s.ensureSynced(); err != nil {
					return err
				}
				return &journal.PostedError{Session: name, ID: id, Taken: taken}
			}
		}
		return s.commit(&change{Post: newItem(&it)})
	})
}

// Take implements [journal.Store].
func (st *Store) Take(ctx context.Context, name string, fence uint64) ([]journal.Item, error) {
	if err := journal.ValidateSession(name); err != nil {
		return nil, err
	}
	var items []journal.Item
	err := st.do(ctx, "take from", name, false, func(s *session) error {
		if !s.writable(fence) {
			return s.conflict(s.head.Seq, fence)
		}
		items = slices.Clone(s.inbox)
		for i := range items {
			items[i].Data = slices.Clone(items[i].Data)
		}
		return nil
	})
	return items, err
}
