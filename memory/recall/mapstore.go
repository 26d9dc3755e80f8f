package recall

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// A MapStore is a [Store] in memory. Its zero value is ready for use with the default limits. It
// deletes nothing by itself.
type MapStore struct {
	// Limits are per tenant. Don't change them once the store is used.
	Limits Limits

	mu      sync.Mutex // guards what follows
	tenants map[string]*shelf
}

// A shelf has the entries of one tenant. It stays when it is empty, so that versions aren't reused.
type shelf struct {
	entries map[ID]Entry
	last    int64
	use     Use
}

// Get implements [Store].
func (s *MapStore) Get(ctx context.Context, id ID) (Entry, error) {
	if err := cmp.Or(ctx.Err(), id.Check()); err != nil {
		return Entry{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tenants[id.Tenant]; t != nil {
		if e, ok := t.entries[id]; ok {
			e.Value = slices.Clone(e.Value)
			return e, nil
		}
	}
	return Entry{}, ErrNotFound
}

// Put implements [Store].
func (s *MapStore) Put(ctx context.Context, e Entry) (int64, error) {
	if err := cmp.Or(ctx.Err(), e.Check()); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tenants[e.Tenant]
	if t == nil {
		t = &shelf{entries: make(map[ID]Entry)}
	}
	old, ok := t.entries[e.ID]
	if old.Version != e.Version {
		return 0, &ConflictError{ID: e.ID, Want: e.Version, Have: old.Version}
	}
	had := int64(-1)
	if ok {
		had = old.Size()
	}
	use, err := s.Limits.After(t.use, &e, had)
	if err != nil {
		return 0, err
	}
	if s.tenants == nil {
		s.tenants = make(map[string]*shelf)
	}
	s.tenants[e.Tenant] = t
	t.use = use
	t.last++
	e.Version, e.Value = t.last, slices.Clone(e.Value)
	t.entries[e.ID] = e
	return e.Version, nil
}

// List implements [Store].
func (s *MapStore) List(ctx context.Context, tenant, kind string) ([]Entry, error) {
	if err := cmp.Or(ctx.Err(), ID{tenant, cmp.Or(kind, "all"), "all"}.Check()); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Entry
	if t := s.tenants[tenant]; t != nil {
		for _, e := range t.entries {
			if kind == "" || e.Kind == kind {
				e.Value = slices.Clone(e.Value)
				list = append(list, e)
			}
		}
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	return list, nil
}

// Delete implements [Store].
func (s *MapStore) Delete(ctx context.Context, id ID, version int64) error {
	if err := cmp.Or(ctx.Err(), id.Check()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tenants[id.Tenant]
	if t == nil {
		return ErrNotFound
	}
	e, ok := t.entries[id]
	if !ok {
		return ErrNotFound
	}
	if version != 0 && version != e.Version {
		return &ConflictError{ID: id, Want: version, Have: e.Version}
	}
	delete(t.entries, id)
	t.use.Entries--
	t.use.Bytes -= e.Size()
	return nil
}
