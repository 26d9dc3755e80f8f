package site

import (
	"encoding/json"
)

// DefaultLocale is the locale of a request that names none.
const DefaultLocale = "en"

// The one site and environment of a file.
const (
	siteID        = "site_local"
	environmentID = "env_main"
)

// firstData fills a new file with a small site: a home page with a hero, and a blog with one entry.
// The ids are fixed, so that programs and tests can use them.
func firstData(tx *txn) error {
	if err := script("2-seed.sql")(tx); err != nil {
		return err
	}
	text, err := scripts.ReadFile("migrations/2-seed.json")
	if err != nil {
		return err
	}
	var first struct { // by id
		Sections    map[string]CreateSectionDef `json:"sections"`
		Collections map[string]CreateCollection `json:"collections"`
		Entries     map[string]UpsertEntry      `json:"entries"`
		Home        Deleted                     `json:"home"`
	}
	if err := json.Unmarshal(text, &first); err != nil {
		return err
	}
	for id, in := range first.Sections {
		if _, err := createSectionDef(tx, in, id); err != nil {
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
	return first.Home.insert(tx, tx.now, tx.now)
}
