package index

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An Item is a resource that can be found: its names and a few words about it, not its content.
type Item struct {
	// ID is the id that the host's tools accept. It is unique within an index and not empty.
	ID string `json:"id"`
	// Kind is the kind of the resource ("page"); filters and words of a query are compared with it.
	Kind string `json:"kind,omitempty"`
	// Name is the name that people use.
	Name string `json:"name"`
	// Aliases are other names: a slug, a key, a former title, synonyms.
	Aliases []string `json:"aliases,omitempty"`
	// Text describes the item in a few words, which searches find. Its first 120 words count.
	Text string `json:"text,omitempty"`
	// Fields are only used by filters: site, locale, tenant, status.
	Fields map[string]string `json:"fields,omitempty"`
	// Updated is when the resource changed last, for [Config.Freshness]; zero if unknown.
	Updated time.Time `json:"updated,omitzero"`
}

// clone returns a deep copy.
func (i Item) clone() Item {
	i.Aliases, i.Fields = slices.Clone(i.Aliases), maps.Clone(i.Fields)
	return i
}

// embedText returns the text of an item that is embedded, with its names in the first line.
func (i Item) embedText() string {
	first := strings.Join(append([]string{i.Name}, i.Aliases...), ", ")
	return strings.ReplaceAll(first, "\n", " ") + "\n" + i.Text
}

// A Sum identifies the content of an item.
type Sum [sha256.Size]byte

// sums returns the sums of the text that is embedded by a model, and of the whole item.
func (i Item) sums(model string) (text, whole Sum) {
	text = sha256.Sum256([]byte(model + "\x00" + i.embedText()))
	i.Updated = i.Updated.UTC().Round(0)
	data, err := json.Marshal(i) // a map's keys are sorted
	if err != nil {
		data = fmt.Append(nil, i)
	}
	return text, sha256.Sum256(data)
}

// An Entry is an item in an [Index].
type Entry struct {
	Item   Item
	Vector []float32
	Model  string // model of the vector
	Text   Sum    // of the text that was embedded, and the model
	Whole  Sum    // of the whole item
}

// A Filter selects the items that a search considers. Its zero value selects all.
type Filter struct {
	// Kinds names the kinds that are considered; empty: all.
	Kinds []string
	// Fields must all be equal. An item without a field doesn't match, unless "" is asked for.
	Fields map[string]string
}

// Match says whether the filter lets i through.
func (f Filter) Match(i *Item) bool {
	if len(f.Kinds) > 0 && !slices.Contains(f.Kinds, i.Kind) {
		return false
	}
	for k, v := range f.Fields {
		if i.Fields[k] != v {
			return false
		}
	}
	return true
}

// A Query is a query to an [Index].
type Query struct {
	Text   string    // the words of the query
	Vector []float32 // the embedded words
	Model  string    // model of the vector
	Filter Filter
	K      int // number of matches; less than 1: 1
}

// A Match is an entry near a query.
type Match struct {
	Item Item
	// Similarity is the cosine of the angle between item and query (or their dot product, depending
	// on the index).
	Similarity float64
}

// An Index stores entries and finds those near a vector. It is safe for concurrent use. It neither
// keeps nor changes its arguments, and doesn't change its results later.
type Index interface {
	// Upsert adds entries, or replaces those with the same ids: all or none. The error is a
	// *ModelError if the index contains vectors of another model.
	Upsert(ctx context.Context, entries []Entry) error
	// Replace atomically replaces all entries of the index.
	Replace(ctx context.Context, entries []Entry) error
	// Delete removes entries. Unknown ids are ignored.
	Delete(ctx context.Context, ids []string) error
	// Get returns the entry with an id, or an error of class fault.NotFound.
	Get(ctx context.Context, id string) (Entry, error)
	// IDs returns all ids, sorted.
	IDs(ctx context.Context) ([]string, error)
	// Search returns the K entries nearest to the vector among those that the filter selects,
	// nearest first. An index that can also appends entries whose name, alias or id is the text.
	// The filter is applied before K. The error is a *ModelError if the index contains vectors of
	// another model.
	Search(ctx context.Context, q Query) ([]Match, error)
}

// A ModelError means that vectors of two models, or of different lengths, would be compared.
// [Finder.Reindex] embeds all items again.
type ModelError struct {
	Have, Given         string // models
	HaveSize, GivenSize int    // lengths of their vectors
}

// Error names both models.
func (e *ModelError) Error() string {
	return fmt.Sprintf(
		"index: it has vectors of model %q with %d dimensions, these are of %q with %d; call Reindex first",
		e.Have, e.HaveSize, e.Given, e.GivenSize)
}

// Fault returns fault.Permanent.
func (e *ModelError) Fault() fault.Class { return fault.Permanent }
