package index

import (
	"cmp"
	"context"
	"slices"
)

const (
	maxExact   = 32   // entries of one name that a search adds
	checkEvery = 8192 // entries between two checks of the context
)

// Search returns the K entries nearest to the vector among those that the filter selects, nearest
// first, equally near ones by their ids, followed by up to 32 more whose name, alias or id is the
// text. An empty index finds nothing. Errors: *ModelError, class fault.Invalid for a vector that
// contains NaN, and the context's.
func (m *Exact) Search(ctx context.Context, q Query) ([]Match, error) {
	vector, err := m.prepare(q.Vector)
	if err != nil {
		return nil, err
	}
	exact := key(q.Text)
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.rows) == 0 {
		return nil, nil
	}
	if q.Model != m.model || len(vector) != m.size {
		return nil, &ModelError{Have: m.model, HaveSize: m.size, Given: q.Model, GivenSize: len(vector)}
	}
	all := make([]near, 0, len(m.rows))
	for i, r := range m.rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if q.Filter.Match(&r.entry.Item) {
			all = append(all, near{r, dot(vector, r.vector)})
		}
	}
	slices.SortFunc(all, func(a, b near) int { return b.compare(a) })
	best := all[:min(max(q.K, 1), len(all))]
	out := make([]Match, 0, len(best))
	for _, n := range best {
		out = append(out, n.match())
	}
	if exact == "" {
		return out, nil
	}
	more := 0
	for _, r := range m.byKey[exact] {
		if more == maxExact {
			break
		}
		if q.Filter.Match(&r.entry.Item) && !slices.ContainsFunc(best, func(n near) bool { return n.row == r }) {
			out = append(out, near{r, dot(vector, r.vector)}.match())
			more++
		}
	}
	return out, nil
}

// near is a row and its similarity.
type near struct {
	row        *row
	similarity float32
}

// compare orders by similarity, and equal ones by id, the smaller one being nearer.
func (n near) compare(o near) int {
	if n.similarity != o.similarity {
		return cmp.Compare(n.similarity, o.similarity)
	}
	return cmp.Compare(o.row.entry.Item.ID, n.row.entry.Item.ID)
}

func (n near) match() Match {
	return Match{Item: n.row.entry.Item.clone(), Similarity: float64(n.similarity)}
}

// dot returns the dot product of two vectors of the same length. Eight independent sums keep a
// processor's adders busy; a single one would wait for each previous addition.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		s4 += a[4] * b[4]
		s5 += a[5] * b[5]
		s6 += a[6] * b[6]
		s7 += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	for i := range min(len(a), len(b)) {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3) + ((s4 + s5) + (s6 + s7))
}
