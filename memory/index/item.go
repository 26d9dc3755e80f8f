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

// An Item is a resource that can be found: what it is called and what it is about, not what it holds.
type Item struct {
	// ID is what the host's tools take. It is unique within an index and not empty.
	ID string `json:"id"`
	// Kind says what sort of resource it is ("page"); filters and words of a query compare with it.
	Kind string `json:"kind,omitempty"`
	// Name is what people call it.
	Name string `json:"name"`
	// Aliases are other names: a slug, a key, a former title, words that people use instead.
	Aliases []string `json:"aliases,omitempty"`
	// Text describes it in a few words, so that it is found by them. Its first 120 words count.
	Text string `json:"text,omitempty"`
	// Fields are compared by filters alone: site, locale, tenant, status.
	Fields map[string]string `json:"fields,omitempty"`
	// Updated is when the resource changed last, for [Config.Freshness]; zero if that isn't known.
	Updated time.Time `json:"updated,omitzero"`
}

// clone shares nothing with i.
func (i Item) clone() Item {
	i.Aliases, i.Fields = slices.Clone(i.Aliases), maps.Clone(i.Fields)
	return i
}

// embedText is what of an item is embedded: its names in the first line.
func (i Item) embedText() string {
	first := strings.Join(append([]string{i.Name}, i.Aliases...), ", ")
	return strings.ReplaceAll(first, "\n", " ") + "\n" + i.Text
}

// A Sum says whether two items are the same to an index, without comparing them.
type Sum [sha256.Size]byte

// sums returns the sums of what is embedded by a model, and of the whole item.
func (i Item) sums(model string) (text, whole Sum) {
	text = sha256.Sum256([]byte(model + "\x00" + i.embedText()))
	i.Updated = i.Updated.UTC().Round(0)
	data, err := json.Marshal(i) // a map's keys are sorted
	if err != nil {
		data = fmt.Append(nil, i)
	}
	return text, sha256.Sum256(data)
}

// An Entry is an item as an [Index] keeps it.
type Entry struct {
	Item   Item
	Vector []float32
	Model  string // of the embedder that made the vector
	Text   Sum    // of the text that was embedded, and the model
	Whole  Sum    // of the whole item
}

// A Filter says which items a search considers at all. Its zero value is all of them.
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

// A Query is what an [Index] is asked.
type Query struct {
	Text   string    // the words as they were given
	Vector []float32 // and embedded
	Model  string    // of the embedder that made the vector
	Filter Filter
	K      int // how many; less than 1: 1
}

// A Match is an item near a query.
type Match struct {
	Item Item
	// Similarity is the cosine of the angle between item and query (or their product, if the index was made so).
	Similarity float64
}

// An Index keeps entries and finds those near a vector. It is safe for concurrent use, and neither keeps nor changes what it is
// handed, nor hands out what it changes later.
type Index interface {
	// Upsert adds entries, or puts them in the place of those with their ids. All or none. A *ModelError if the index
	// holds vectors of another model.
	Upsert(ctx context.Context, entries []Entry) error
	// Replace makes entries all that the index holds, at once.
	Replace(ctx context.Context, entries []Entry) error
	// Delete removes entries. Ids that it doesn't hold are no error.
	Delete(ctx context.Context, ids []string) error
	// Get returns the entry with an id, or an error of class fault.NotFound.
	Get(ctx context.Context, id string) (Entry, error)
	// IDs returns all ids, sorted.
	IDs(ctx context.Context) ([]string, error)
	// Search returns the K entries nearest to the vector among those that the filter lets through, nearest first, and
	// where it can, behind them those whose name, alias or id is the text. The filter comes before the choice of K.
	// A *ModelError if the index holds vectors of another model.
	Search(ctx context.Context, q Query) ([]Match, error)
}

// A ModelError says that vectors of two models, or of different length, would be compared. [Finder.Reindex] embeds all again.
type ModelError struct {
	Have, Given         string // models
	HaveSize, GivenSize int    // lengths of their vectors
}

// Error names both models.
func (e *ModelError) Error() string {
	return fmt.Sprintf("index: it holds vectors of model %q with %d dimensions, these are of %q with %d: re-index it first",
		e.Have, e.HaveSize, e.Given, e.GivenSize)
}

// Fault is always fault.Permanent.
func (e *ModelError) Fault() fault.Class { return fault.Permanent }
