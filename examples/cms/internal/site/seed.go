package site

// DefaultLocale is the locale of a request that names none.
const DefaultLocale = "en"

// The one site and environment of a file.
const (
	siteID        = "site_local"
	environmentID = "env_main"
)

// firstData fills a new file with a small site: a home page with a hero, and a blog with one entry. The ids are fixed, so that programs
// and tests can use them.
func firstData(tx *txn) error {
	tx.exec(`
		INSERT INTO teams (id, name) VALUES ('team_dev', 'dev-team');
		INSERT INTO sites (id, team_id, name, domain, preview_domain, default_environment_id)
			VALUES ('site_local', 'team_dev', 'local-site', 'localhost', 'localhost:4000', 'env_main');
		INSERT INTO environments (id, site_id, name) VALUES ('env_main', 'site_local', 'main');
		INSERT INTO locales (code, name, status) VALUES ('en', 'English', 'active'), ('de', 'Deutsch', 'inactive');`)
	tx.exec(`INSERT INTO media (id, site_id, environment_id, name, path, mime_type, mime_group, width, height, alt, created_at)
		VALUES ('med_hero', 'site_local', 'env_main', 'Hero', '/assets/hero.svg', 'image/svg+xml', 'image', 1600, 900, 'A ratchet and its pawl', ?)`, tx.now)
	for _, def := range []struct {
		id string
		CreateSectionDef
	}{
		{"def_hero", CreateSectionDef{Name: "Hero", Description: "Large opening of a page: a headline, a picture and a button. Also called banner or header.",
			Elements: rows(
				Slot{Key: "title", Type: TypeText, Label: "Title", Rules: Rules{Required: true}},
				Slot{Key: "subtitle", Type: TypeText, Label: "Subtitle"},
				Slot{Key: "image", Type: TypeImage, Label: "Image"},
				Slot{Key: "ctaText", Type: TypeText, Label: "Text of the button"},
				Slot{Key: "ctaLink", Type: TypeLink, Label: "Target of the button"})}},
		{"def_text", CreateSectionDef{Name: "Text", Description: "A heading and paragraphs. Also called copy, article or rich text.",
			Elements: rows(
				Slot{Key: "heading", Type: TypeText, Label: "Heading"},
				Slot{Key: "body", Type: TypeRichText, Label: "Body", Rules: Rules{Required: true}})}},
		{"def_feature", CreateSectionDef{Name: "Feature", Description: "One benefit of a product: a picture, a heading and a text.",
			Elements: rows(
				Slot{Key: "title", Type: TypeText, Label: "Title", Rules: Rules{Required: true}},
				Slot{Key: "text", Type: TypeRichText, Label: "Text"},
				Slot{Key: "image", Type: TypeImage, Label: "Image"})}},
		{"def_cta", CreateSectionDef{Name: "Call to action", Key: "cta", Description: "A sentence and a button that asks visitors to do something.",
			Elements: rows(
				Slot{Key: "text", Type: TypeText, Label: "Text", Rules: Rules{Required: true}},
				Slot{Key: "buttonText", Type: TypeText, Label: "Text of the button"},
				Slot{Key: "buttonLink", Type: TypeLink, Label: "Target of the button"})}},
	} {
		if _, err := createSectionDef(tx, def.CreateSectionDef, def.id); err != nil {
			return err
		}
	}
	if err := firstCollection(tx); err != nil {
		return err
	}
	return firstPage(tx)
}

// rows puts each slot into a row of its own.
func rows(slots ...Slot) Elements {
	var e Elements
	for _, s := range slots {
		e.Rows = append(e.Rows, Row{Slots: []Slot{s}})
	}
	return e
}

func firstCollection(tx *txn) error {
	elements := rows(
		Slot{Key: "body", Type: TypeRichText, Label: "Body", Rules: Rules{Required: true}},
		Slot{Key: "cover", Type: TypeImage, Label: "Cover"},
		Slot{Key: "tags", Type: TypeOption, Label: "Tags", Rules: Rules{Multiple: true, OptionValues: []string{"news", "product", "guide", "team"}}})
	if _, err := createCollection(tx, CreateCollection{Name: "Blog", Description: "Posts and articles. Also called news or journal.", Elements: elements}, "col_blog"); err != nil {
		return err
	}
	_, err := upsertEntry(tx, UpsertEntry{Collection: "blog", Entry: "hello-world", Title: "Hello, world", Content: map[string]any{
		"body": "The first entry of this blog.\n\nChange it, or ask the agent to.",
		"tags": []string{"news"},
	}}, "ent_hello")
	return err
}

func firstPage(tx *txn) error {
	home := &Page{ID: "pg_home", Slug: "home", Name: "Home", Description: "The start page of the site. Also called landing page or front page.", Indexing: true}
	if err := insertPage(tx, home, tx.now, tx.now); err != nil {
		return err
	}
	return restoreSection(tx, home.ID, DeletedSection{ID: "sec_home_hero", Section: "def_hero", Status: Published, Contents: map[string]map[string]any{DefaultLocale: {
		"title":    "Welcome to local-site",
		"subtitle": "A small site to start from",
		"image":    map[string]any{"id": "med_hero", "url": "/assets/hero.svg", "alt": "A ratchet and its pawl"},
		"ctaText":  "Read the blog",
		"ctaLink":  map[string]any{"type": "entry", "targetId": "ent_hello"},
	}}})
}
