package site

import (
	"context"
	"database/sql"
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
	return commit(ctx, s, "changing a section definition", func(tx *sql.Tx) (*SyncedElements, error) {
		return syncElements(ctx, tx, sectionKind, in, s.stamp())
	})
}

// SyncCollectionElements replaces the slots of a collection's entries, like SyncSectionElements.
func (s *Site) SyncCollectionElements(ctx context.Context, in SyncElements) (*SyncedElements, error) {
	return commit(ctx, s, "changing a collection", func(tx *sql.Tx) (*SyncedElements, error) {
		return syncElements(ctx, tx, collectionKind, in, s.stamp())
	})
}

// TrySync returns what SyncSectionElements, or SyncCollectionElements with KindCollection, would do, and changes nothing.
func (s *Site) TrySync(ctx context.Context, kind string, in SyncElements) (*SyncedElements, error) {
	k := sectionKind
	if kind == KindCollection {
		k = collectionKind
	}
	return view(ctx, s, "comparing definitions", func(tx *sql.Tx) (*SyncedElements, error) {
		r, _, err := compare(ctx, tx, k, &in)
		return r, err
	})
}

func syncElements(ctx context.Context, tx *sql.Tx, k definitionKind, in SyncElements, now string) (*SyncedElements, error) {
	r, stored, err := compare(ctx, tx, k, &in)
	if err != nil {
		return nil, err
	}
	text, err := encodeObject(in.Elements)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE "+k.table+" SET elements_structure = ?, updated_at = ? WHERE id = ?", text, now, r.ID); err != nil {
		return nil, err
	}
	if !in.Prune {
		return r, nil
	}
	keep := in.Elements.keys()
	for id, content := range stored {
		n := len(content)
		for key := range content {
			if !slices.Contains(keep, key) {
				delete(content, key)
			}
		}
		if n == len(content) {
			continue
		}
		r.Pruned += n - len(content)
		text, err := encodeObject(content)
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE "+k.contentsTable.name+" SET content = ? WHERE id = ?", text, id); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// compare checks the new slots and compares them with the current ones. It returns all contents of the definition, by their ids.
func compare(ctx context.Context, tx *sql.Tx, k definitionKind, in *SyncElements) (*SyncedElements, map[string]map[string]any, error) {
	r := &SyncedElements{Added: []string{}, Removed: []string{}, Changed: []string{}}
	if k.table == collectionKind.table {
		c, err := collectionRow(ctx, tx, in.Definition)
		if err != nil {
			return nil, nil, err
		}
		r.ID, r.Key, r.Name, r.Before = c.ID, c.Slug, c.Name, c.Elements
	} else {
		d, err := sectionDefRow(ctx, tx, in.Definition)
		if err != nil {
			return nil, nil, err
		}
		r.ID, r.Key, r.Name, r.Before = d.ID, d.Key, d.Name, d.Elements
	}
	if err := in.Elements.check(ctx, tx); err != nil {
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
	r.Removed = append(r.Removed, sortedKeys(old)...)
	rows, err := collect(ctx, tx, func(scan func(...any) error) (c [2]string, err error) {
		return c, scan(&c[0], &c[1])
	}, k.contents, r.ID)
	if err != nil {
		return nil, nil, err
	}
	stored := map[string]map[string]any{}
	for _, row := range rows {
		content, err := decodeObject(row[1])
		if err != nil {
			return nil, nil, err
		}
		stored[row[0]] = content
		if slices.ContainsFunc(slices.Concat(r.Removed, r.Changed), func(key string) bool { return content[key] != nil }) {
			r.Contents++
		}
	}
	return r, stored, nil
}
