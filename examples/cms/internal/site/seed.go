package site

import (
	_ "embed"
	"encoding/json"
)

// DefaultLocale is the locale of a request that names none.
const DefaultLocale = "en"

// The one site and environment of a file.
const (
	siteID        = "site_local"
	environmentID = "env_main"
)

// seed has the objects of a new file that are made like any others.
//
//go:embed seed.json
var seed []byte

// firstData fills a new file with a small site: a home page with a hero, and a blog with one entry. The ids are fixed, so that programs
// and tests can use them.
func firstData(tx *txn) error {
	tx.exec(`
		INSERT INTO teams (id, name) VALUES ('team_dev', 'dev-team');
		INSERT INTO sites (id, team_id, name, domain, preview_domain, default_environment_id)
			VALUES ('site_local', 'team_dev', 'local-site', 'localhost', 'localhost:4000', 'env_main');
		INSERT INTO environments (id, site_id, name) VALUES ('env_main', 'site_local', 'main');
		INSERT INTO locales (code, name, status) VALUES ('en', 'English', 'active'), ('de', 'Deutsch', 'inactive');
		INSERT INTO media (id, site_id, environment_id, name, path, mime_type, mime_group, width, height, alt, created_at)
			VALUES ('med_hero', 'site_local', 'env_main', 'Hero', '/assets/hero.svg', 'image/svg+xml', 'image', 1600, 900, 'A ratchet and its pawl', ?)`, tx.now)
	var first struct { // by id
		Sections    map[string]CreateSectionDef `json:"sections"`
		Collections map[string]CreateCollection `json:"collections"`
		Entries     map[string]UpsertEntry      `json:"entries"`
		Home        Deleted                     `json:"home"`
	}
	if err := json.Unmarshal(seed, &first); err != nil {
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
