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

// A Ledger records what an [Index] has put into its store, because a langchaingo store can't list
// it. Only items in the ledger are found. A ledger must last as long as the store's content, and
// belongs to one Index. It is safe for concurrent use.
type Ledger interface {
	// Get returns the existing records of those ids, in any order.
	Get(ctx context.Context, ids []string) ([]Record, error)
	// Any returns an arbitrary record; ok is false if there is none.
	Any(ctx context.Context) (Record, bool, error)
	// IDs returns at most limit ids of records after the given one, sorted.
	IDs(ctx context.Context, after string, limit int) ([]string, error)
	// Commit makes a change: all of it or nothing. After an error it may or may not have been made.
	Commit(ctx context.Context, c Change) error
}

// A Record is the record of an item in a [Ledger].
type Record struct {
	// Entry is the original entry, without the vector if the store makes its own.
	Entry index.Entry
	// Size is the length of the original vector.
	Size int
	// Revision identifies this state of the item; the documents in the store have it, too.
	Revision string
	// Documents are the store's ids of the item's documents.
	Documents []string
}

// A Change is a change of a [Ledger]. Its parts are applied in the order of the fields.
type Change struct {
	Clear  bool     // delete all records
	Delete []string // delete the records of these items; unknown ids are ignored
	Put    []Record // add these records, or replace those of the same items
}

// MapLedger is a [Ledger] in memory, for a store that doesn't last longer, or to be stored as JSON
// (it is a [json.Marshaler]). Its zero value is empty.
type MapLedger struct {
	mu      sync.RWMutex // guards records
	records map[string]Record
}

// Get returns copies of the existing records of those ids.
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

// IDs returns at most limit ids after the given one, sorted.
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

// Commit makes a change.
func (l *MapLedger) Commit(_ context.Context, c Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records == nil || c.Clear {
		l.records = make(map[string]Record, len(c.Put))
	}
	for _, id := range c.Delete {
		delete(l.records, id)
	}
	for _, r := range c.Put {
		l.records[r.Entry.Item.ID] = r.clone()
	}
	return nil
}

// saved is a MapLedger as JSON.
type saved struct {
	Records []Record `json:"records"`
}

// MarshalJSON encodes the whole ledger.
func (l *MapLedger) MarshalJSON() ([]byte, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	out := saved{Records: []Record{}}
	for _, id := range slices.Sorted(maps.Keys(l.records)) {
		out.Records = append(out.Records, l.records[id])
	}
	return json.Marshal(out)
}

// UnmarshalJSON replaces the content by the output of MarshalJSON. After an error nothing has
// changed.
func (l *MapLedger) UnmarshalJSON(data []byte) error {
	var in saved
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("langchain: ledger: %w", err)
	}
	fresh := &MapLedger{}
	_ = fresh.Commit(context.Background(), Change{Put: in.Records}) // it never fails
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = fresh.records
	return nil
}

// clone returns a deep copy.
func (r Record) clone() Record {
	r.Entry.Item = cloneItem(r.Entry.Item)
	r.Entry.Vector, r.Documents = slices.Clone(r.Entry.Vector), slices.Clone(r.Documents)
	return r
}

func cloneItem(i index.Item) index.Item {
	i.Aliases, i.Fields = slices.Clone(i.Aliases), maps.Clone(i.Fields)
	return i
}
