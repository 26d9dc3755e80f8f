package site

import (
	"context"
	"strings"
	"time"
)

// A Collection defines the slots of its entries.
type Collection struct {
	ID          string    `json:"id"` // col_…
	Slug        string    `json:"slug"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Status      string    `json:"status"`
	Elements    Elements  `json:"elements_structure"`
	Entries     int       `json:"entries"` // number of entries
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// CreateCollection is the request of [Site.CreateCollection].
type CreateCollection struct {
	Name        string   `json:"name"`                  // 1 to 100 characters
	Slug        string   `json:"slug,omitempty"`        // derived from the name if empty
	Description string   `json:"description,omitempty"` // at most 1,000 characters
	Elements    Elements `json:"elements_structure"`    // 1 to 50 slots
}

// UpdateCollection is the request of [Site.UpdateCollection]. Absent fields don't change.
type UpdateCollection struct {
	Collection  string  `json:"collection"` // id or slug
	Name        *string `json:"name,omitempty"`
	Slug        *string `json:"slug,omitempty"`
	Description *string `json:"description,omitempty"`
	Status      *string `json:"status,omitempty"` // published or unpublished
}

// ListCollections lists the collections by slug.
func (s *Site) ListCollections(ctx context.Context, q Query) (List[*Collection], error) {
	return view(ctx, s, "listing collections", func(tx *txn) (List[*Collection], error) {
		return collectionTable.list(tx, q, "true", "slug"), nil
	})
}

// GetCollection returns the collection with this slug or id.
func (s *Site) GetCollection(ctx context.Context, collection string) (*Collection, error) {
	return view(ctx, s, "reading a collection", func(tx *txn) (*Collection, error) {
		return collectionTable.find(tx, collection)
	})
}

// CreateCollection adds a collection, which is published at once, and returns it.
func (s *Site) CreateCollection(ctx context.Context, in CreateCollection) (*Collection, error) {
	return commit(ctx, s, "creating a collection", func(tx *txn) (*Collection, error) {
		return createCollection(tx, in, newID(collectionID))
	})
}

func createCollection(tx *txn, in CreateCollection, id string) (*Collection, error) {
	row, err := collectionKind.newRow(tx, id, in.Name, in.Slug, in.Description, in.Elements)
	if err != nil {
		return nil, err
	}
	row["site_id"] = siteID
	tx.insert(collectionKind.table, row)
	return collectionTable.find(tx, id)
}

// UpdateCollection changes the fields that the request names and returns the collection.
func (s *Site) UpdateCollection(ctx context.Context, in UpdateCollection) (*Collection, error) {
	return commit(ctx, s, "updating a collection", func(tx *txn) (*Collection, error) {
		c, err := collectionTable.find(tx, in.Collection)
		if err != nil {
			return nil, err
		}
		old := DefinitionFields{Key: &c.Slug, Name: &c.Name, Description: &c.Description, Status: &c.Status}
		change := DefinitionFields{Key: in.Slug, Name: in.Name, Description: in.Description, Status: in.Status}
		if err := collectionKind.update(tx, c.ID, old, change); err != nil {
			return nil, err
		}
		return collectionTable.find(tx, c.ID)
	})
}

// DeleteCollection removes a collection without entries that no slot refers to, and returns what
// [Site.Restore] needs to undo it.
func (s *Site) DeleteCollection(ctx context.Context, collection string) (*Removed, error) {
	return commit(ctx, s, "deleting a collection", func(tx *txn) (*Removed, error) {
		c, err := collectionTable.find(tx, collection)
		if err != nil {
			return nil, err
		}
		if c.Entries > 0 {
			return nil,
				conflict("delete its entries first, or unpublish it", "collection %q has %d entries", c.Slug, c.Entries)
		}
		users := collect(tx, one[string],
			`SELECT DISTINCT d.key FROM (SELECT key, elements_structure FROM section_definitions
			UNION ALL SELECT slug, elements_structure FROM collection_definitions) d JOIN json_tree(d.elements_structure) t ON t.atom = ? ORDER BY d.key`, c.ID)
		if len(users) > 0 {
			return nil, conflict("change these slots first", "collection %q is the target of slots of %s", c.Slug,
				strings.Join(users, ", "))
		}
		r := &Removed{Kind: KindCollection, ID: c.ID, Name: c.Name, Key: c.Slug}
		return r.take(tx, collectionKind.table, "id"), nil
	})
}

var collectionTable = table[*Collection]{what: "collection", prefix: collectionID, from: "collection_definitions",
	where: "id = ?1 OR slug = ?1",
	names: "SELECT slug FROM collection_definitions ORDER BY slug LIMIT 200",
	columns: `id, slug, name, description, status, elements_structure, created_at, updated_at,
		(SELECT count(*) FROM collection_entries WHERE collection_id = collection_definitions.id)`,
	scan: func(scan scanner) (*Collection, error) {
		var c Collection
		return &c, scan(&c.ID, &c.Slug, &c.Name, &c.Description, &c.Status, object{&c.Elements}, at{&c.CreatedAt},
			at{&c.UpdatedAt}, &c.Entries)
	}}
