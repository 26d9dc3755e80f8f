package langchain

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pawlkit/pawl/memory/index"
)

// A Ledger remembers what an [Index] has put into its store, since no store of langchaingo's can say. It is what makes an item known:
// what a store holds and the ledger doesn't isn't found. So it belongs where it lasts as long as the store's content, and is one
// Index's alone. It is safe for concurrent use.
type Ledger interface {
	// Get returns the records of those ids that it holds, in any order.
	Get(ctx context.Context, ids []string) ([]Record, error)
	// Any returns one record, whichever, and false if there is none.
	Any(ctx context.Context) (Record, bool, error)
	// IDs returns at most limit of the ids of its records, sorted, beginning behind after.
	IDs(ctx context.Context, after string, limit int) ([]string, error)
	// Leftovers returns at most limit ids of documents that are to be deleted.
	Leftovers(ctx context.Context, limit int) ([]string, error)
	// Commit makes a change: all of it or nothing. If it fails it may be unknown which.
	Commit(ctx context.Context, c Change) error
}

// A Record is what a [Ledger] keeps of an item.
type Record struct {
	// Entry is the entry as it was given, without the vector if the store makes its own.
	Entry index.Entry
	// Size is the length of the vector that was given.
	Size int
	// Revision tells this state of the item from others; the documents in the store hold it, too.
	Revision string
	// Documents are the store's ids of the item's documents.
	Documents []string
}

// A Change of a [Ledger]. Its parts are done in the order in which they stand here.
type Change struct {
	Clear  bool     // forget all records
	Delete []string // forget the records of these items; an id that it doesn't hold is no error
	Put    []Record // keep these, in the place of those of the same items
	Gone   []string // these documents are no leftovers any more
	Leave  []string // these documents are
}

// MapLedger is a [Ledger] in memory, for a store that lasts no longer, or to be kept as JSON (it is a [json.Marshaler]). Its zero value is
// empty.
type MapLedger struct {
	mu        sync.RWMutex // guards what follows
	records   map[string]Record
	leftovers map[string]bool
}

// Get returns copies of the records of those ids that it holds.
func (l *MapLedger) Get(_ context.Context, ids []string) ([]Record, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var out []Record
	for _, id := range ids {
		if r, ok := l.records[id]; ok {
			out = append(out, r.clone())
		}
	}
	return out, nil
}

// Any returns a copy of one record.
func (l *MapLedger) Any(context.Context) (Record, bool, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, r := range l.records {
		return r.clone(), true, nil
	}
	return Record{}, false, nil
}

// IDs returns at most limit ids behind after, sorted.
func (l *MapLedger) IDs(_ context.Context, after string, limit int) ([]string, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var out []string
	for id := range l.records {
		if id > after {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Clone(out[:min(len(out), max(limit, 0))]), nil
}

// Leftovers returns at most limit ids of documents that are to be deleted, sorted.
func (l *MapLedger) Leftovers(_ context.Context, limit int) ([]string, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	out := slices.Sorted(maps.Keys(l.leftovers))
	return slices.Clone(out[:min(len(out), max(limit, 0))]), nil
}

// Commit makes a change.
func (l *MapLedger) Commit(_ context.Context, c Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records == nil || c.Clear {
		l.records = make(map[string]Record, len(c.Put))
	}
	if l.leftovers == nil {
		l.leftovers = make(map[string]bool)
	}
	for _, id := range c.Delete {
		delete(l.records, id)
	}
	for _, r := range c.Put {
		l.records[r.Entry.Item.ID] = r.clone()
	}
	for _, doc := range c.Gone {
		delete(l.leftovers, doc)
	}
	for _, doc := range c.Leave {
		l.leftovers[doc] = true
	}
	return nil
}

// saved is a MapLedger as JSON.
type saved struct {
	Records   []Record `json:"records"`
	Leftovers []string `json:"leftovers,omitempty"`
}

// MarshalJSON writes all that it holds.
func (l *MapLedger) MarshalJSON() ([]byte, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	out := saved{Records: []Record{}, Leftovers: slices.Sorted(maps.Keys(l.leftovers))}
	for _, id := range slices.Sorted(maps.Keys(l.records)) {
		out.Records = append(out.Records, l.records[id])
	}
	return json.Marshal(out)
}

// UnmarshalJSON makes it hold what MarshalJSON wrote. If that fails nothing has changed.
func (l *MapLedger) UnmarshalJSON(data []byte) error {
	var in saved
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("langchain: ledger: %w", err)
	}
	fresh := &MapLedger{}
	_ = fresh.Commit(context.Background(), Change{Put: in.Records, Leave: in.Leftovers}) // it never fails
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records, l.leftovers = fresh.records, fresh.leftovers
	return nil
}

// clone shares nothing with r.
func (r Record) clone() Record {
	r.Entry.Item = cloneItem(r.Entry.Item)
	r.Entry.Vector, r.Documents = slices.Clone(r.Entry.Vector), slices.Clone(r.Documents)
	return r
}

func cloneItem(i index.Item) index.Item {
	i.Aliases, i.Fields = slices.Clone(i.Aliases), maps.Clone(i.Fields)
	return i
}
