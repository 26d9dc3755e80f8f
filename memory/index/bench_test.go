package index_test

import (
	"testing"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
)

func BenchmarkSearch100000Of256(b *testing.B) {
	m := &index.Exact{}
	require.NoError(b, m.Upsert(b.Context(), random(1, 100_000, 256)))
	q := index.Query{Text: "thing 7", Vector: random(2, 1, 256)[0].Vector, Model: "m", K: 128}
	for name, filter := range map[string]index.Filter{"all": {},
		"filtered": {Kinds: []string{"page"}, Fields: map[string]string{"site": "4"}}} {
		q.Filter = filter
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if found, err := m.Search(b.Context(), q); err != nil || len(found) < q.K {
					b.Fatal(len(found), err)
				}
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	f := finder(b, index.Config{}, site(b)...)
	b.ReportAllocs()
	for b.Loop() {
		if res, err := f.Find(b.Context(), "the teem page", index.Filter{}, 3); err != nil || len(res.Hits) == 0 {
			b.Fatal(err)
		}
	}
}

func BenchmarkLocal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (index.Local{}).Embed(b.Context(),
			[]string{"Members, members\nour team, staff and colleagues with photos"}); err != nil {
			b.Fatal(err)
		}
	}
}
