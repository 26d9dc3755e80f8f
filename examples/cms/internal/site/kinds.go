package site

import (
	"cmp"
	"fmt"
)

// A definitionKind is what section definitions and collections differ in. Its names are parts of SQL.
type definitionKind struct {
	what, table string
	key         string // the column that people refer to it by
	// contents selects the id and the content of all contents with a definition, and table is where they are.
	contents      string
	contentsTable contentTable
}

var (
	sectionKind = definitionKind{"section", "section_definitions", "key",
		"SELECT c.id, c.content FROM page_section_contents c JOIN page_sections o ON o.id = c.page_section_id WHERE o.section_def_id = ?", pageContents}
	collectionKind = definitionKind{"collection", "collection_definitions", "slug",
		"SELECT c.id, c.content FROM entry_contents c JOIN collection_entries o ON o.id = c.entry_id WHERE o.collection_id = ?", entryContents}
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
	if err := cmp.Or(checkNames(k.what+" definition", name, description), oneOf("status", status, Published, Unpublished)); err != nil {
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
	o := ownerOf(tx, k.table+" WHERE true", "name", k.key, key)
	if o == nil || o.id == except {
		return nil
	}
	return &Error{Code: CodeKeyExists, Message: fmt.Sprintf("%s %s %q exists already (%s %q, id %s)", k.what, k.key, key, k.what, o.name, o.id),
		Hint:     fmt.Sprintf("use that %s, or another %s such as %q", k.what, k.key, o.free),
		Expected: fmt.Sprintf("a %s that no other %s has", k.key, k.what), Actual: fmt.Sprintf("%q belongs to %s", key, o.id)}
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
	row, err := k.row(tx, id, *cmp.Or(change.Name, old.Name), key, *cmp.Or(change.Description, old.Description), *cmp.Or(change.Status, old.Status))
	if err != nil {
		return err
	}
	tx.update(k.table, id, row)
	return nil
}
