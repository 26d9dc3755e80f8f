package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/circuit/fault"
)

const batch = 64 // items embedded at once

// Put adds or updates items; call it after every create and update of the host. The embedded text
// of an item is embedded again only if it has changed; an item that hasn't changed at all isn't
// written. If one item of a batch of 64 fails, nothing of this batch and the following ones is
// stored. Errors: class fault.Invalid for an item with a missing or duplicate id, *ModelError,
// those of embedder, index and context.
func (f *Finder) Put(ctx context.Context, items ...Item) error {
	if err := check(items); err != nil {
		return err
	}
	if err := take(ctx, f.turn); err != nil {
		return err
	}
	defer f.turn.Release(1)
	for part := range slices.Chunk(items, batch) {
		if _, err := f.put(ctx, part); err != nil {
			return err
		}
		for _, i := range part {
			f.touch(i.ID)
		}
	}
	return nil
}

// Remove removes items; call it after every delete of the host. Unknown ids are ignored.
func (f *Finder) Remove(ctx context.Context, ids ...string) error {
	if err := take(ctx, f.turn); err != nil {
		return err
	}
	defer f.turn.Release(1)
	if err := f.cfg.Index.Delete(ctx, ids); err != nil {
		return fmt.Errorf("index: delete: %w", err)
	}
	f.touch(ids...)
	return nil
}

// Changes is the result of [Finder.Sync].
type Changes struct {
	Added, Updated, Unchanged, Removed int
	// Embedded is how many of them were embedded: added, or changed in what is embedded.
	Embedded int
}

// Sync makes the index contain exactly the items that items yields: it adds new ones, updates those
// that have changed, and at the end removes the others. If items yields an error, or anything else
// fails, nothing is removed. Changes by Put and Remove in the meantime are newer than the yielded
// items and stay. Only one Sync runs at a time. Of items with the same id the first counts, and the
// others are an error of class fault.Invalid.
func (f *Finder) Sync(ctx context.Context, items iter.Seq2[Item, error]) (Changes, error) {
	var done Changes
	if items == nil {
		return done, fault.New(fault.Invalid, "index: sync: the items are nil; pass a sequence of all items")
	}
	if err := take(ctx, f.syncing); err != nil {
		return done, err
	}
	defer f.syncing.Release(1)
	f.track(make(map[string]bool))
	defer f.track(nil)

	seen := make(map[string]bool)
	var part []Item
	flush := func() error {
		changes, err := f.syncPart(ctx, part)
		done.Added += changes.Added
		done.Updated += changes.Updated
		done.Unchanged += changes.Unchanged
		done.Embedded += changes.Embedded
		part = part[:0]
		return err
	}
	for item, err := range items {
		if err != nil {
			return done, fmt.Errorf("index: sync: the items: %w", err)
		}
		if err := checkID(item, seen); err != nil {
			return done, err
		}
		if part = append(part, item); len(part) == batch {
			if err := flush(); err != nil {
				return done, err
			}
		}
	}
	if err := flush(); err != nil {
		return done, err
	}
	var err error
	done.Removed, err = f.sweep(ctx, seen)
	return done, err
}

func (f *Finder) syncPart(ctx context.Context, part []Item) (Changes, error) {
	if err := take(ctx, f.turn); err != nil {
		return Changes{}, err
	}
	defer f.turn.Release(1)
	return f.put(ctx, slices.DeleteFunc(slices.Clone(part), func(i Item) bool { return f.isTouched(i.ID) }))
}

// sweep removes the entries that weren't seen.
func (f *Finder) sweep(ctx context.Context, seen map[string]bool) (int, error) {
	if err := take(ctx, f.turn); err != nil {
		return 0, err
	}
	defer f.turn.Release(1)
	ids, err := f.cfg.Index.IDs(ctx)
	if err != nil {
		return 0, fmt.Errorf("index: sync: ids: %w", err)
	}
	gone := slices.DeleteFunc(ids, func(id string) bool { return seen[id] || f.isTouched(id) })
	if len(gone) == 0 {
		return 0, nil
	}
	if err := f.cfg.Index.Delete(ctx, gone); err != nil {
		return 0, fmt.Errorf("index: sync: delete: %w", err)
	}
	return len(gone), nil
}

// Reindex embeds all items again, from the index itself: for another embedder or another version of
// it. Until it is done, searches return the same results as before, or fail with a *ModelError if
// the embedder is different; then they use the new vectors.
func (f *Finder) Reindex(ctx context.Context) error {
	if err := take(ctx, f.turn); err != nil {
		return err
	}
	defer f.turn.Release(1)
	ids, err := f.cfg.Index.IDs(ctx)
	if err != nil {
		return fmt.Errorf("index: re-index: ids: %w", err)
	}
	var all []Entry
	for part := range slices.Chunk(ids, batch) {
		var items []Item
		for _, id := range part {
			e, err := f.cfg.Index.Get(ctx, id)
			if err != nil {
				return fmt.Errorf("index: re-index: %w", err)
			}
			items = append(items, e.Item)
		}
		entries, err := f.entries(ctx, items)
		if err != nil {
			return err
		}
		all = append(all, entries...)
	}
	if err := f.cfg.Index.Replace(ctx, all); err != nil {
		return fmt.Errorf("index: re-index: %w", err)
	}
	return nil
}

// put is called with turn held.
func (f *Finder) put(ctx context.Context, items []Item) (Changes, error) {
	var done Changes
	var write []Entry
	var fresh []Item
	model := f.cfg.Embedder.Model()
	for _, item := range items {
		text, whole := item.sums(model)
		old, err := f.cfg.Index.Get(ctx, item.ID)
		switch {
		case err != nil && fault.Of(err) != fault.NotFound:
			return Changes{}, fmt.Errorf("index: get: %w", err)
		case err != nil:
			done.Added++
		case old.Text == text && old.Whole == whole:
			done.Unchanged++
			continue
		default:
			done.Updated++
		}
		if err == nil && old.Text == text {
			write = append(write, Entry{Item: item, Vector: old.Vector, Model: model, Text: text, Whole: whole})
			continue
		}
		fresh = append(fresh, item)
	}
	entries, err := f.entries(ctx, fresh)
	if err != nil {
		return Changes{}, err
	}
	done.Embedded = len(entries)
	if write = append(write, entries...); len(write) == 0 {
		return done, nil
	}
	if err := f.cfg.Index.Upsert(ctx, write); err != nil {
		return Changes{}, fmt.Errorf("index: upsert: %w", err)
	}
	return done, nil
}

// entries embeds items.
func (f *Finder) entries(ctx context.Context, items []Item) ([]Entry, error) {
	if len(items) == 0 {
		return nil, nil
	}
	model := f.cfg.Embedder.Model()
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.embedText()
	}
	vectors, err := f.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := make([]Entry, len(items))
	for i, item := range items {
		out[i] = Entry{Item: item, Vector: vectors[i], Model: model}
		out[i].Text, out[i].Whole = item.sums(model)
	}
	return out, nil
}

// track starts recording the changes by Put and Remove, or ends it if touched is nil.
func (f *Finder) track(touched map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.touched = touched
}

func (f *Finder) touch(ids ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.touched != nil {
		for _, id := range ids {
			f.touched[id] = true
		}
	}
}

func (f *Finder) isTouched(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.touched[id]
}

// take waits for the token of turn.
func take(ctx context.Context, turn *semaphore.Weighted) error {
	if turn.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	return nil
}

func check(items []Item) error {
	seen := make(map[string]bool, len(items))
	var errs []error
	for _, i := range items {
		errs = append(errs, checkID(i, seen))
	}
	return errors.Join(errs...)
}

// checkID returns an error for an item whose id is empty or was seen, and adds it to seen.
func checkID(i Item, seen map[string]bool) error {
	if i.ID == "" || seen[i.ID] {
		return fault.Errorf(fault.Invalid,
			"index: the item %q has the id %q; it should have one of its own", i.Name, i.ID)
	}
	seen[i.ID] = true
	return nil
}
