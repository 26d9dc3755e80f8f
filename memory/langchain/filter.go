package langchain

import (
	"maps"
	"regexp"
	"slices"

	"github.com/pawlkit/pawl/memory/index"
)

// EqualFilter is a [Config].Filter for stores whose filters are maps of keys and equal values:
// pgvector, mariadb, dolt. They build SQL from them without escaping, so the filter contains only
// fields with names of ASCII letters, digits and _, and values of letters, digits, blanks and . _ -
// : @ / +. All else, several kinds and empty values are checked after the search.
func EqualFilter(f index.Filter) (any, error) {
	out := map[string]any{}
	if len(f.Kinds) == 1 && harmless.MatchString(f.Kinds[0]) {
		out[MetaKind] = f.Kinds[0]
	}
	for k, v := range f.Fields {
		if identifier.MatchString(k) && harmless.MatchString(v) {
			out[MetaField+k] = v
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

var (
	harmless   = regexp.MustCompile(`^[\p{L}\p{Nd}._:@/+ -]+$`)
	identifier = regexp.MustCompile(`^[A-Za-z0-9_]+$`) // others may be paths into nested values
)

// OperatorFilter is a [Config].Filter for stores that accept $and, $in and $eq: chroma, pinecone.
// Empty values, which an item without the field matches, and fields whose names aren't ASCII
// letters, digits and _ are checked after the search.
func OperatorFilter(f index.Filter) (any, error) {
	var all []map[string]any
	if kinds, ok := storable(f.Kinds); ok {
		all = append(all, map[string]any{MetaKind: map[string]any{"$in": kinds}})
	}
	for _, k := range pushed(f) {
		all = append(all, map[string]any{MetaField + k: map[string]any{"$eq": f.Fields[k]}})
	}
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		return all[0], nil
	}
	return map[string]any{"$and": all}, nil
}

// QdrantFilter is a [Config].Filter for qdrant. It has the same exceptions as [OperatorFilter].
func QdrantFilter(f index.Filter) (any, error) {
	var must []map[string]any
	if kinds, ok := storable(f.Kinds); ok {
		must = append(must, map[string]any{"key": MetaKind, "match": map[string]any{"any": kinds}})
	}
	for _, k := range pushed(f) {
		must = append(must, map[string]any{"key": MetaField + k, "match": map[string]any{"value": f.Fields[k]}})
	}
	if len(must) == 0 {
		return nil, nil
	}
	return map[string]any{"must": must}, nil
}

// pushed returns the sorted names of the fields that a store can compare.
func pushed(f index.Filter) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(f.Fields)) {
		if v := f.Fields[k]; v != "" && v == plain(v) && identifier.MatchString(k) {
			out = append(out, k)
		}
	}
	return out
}

// storable returns the kinds in the form in which documents have them; ok is false if a store can't
// compare them.
func storable(kinds []string) ([]string, bool) {
	for _, k := range kinds {
		if k == "" || k != plain(k) {
			return nil, false
		}
	}
	return slices.Clone(kinds), len(kinds) > 0
}

// FromCertainty is a [Config].Similarity for stores whose score is (1 + cosine) / 2: weaviate,
// mongovector.
func FromCertainty(score float32) float64 { return 2*float64(score) - 1 }

// FromDistance is a [Config].Similarity for stores whose score is the distance 1 - cosine, where
// nearer is smaller: redisvector, alloydb, cloudsql.
func FromDistance(score float32) float64 { return 1 - float64(score) }
