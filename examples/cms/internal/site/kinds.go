package site

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// A definitionKind is what section definitions and collections differ in. Its names are parts of
// SQL.
type definitionKind struct {
	what, table string
	key         string // the column that people refer to it by
	// contents selects the id and the content of all contents with a definition, and table is where
	// they are.
	contents      string
	contentsTable contentTable
}

var (
	sectionKind = definitionKind{"section", "section_definitions", "key",
		"SELECT c.id, c.content FROM page_section_contents c JOIN page_sections o ON o.id = c.page_section_id WHERE " +
			"o.section_def_id = ?", pageContents}
	collectionKind = definitionKind{"collection", "collection_definitions", "slug",
		"SELECT c.id, c.content FROM entry_contents c JOIN collection_entries o ON o.id = c.entry_id WHERE " +
			"o.collection_id = ?", entryContents}
)

// newRow checks the fields of a new definition and returns the columns that both kinds have.
func (k definitionKind) newRow(tx *txn, id, name, key, description string, e Elements) (record, error) {
	row, err := k.row(tx, id, name, key, description, Published)
	if err != nil {
		return nil, err
	}
	if err := e.check(tx); err != nil {
		return nil, err
	}
	row["id"], row["elements_structure"], row["created_at"] = id, object{e}, tx.now
	return row, nil
}

// row checks the fields of a definition that can be changed, and returns their columns.
func (k definitionKind) row(tx *txn, id, name, key, description, status string) (record, error) {
	if err := cmp.Or(checkNames(k.what+" definition", name, description),
		oneOf("status", status, Published, Unpublished)); err != nil {
		return nil, err
	}
	key, err := slugFrom(key, name)
	if err != nil {
		return nil, err
	}
	if err := k.free(tx, key, id); err != nil {
		return nil, err
	}
	return record{"name": name, k.key: key, "description": description, "status": status,
		"search": searchText(name, key, description), "updated_at": tx.now}, nil
}

// free returns an error if another definition has the key.
func (k definitionKind) free(tx *txn, key, except string) error {
	o := ownerOf(tx, k.table+" WHERE true", "name", k.key, key, except)
	if o == nil {
		return nil
	}
	return &Error{Code: CodeKeyExists,
		Message:  fmt.Sprintf("%s %s %q exists already (%s %q, id %s)", k.what, k.key, key, k.what, o.name, o.id),
		Hint:     fmt.Sprintf("use that %s, or another %s such as %q", k.what, k.key, o.free),
		Expected: fmt.Sprintf("a %s that no other %s has", k.key, k.what),
		Actual:   fmt.Sprintf("%q belongs to %s", key, o.id)}
}

// update changes the fields of a definition.
func (k definitionKind) update(tx *txn, id string, old, change DefinitionFields) error {
	if change == (DefinitionFields{}) {
		return invalid("give name, "+k.key+", description or status", "nothing to change")
	}
	key := *cmp.Or(change.Key, old.Key)
	if key == "" {
		return invalid("leave it out to keep it", "the %s is empty", k.key)
	}
	row, err := k.row(tx, id, *cmp.Or(change.Name, old.Name), key, *cmp.Or(change.Description, old.Description),
		*cmp.Or(change.Status, old.Status))
	if err != nil {
		return err
	}
	tx.update(k.table, id, row)
	return nil
}

// SyncElements is the request of [Site.SyncSectionElements] and [Site.SyncCollectionElements].
type SyncElements struct {
	Definition string   `json:"definition"`         // the definition's id, or its key or slug
	Elements   Elements `json:"elements_structure"` // replaces all slots
	// Prune deletes the stored values of removed slots. Without it they are kept, and appear again
	// if a slot with the key comes back.
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

// SyncSectionElements replaces the slots of a section definition. Stored contents aren't checked
// against the new slots: values that don't fit any more are shown as empty until they are written
// again.
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

// TrySync returns what SyncSectionElements, or SyncCollectionElements with KindCollection, would
// do, and changes nothing.
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
		if kept := known(in.Elements, c.values); len(kept) < len(c.values) {
			r.Pruned += len(c.values) - len(kept)
			tx.update(k.contentsTable.name, c.id, record{"content": object{kept}})
		}
	}
	return r, nil
}

// A storedContent is a stored content of a definition.
type storedContent struct {
	id     string
	values map[string]any
}

// compare checks the new slots and compares them with the current ones. It also returns all
// contents of the definition.
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
		if slices.ContainsFunc(slices.Concat(r.Removed, r.Changed), func(key string) bool {
			return c.values[key] != nil
		}) {
			r.Contents++
		}
	}
	return r, stored, nil
}
