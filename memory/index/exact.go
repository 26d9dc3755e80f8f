package index

import (
	"context"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Exact is an exact [Index] in memory: a search compares with every entry that the filter selects.
// Vectors are compared by the cosine of the angle between them, from -1 to 1; 0 with a vector of
// zeros. It needs four bytes per dimension, and the items. [Exact.Save] and [Load] store it in a
// file. Its zero value is an empty index.
type Exact struct {
	mu    sync.RWMutex // guards what follows
	model string
	size  int // dimensions
	rows  []*row
	byID  map[string]int // position in rows
	byKey map[string][]*row
}

// A row is an entry; it never changes once it is in an index.
type row struct {
	entry  Entry
	vector []float32 // of length 1
	keys   []string
}

// newRow checks an entry and copies it.
func (m *Exact) newRow(e Entry) (*row, error) {
	if e.Item.ID == "" || !utf8.ValidString(e.Item.ID) {
		return nil, fault.Errorf(fault.Invalid, "index: the item %q has the id %q; it should have one of valid UTF-8",
			e.Item.Name, e.Item.ID)
	}
	if y := e.Item.Updated.UTC().Year(); y < 0 || y > 9999 {
		return nil, fault.Errorf(fault.Invalid,
			"index: the item %q was updated in the year %d; it should be from 0 to 9999", e.Item.ID, y)
	}
	if len(e.Vector) == 0 {
		return nil, fault.Errorf(fault.Invalid, "index: the item %q has no vector", e.Item.ID)
	}
	v, err := m.prepare(e.Vector)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "index: the item %q: %w", e.Item.ID, err)
	}
	e.Item, e.Vector = e.Item.clone(), v
	r := &row{entry: e, vector: v}
	for _, name := range append([]string{e.Item.ID, e.Item.Name}, e.Item.Aliases...) {
		if k := key(name); k != "" && !slices.Contains(r.keys, k) {
			r.keys = append(r.keys, k)
		}
	}
	return r, nil
}

// prepare returns a copy of v that is ready to be compared.
func (m *Exact) prepare(v []float32) ([]float32, error) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if math.IsNaN(square) || math.IsInf(square, 0) {
		return nil, fault.New(fault.Invalid, "index: a vector contains NaN or infinite values")
	}
	out := slices.Clone(v)
	if square > 0 && math.Abs(square-1) > 1e-6 {
		// a vector of length 1 stays unchanged, bit for bit
		norm := math.Sqrt(square)
		for i, x := range out {
			out[i] = float32(float64(x) / norm)
		}
	}
	return out, nil
}

// Upsert adds entries, or replaces those with the same ids: all or none. Of two entries with one id
// the later counts. Vectors are normalized to length 1. Errors: *ModelError, class
// fault.Invalid for an entry without id or vector, or with a vector that contains NaN.
func (m *Exact) Upsert(ctx context.Context, entries []Entry) error {
	return m.add(ctx, entries, false)
}

// Replace atomically replaces all entries; searches see either all of the old or all of the new
// ones. The model may be different. Errors are those of Upsert.
func (m *Exact) Replace(ctx context.Context, entries []Entry) error {
	return m.add(ctx, entries, true)
}

func (m *Exact) add(ctx context.Context, entries []Entry, replace bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	rows := make([]*row, len(entries))
	for i, e := range entries {
		r, err := m.newRow(e)
		if err != nil {
			return err
		}
		rows[i] = r
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	model, size := m.model, m.size
	if replace || len(m.rows) == 0 {
		model, size = "", 0
		if len(rows) > 0 {
			model, size = rows[0].entry.Model, len(rows[0].vector)
		}
	}
	for _, r := range rows {
		if r.entry.Model != model || len(r.vector) != size {
			return &ModelError{Have: model, HaveSize: size, Given: r.entry.Model, GivenSize: len(r.vector)}
		}
	}
	if replace {
		m.rows, m.byID, m.byKey = make([]*row, 0, len(rows)), nil, nil
	}
	if m.byID == nil {
		m.byID, m.byKey = make(map[string]int, len(rows)), make(map[string][]*row, len(rows))
	}
	m.model, m.size = model, size
	for _, r := range rows {
		m.put(r)
	}
	return nil
}

// put is called with mu held.
func (m *Exact) put(r *row) {
	if at, ok := m.byID[r.entry.Item.ID]; ok {
		m.forgetKeys(m.rows[at])
		m.rows[at] = r
	} else {
		m.byID[r.entry.Item.ID] = len(m.rows)
		m.rows = append(m.rows, r)
	}
	for _, k := range r.keys {
		m.byKey[k] = append(m.byKey[k], r)
	}
}

// forgetKeys is called with mu held.
func (m *Exact) forgetKeys(r *row) {
	for _, k := range r.keys {
		left := m.byKey[k]
		if at := slices.Index(left, r); at >= 0 {
			left = slices.Delete(left, at, at+1)
		}
		if m.byKey[k] = left; len(left) == 0 {
			delete(m.byKey, k)
		}
	}
}

// Delete removes entries. Unknown ids are ignored.
func (m *Exact) Delete(ctx context.Context, ids []string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		at, ok := m.byID[id]
		if !ok {
			continue
		}
		m.forgetKeys(m.rows[at])
		last := len(m.rows) - 1
		m.rows[at] = m.rows[last]
		m.byID[m.rows[at].entry.Item.ID] = at
		m.rows[last] = nil
		m.rows = m.rows[:last]
		delete(m.byID, id)
	}
	return nil
}

// Get returns a copy of the entry with an id, or an error of class fault.NotFound.
func (m *Exact) Get(_ context.Context, id string) (Entry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at, ok := m.byID[id]
	if !ok {
		return Entry{}, fault.Errorf(fault.NotFound, "index: there is no entry with the id %q", id)
	}
	e := m.rows[at].entry
	e.Item, e.Vector = e.Item.clone(), slices.Clone(e.Vector)
	return e, nil
}

// IDs returns all ids, sorted.
func (m *Exact) IDs(context.Context) ([]string, error) {
	m.mu.RLock()
	ids := make([]string, 0, len(m.rows))
	for _, r := range m.rows {
		ids = append(ids, r.entry.Item.ID)
	}
	m.mu.RUnlock()
	slices.Sort(ids)
	return ids, nil
}

// Len returns the number of entries.
func (m *Exact) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.rows)
}
