package journal

import (
	"context"
	"fmt"
	"math"
)

// An Eraser is a [Store] in which what is stored can be replaced, so that words can be erased from
// it. It is optional: from a store that isn't one, only whole sessions can be removed. Agent.Erase
// decides what is replaced: see package agent.
type Eraser interface {
	Store
	// Rewrite replaces data of a session, all or nothing. A fence that [Store.Append] would refuse
	// is a [*ConflictError], and a record or an item that isn't there an [*InvalidError]. The head
	// stays as it is, also its Updated.
	Rewrite(ctx context.Context, r Rewrite) error
	// Inbox returns the items in the inbox of a session, oldest first, as [Store.Take] does, but
	// without a lease.
	Inbox(ctx context.Context, session string) ([]Item, error)
	// DropAllowances calls drop with the name and the key of each allowance of the store, in any
	// order, and deletes those for which it returns true: what was taken with such a key doesn't
	// count any more. It returns how many it has deleted. drop must not call the store.
	DropAllowances(ctx context.Context, drop func(name, key string) bool) (int, error)
	// Remains says where the store's files still have what was replaced or deleted, and what to do
	// about it.
	Remains() []Remains
}

// A Rewrite replaces data in one session.
type Rewrite struct {
	Session string
	// Fence is that of the writer's [Lease].
	Fence uint64
	// Records have the numbers of those that they replace. Only Data is replaced: time, kind and
	// version stay.
	Records []Record
	// Items have the ids of those in the inbox that they replace. Only Data is replaced.
	Items []Item
}

// Remains are copies that a change of a store doesn't reach.
type Remains struct {
	Where string // for people: what has them, and what to do about it
	// Run are statements that remove them, to be run in this order, each in no transaction; none:
	// there are none that do.
	Run []string
}

// Validate returns an [*InvalidError] if r is invalid, whatever the store holds. Stores call it
// first.
func (r Rewrite) Validate() error {
	if err := validName("Rewrite.Session", r.Session, false); err != nil {
		return err
	}
	if r.Fence > math.MaxInt64 {
		return &InvalidError{"Rewrite.Fence", "is too large; fences end at 1<<63-1"}
	}
	for i := range r.Records {
		rec, field := &r.Records[i], fmt.Sprintf("Rewrite.Records[%d]", i)
		switch {
		case rec.Seq == 0 || rec.Seq > math.MaxInt64:
			return &InvalidError{field + ".Seq", "must be the number of a record of the session"}
		case len(rec.Data) > MaxRecord:
			return tooMany(field+".Data", len(rec.Data), MaxRecord, "bytes")
		}
	}
	for i := range r.Items {
		if n := len(r.Items[i].Data); n > MaxRecord {
			return tooMany(fmt.Sprintf("Rewrite.Items[%d].Data", i), n, MaxRecord, "bytes")
		}
	}
	return nil
}

// NotRewritten returns the error of [Eraser].Rewrite for a record that isn't there, or, if the
// number is 0, for an item.
func (r Rewrite) NotRewritten(seq uint64, item string) error {
	what := fmt.Sprintf("record %d isn't there; it was pruned, or never appended", seq)
	if seq == 0 {
		what = fmt.Sprintf("item %q isn't in the inbox", item)
	}
	return &InvalidError{"Rewrite", fmt.Sprintf("of session %q: %s", r.Session, what)}
}
