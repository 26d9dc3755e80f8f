package site

import (
	"embed"
	"encoding/json"
	"maps"
	"slices"
)

// DefaultLocale is the locale of a request that names none.
const DefaultLocale = "en"

// The one site and environment of a file.
const (
	siteID        = "site_local"
	environmentID = "env_main"
)

//go:embed seed
var seeds embed.FS

// A seed is what a new file contains, by id. The ids are fixed, so that programs and tests can use
// them.
type seed struct {
	Kinds       []string                    `json:"kinds"` // of sections; empty: all
	Media       map[string]UploadMedia      `json:"media"` // files of the folder seed
	Collections map[string]CreateCollection `json:"collections"`
	Entries     map[string]UpsertEntry      `json:"entries"`
	Pages       []Deleted                   `json:"pages"`
	Navigations []Navigation                `json:"navigations"`
}

// Small makes a new file hold only the page home with a hero, the blog with one entry, and four
// kinds of sections, instead of the site of a bakery.
func Small(s *Site) error {
	s.seed = "seed/small.json"
	return nil
}

// readSeed decodes a file of the folder seed.
func readSeed[T any](name string) (v T, err error) {
	text, err := seeds.ReadFile(name)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(text, &v)
}

// firstData fills a new file.
func (s *Site) firstData(tx *txn) error {
	first, err := readSeed[seed](s.seed)
	if err != nil {
		return err
	}
	if err := script("2-seed.sql")(tx); err != nil {
		return err
	}
	if err := sectionKinds(tx); err != nil {
		return err
	}
	if len(first.Kinds) > 0 {
		tx.exec("DELETE FROM section_definitions WHERE id NOT IN (SELECT value FROM json_each(?))", object{first.Kinds})
	}
	for id, in := range first.Media {
		content, err := seeds.ReadFile("seed/" + in.Name)
		if err != nil {
			return err
		}
		if err := s.store(tx, &Media{ID: id, Name: in.Name, Alt: &in.Alt}, content); err != nil {
			return err
		}
	}
	for id, in := range first.Collections {
		if _, err := createCollection(tx, in, id); err != nil {
			return err
		}
	}
	for id, in := range first.Entries {
		if _, err := upsertEntry(tx, in, id); err != nil {
			return err
		}
	}
	for _, p := range first.Pages {
		if err := p.insert(tx, tx.now, tx.now); err != nil {
			return err
		}
	}
	for _, n := range first.Navigations {
		tx.insert("navigations", record{"id": n.ID, "site_id": siteID, "environment_id": environmentID,
			"name": n.Name, "description": n.Description})
		if err := insertItems(tx, n.ID, "", n.Items, maxItemDepth, map[string]bool{}); err != nil {
			return err
		}
	}
	return nil
}

// sectionKinds adds the section definitions of a new file, except those whose key is taken.
func sectionKinds(tx *txn) error {
	kinds, err := readSeed[map[string]CreateSectionDef]("seed/sections.json")
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(kinds)) {
		in := kinds[id]
		if value[bool](tx, "SELECT count(*) > 0 FROM section_definitions WHERE key = ?", in.Key) {
			continue
		}
		if _, err := createSectionDef(tx, in, id); err != nil {
			return err
		}
	}
	return nil
}

// SectionKeys returns the keys of the section definitions of a new file.
func SectionKeys() (keys []string) {
	kinds, _ := readSeed[map[string]CreateSectionDef]("seed/sections.json") // a new file is made of it
	for _, in := range kinds {
		keys = append(keys, in.Key)
	}
	slices.Sort(keys)
	return keys
}

// newSearchTexts writes the search columns again, and adds the section kinds that an older file
// lacks.
func newSearchTexts(tx *txn) error {
	for table, names := range map[string]string{"pages": "name, slug, description",
		"section_definitions": "name, key, description", "collection_definitions": "name, slug, description",
		"collection_entries": "title, slug, ''", "media": "name, coalesce(alt, ''), ''"} {
		for _, row := range collect(tx, func(scan scanner) (row [4]string, err error) {
			err = scan(&row[0], &row[1], &row[2], &row[3])
			return row, err
		}, "SELECT id, "+names+" FROM "+table) {
			tx.update(table, row[0], record{"search": searchText(row[1:]...)})
		}
	}
	return sectionKinds(tx)
}
