package site

import (
	"context"
	"maps"
	"reflect"
	"slices"
)

// SyncElements is the request of [Site.SyncSectionElements] and [Site.SyncCollectionElements].
type SyncElements struct {
	Definition string   `json:"definition"`         // the definition's id, or its key or slug
	Elements   Elements `json:"elements_structure"` // replaces all slots
	// Prune deletes the stored values of removed slots. Without it they are kept, and appear again if a slot with the key comes back.
	Prune bool `json:"prune,omitempty"`
}

// A SyncedElements says what a change of slots did.
type SyncedElements struct {
	ID       string   `json:"id"`
	Key      string   `json:"key"` // the definition's key or slug
	Name     string   `json:"name"`
	Added    []string `json:"added"`    // keys of slots, as in the fields below
	Removed  []string `json:"removed"`  // their stored values are left out when contents are read
	Changed  []string `json:"changed"`  // another type or other rules
	Contents int      `json:"contents"` // how many stored contents have a value of a removed or a changed slot
	Pruned   int      `json:"pruned"`   // how many values were deleted
	Before   Elements `json:"before"`   // the slots before the change
}

// SyncSectionElements replaces the slots of a section definition. Stored contents aren't checked against the new slots: values that don't
// fit any more are shown as empty until they are written again.
func (s *Site) SyncSectionElements(ctx context.Context, in SyncElements) (*SyncedElements, error) {
	return commit(ctx, s, "changing a section definition", func(tx *txn) (*SyncedElements, error) {
		return syncElements(tx, sectionKind, in)
	})
}

// SyncCollectionElements replaces the slots of a collection's entries, like SyncSectionElements.
func (s *Site) SyncCollectionElements(ctx context.Context, in SyncElements) (*SyncedElements, error) {
	return commit(ctx, s, "changing a collection", func(tx *txn) (*SyncedElements, error) {
		return syncElements(tx, collectionKind, in)
	})
}

// TrySync returns what SyncSectionElements, or SyncCollectionElements with KindCollection, would do, and changes nothing.
func (s *Site) TrySync(ctx context.Context, kind string, in SyncElements) (*SyncedElements, error) {
	k := sectionKind
	if kind == KindCollection {
		k = collectionKind
	}
	return view(ctx, s, "comparing definitions", func(tx *txn) (*SyncedElements, error) {
		r, _, err := compare(tx, k, &in)
		return r, err
	})
}

func syncElements(tx *txn, k definitionKind, in SyncElements) (*SyncedElements, error) {
	r, stored, err := compare(tx, k, &in)
	if err != nil {
		return nil, err
	}
	tx.update(k.table, r.ID, record{"elements_structure": object{in.Elements}, "updated_at": tx.now})
	if !in.Prune {
		return r, nil
	}
	for _, c := range stored {
		kept := known(in.Elements, c.values)
		r.Pruned += len(c.values) - len(kept)
		tx.update(k.contentsTable.name, c.id, record{"content": object{kept}})
	}
	return r, nil
}

// A storedContent is a stored content of a definition.
type storedContent struct {
	id     string
	values map[string]any
}

// compare checks the new slots and compares them with the current ones. It also returns all contents of the definition.
func compare(tx *txn, k definitionKind, in *SyncElements) (*SyncedElements, []storedContent, error) {
	r := &SyncedElements{Added: []string{}, Removed: []string{}, Changed: []string{}}
	if k.table == collectionKind.table {
		c, err := collectionTable.find(tx, in.Definition)
		if err != nil {
			return nil, nil, err
		}
		r.ID, r.Key, r.Name, r.Before = c.ID, c.Slug, c.Name, c.Elements
	} else {
		d, err := sectionDefTable.find(tx, in.Definition)
		if err != nil {
			return nil, nil, err
		}
		r.ID, r.Key, r.Name, r.Before = d.ID, d.Key, d.Name, d.Elements
	}
	if err := in.Elements.check(tx); err != nil {
		return nil, nil, err
	}
	old := map[string]Slot{}
	for _, slot := range r.Before.Slots() {
		old[slot.Key] = slot
	}
	for _, slot := range in.Elements.Slots() {
		was, ok := old[slot.Key]
		switch {
		case !ok:
			r.Added = append(r.Added, slot.Key)
		case was.Type != slot.Type || !reflect.DeepEqual(was.Rules, slot.Rules):
			r.Changed = append(r.Changed, slot.Key)
		}
		delete(old, slot.Key)
	}
	r.Removed = slices.AppendSeq(r.Removed, maps.Keys(old))
	slices.Sort(r.Removed)
	stored := collect(tx, func(scan scanner) (c storedContent, err error) {
		err = scan(&c.id, object{&c.values})
		return c, err
	}, k.contents, r.ID)
	for _, c := range stored {
		if slices.ContainsFunc(slices.Concat(r.Removed, r.Changed), func(key string) bool { return c.values[key] != nil }) {
			r.Contents++
		}
	}
	return r, stored, nil
}
