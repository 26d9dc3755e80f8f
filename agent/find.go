package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/erase"
)

// A Found says where a store has words that [Find] looked for.
type Found struct {
	// Session is the session, or the log of another package, that has them; empty for an allowance.
	Session string
	// Seq is the number of the record that has them; 0: the head, an item in the inbox, or an
	// allowance.
	Seq uint64
	// Kind is that of the record or of the item, "head", or "allowance".
	Kind string
	// Item is the id of an item in the inbox, or the name of an allowance whose key has them.
	Item string
	// Words are those in texts, each once, sorted. [Erase] replaces them.
	Words []string
	// Names are the members that have some of them in a name, such as "owner" or "id", or "session"
	// for the session's own name. Erase leaves names as they are: delete the session instead.
	Names []string

	match func(text string) []string // of Find
}

// Find looks for words in all that a journal's store has: heads, facts, snapshots, the logs of
// other packages such as plans, inboxes, and the keys of allowances. It reads all of it, and
// changes nothing. The sessions come in the order of their names.
//
// match gets each text and returns the words in it that are to be erased, as they stand there; nil:
// none. It gets texts decoded: strings of JSON, also of JSON in a string, the content of text files
// (of UTF-8, UTF-16, and else as Latin-1), what an address escapes, and the numbers in the inputs
// and results of tools. A regular expression does it:
//
//	ann := regexp.MustCompile(`(?i)ann@a\.example|\bAnn Lee\b`)
//	match := func(text string) []string { return ann.FindAllString(text, -1) }
//
// An error that comes with the name of a session is about that session, and the sequence goes on.
// Any other ends it. The inboxes and allowances of a store that isn't a [journal.Eraser] aren't
// searched. What can't be read isn't either: images, and what providers return encrypted.
func Find(ctx context.Context, store journal.Store, match func(text string) []string) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		if store == nil || match == nil {
			yield(Found{}, &ArgError{Func: "Find", Problem: "it needs a store and a function match"})
			return
		}
		ctx := orBackground(ctx)
		f := finder{store: store, match: match}
		f.eraser, _ = store.(journal.Eraser)
		for h, err := range store.Heads(ctx, journal.Filter{}) {
			if err != nil && h.Session == "" {
				yield(Found{}, fmt.Errorf("agent: finding texts: listing sessions: %w", err))
				return
			}
			if err == nil {
				err = f.session(ctx, &h, yield)
			}
			if errors.Is(err, errEnough) {
				return
			}
			if err != nil && !yield(Found{Session: h.Session},
				fmt.Errorf("agent: session %q: finding texts: %w", h.Session, err)) {
				return
			}
		}
		f.allowances(ctx, yield)
	}
}

// errEnough says that the caller of [Find] has left its loop.
var errEnough = errors.New("agent: the loop has ended")

type finder struct {
	store  journal.Store
	eraser journal.Eraser // nil: the store isn't one
	match  func(text string) []string
}

// in yields found, if visit finds words.
func (f *finder) in(found Found, yield func(Found, error) bool, visit func(*erase.Walk)) error {
	visit(erase.Found(f.match, &found.Words, &found.Names))
	found.Words, found.Names = erase.Sorted(found.Words), erase.Sorted(found.Names)
	found.match = f.match
	if len(found.Words)+len(found.Names) > 0 && !yield(found, nil) {
		return errEnough
	}
	return nil
}

func (f *finder) session(ctx context.Context, h *journal.Head, yield func(Found, error) bool) error {
	err := f.in(Found{Session: h.Session, Kind: "head"}, yield, func(w *erase.Walk) { eraseHead(h, w) })
	for after, more := uint64(0), err == nil; more; {
		recs, err := session.Records(ctx, f.store, h.Session, after, watchAtOnce)
		if err != nil {
			return err
		}
		for _, rec := range recs {
			after = rec.Seq
			data, err := dataOf(rec)
			if err != nil {
				return err
			}
			if err := f.in(Found{Session: h.Session, Seq: rec.Seq, Kind: rec.Kind}, yield,
				func(w *erase.Walk) { w.Record(rec.Kind, data) }); err != nil {
				return err
			}
		}
		more = len(recs) == watchAtOnce
	}
	if err != nil || f.eraser == nil || h.Inbox == 0 {
		return err
	}
	items, err := f.eraser.Inbox(ctx, h.Session)
	for _, it := range items {
		if err := f.in(Found{Session: h.Session, Kind: it.Kind, Item: it.ID}, yield,
			func(w *erase.Walk) { w.Record(it.Kind, it.Data) }); err != nil {
			return err
		}
	}
	return err
}

func (f *finder) allowances(ctx context.Context, yield func(Found, error) bool) {
	if f.eraser == nil {
		return
	}
	var all []Found
	_, err := f.eraser.DropAllowances(ctx, func(name, key string) bool {
		_ = f.in(Found{Kind: "allowance", Item: name}, func(found Found, _ error) bool {
			all = append(all, found)
			return true
		}, func(w *erase.Walk) { w.String(key) })
		return false
	})
	for _, found := range all {
		if !yield(found, nil) {
			return
		}
	}
	if err != nil {
		yield(Found{}, fmt.Errorf("agent: finding texts: reading allowances: %w", err))
	}
}

// dataOf returns the data of a record. A store in memory may have only its fact.
func dataOf(rec journal.Record) ([]byte, error) {
	f, ok := rec.Value.(Fact)
	if !ok || len(rec.Data) > 0 {
		return rec.Data, nil
	}
	encoded, err := machine.Encode(f)
	return encoded.Data, err
}

// eraseHead replaces the texts of a head. Which names it has, w.Name learns.
func eraseHead(h *journal.Head, w *erase.Walk) *journal.HeadUpdate {
	w.Name("session", h.Session)
	w.Name("parent", h.Parent)
	for _, o := range h.Open { // Erase refuses a session that has some
		w.String(o.Title + "\n" + o.What)
	}
	return &journal.HeadUpdate{Status: h.Status, Kind: h.Kind, Title: w.String(h.Title), Parent: h.Parent,
		Info: h.Info, Due: h.Due,
		Labels: w.Labels(h.Labels, map[string]string{machine.OwnerLabel: "owner", machine.TreeLabel: "tree"})}
}
