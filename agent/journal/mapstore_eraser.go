package journal

import (
	"bytes"
	"context"
	"slices"
)

var _ Eraser = (*MapStore)(nil)

// Rewrite implements [Eraser]. A record that is replaced has no Value any more.
func (m *MapStore) Rewrite(ctx context.Context, r Rewrite) error {
	if err := ready(ctx, "rewrite", r.Session, r.Validate()); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[r.Session]
	if s == nil {
		return &ConflictError{Session: r.Session, Fence: r.Fence}
	}
	if !s.writable(r.Fence) {
		return s.conflict(s.head.Seq, r.Fence)
	}
	entries, inbox := slices.Clone(s.entries), slices.Clone(s.inbox) // readers may have the old ones
	for i := range r.Records {
		seq := r.Records[i].Seq
		if seq <= s.head.Pruned || seq > s.head.Seq {
			return r.NotRewritten(seq, "")
		}
		e := &entries[seq-s.head.Pruned-1]
		e.Value, e.Data = nil, bytes.Clone(r.Records[i].Data)
	}
	for _, it := range r.Items {
		at := slices.IndexFunc(inbox, func(o Item) bool { return o.ID == it.ID })
		if at < 0 {
			return r.NotRewritten(0, it.ID)
		}
		inbox[at].Data = bytes.Clone(it.Data)
	}
	s.entries, s.inbox = entries, inbox
	return nil
}

// Inbox implements [Eraser].
func (m *MapStore) Inbox(ctx context.Context, session string) ([]Item, error) {
	if err := ready(ctx, "inbox of", session, ValidateSession(session)); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return nil, nil
	}
	items := slices.Clone(s.inbox)
	for i := range items {
		items[i].Data = bytes.Clone(items[i].Data)
	}
	return items, nil
}

// DropAllowances implements [Eraser]. A MapStore has none.
func (m *MapStore) DropAllowances(ctx context.Context, _ func(name, key string) bool) (int, error) {
	return 0, ctx.Err()
}

// Remains implements [Eraser]. There are none.
func (m *MapStore) Remains() []Remains { return nil }
