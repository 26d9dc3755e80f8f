package journal

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Post implements [Store].
func (m *MapStore) Post(ctx context.Context, session string, it Item) error {
	if err := ready(ctx, "post to", session, cmp.Or(ValidateSession(session), it.Validate())); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return fmt.Errorf("%w: %q", ErrNoSession, session)
	}
	for _, id := range append([]string{it.ID}, it.Closes...) {
		if taken, used := s.ids[id]; used {
			return &PostedError{Session: session, ID: id, Taken: taken}
		}
	}
	s.setID(it.ID, false)
	for _, id := range it.Closes {
		s.setID(id, true)
	}
	it.Time, it.Data, it.Closes = normalize(it.Time), bytes.Clone(it.Data), nil
	s.inbox = append(s.inbox, it)
	s.head.Inbox = len(s.inbox)
	return nil
}

// Take implements [Store].
func (m *MapStore) Take(ctx context.Context, session string, fence uint64) ([]Item, error) {
	if err := ready(ctx, "take from", session, ValidateSession(session)); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		if fence == 0 {
			return nil, nil
		}
		return nil, &ConflictError{Session: session, Fence: fence}
	}
	if !s.writable(fence) {
		return nil, s.conflict(s.head.Seq, fence)
	}
	items := slices.Clone(s.inbox)
	for i := range items {
		items[i].Data = bytes.Clone(items[i].Data)
	}
	return items, nil
}

// take removes items and closes their ids.
func (s *session) take(ids []string) {
	if len(ids) == 0 {
		return
	}
	for _, id := range ids {
		s.setID(id, true)
	}
	s.inbox = slices.DeleteFunc(s.inbox, func(it Item) bool { return s.ids[it.ID] })
	s.head.Inbox = len(s.inbox)
}

func (s *session) setID(id string, taken bool) {
	if s.ids == nil {
		s.ids = make(map[string]bool)
	}
	s.ids[id] = taken
}
