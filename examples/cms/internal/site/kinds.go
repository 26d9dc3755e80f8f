package site

import (
	"context"
	"database/sql"
	"errors"
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
func (k definitionKind) newRow(ctx context.Context, tx *sql.Tx, name, key, description string, e Elements, id, now string) (map[string]any, error) {
	if err := checkNames(k.what+" definition", name, description); err != nil {
		return nil, err
	}
	key, err := slugFrom(key, name)
	if err != nil {
		return nil, err
	}
	if err := k.free(ctx, tx, key, id); err != nil {
		return nil, err
	}
	if err := e.check(ctx, tx); err != nil {
		return nil, err
	}
	elements, err := encodeObject(e)
	return map[string]any{"id": id, k.key: key, "name": name, "description": description, "status": Published, "elements_structure": elements,
		"search": searchText(name, key, description), "created_at": now, "updated_at": now}, err
}

// free returns an error if another definition has the key.
func (k definitionKind) free(ctx context.Context, tx *sql.Tx, key, except string) error {
	var other, name string
	err := tx.QueryRowContext(ctx, "SELECT id, name FROM "+k.table+" WHERE "+k.key+" = ? AND id <> ?", key, except).Scan(&other, &name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	free, err := freeSlug(ctx, tx, "SELECT count(*) FROM "+k.table+" WHERE "+k.key+" = ?", key)
	if err != nil {
		return err
	}
	return &Error{Code: CodeKeyExists, Message: fmt.Sprintf("%s %s %q exists already (%s %q, id %s)", k.what, k.key, key, k.what, name, other),
		Hint:     fmt.Sprintf("use that %s, or another %s such as %q", k.what, k.key, free),
		Expected: fmt.Sprintf("a %s that no other %s has", k.key, k.what), Actual: fmt.Sprintf("%q belongs to %s", key, other)}
}

// update changes the fields of a definition.
func (k definitionKind) update(ctx context.Context, tx *sql.Tx, id string, old, change DefinitionFields, now string) error {
	if change == (DefinitionFields{}) {
		return invalid("give name, "+k.key+", description or status", "nothing to change")
	}
	value := func(change, old *string) string {
		if change != nil {
			return *change
		}
		return *old
	}
	name, key, description, status := value(change.Name, old.Name), value(change.Key, old.Key), value(change.Description, old.Description), value(change.Status, old.Status)
	if err := checkNames(k.what+" definition", name, description); err != nil {
		return err
	}
	if key == "" {
		return invalid("leave it out to keep it", "the %s is empty", k.key)
	}
	if _, err := slugFrom(key, ""); err != nil {
		return err
	}
	if err := oneOf("status", status, Published, Unpublished); err != nil {
		return err
	}
	if err := k.free(ctx, tx, key, id); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE "+k.table+" SET name = ?, "+k.key+" = ?, description = ?, status = ?, search = ?, updated_at = ? WHERE id = ?",
		name, key, description, status, searchText(name, key, description), now, id)
	return err
}
