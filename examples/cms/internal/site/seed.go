package site

import (
	"context"
	"database/sql"
)

// DefaultLocale is the locale of a request that names none.
const DefaultLocale = "en"

// The one site and environment of a file.
const (
	siteID        = "site_local"
	environmentID = "env_main"
)

// firstData fills a new file with a small site: a home page with a hero, and a blog with one entry. The ids are fixed, so that programs
// and tests can use them.
func firstData(ctx context.Context, tx *sql.Tx, now string) error {
	if _, err := tx.ExecContext(ctx, `
		INSERT INTO teams (id, name) VALUES ('team_dev', 'dev-team');
		INSERT INTO sites (id, team_id, name, domain, preview_domain, default_environment_id)
			VALUES ('site_local', 'team_dev', 'local-site', 'localhost', 'localhost:4000', 'env_main');
		INSERT INTO environments (id, site_id, name) VALUES ('env_main', 'site_local', 'main');
		INSERT INTO locales (code, name, status) VALUES ('en', 'English', 'active'), ('de', 'Deutsch', 'inactive');`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO media (id, site_id, environment_id, name, path, mime_type, mime_group, width, height, alt, created_at)
		VALUES ('med_hero', 'site_local', 'env_main', 'Hero', '/assets/hero.svg', 'image/svg+xml', 'image', 1600, 900, 'A ratchet and its pawl', ?)`, now); err != nil {
		return err
	}
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
		if _, err := createSectionDef(ctx, tx, def.CreateSectionDef, def.id, now); err != nil {
			return err
		}
	}
	if err := firstCollection(ctx, tx, now); err != nil {
		return err
	}
	return firstPage(ctx, tx, now)
}

// rows puts each slot into a row of its own.
func rows(slots ...Slot) Elements {
	var e Elements
	for _, s := range slots {
		e.Rows = append(e.Rows, Row{Slots: []Slot{s}})
	}
	return e
}

func firstCollection(ctx context.Context, tx *sql.Tx, now string) error {
	elements := rows(
		Slot{Key: "body", Type: TypeRichText, Label: "Body", Rules: Rules{Required: true}},
		Slot{Key: "cover", Type: TypeImage, Label: "Cover"},
		Slot{Key: "tags", Type: TypeOption, Label: "Tags", Rules: Rules{Multiple: true, OptionValues: []string{"news", "product", "guide", "team"}}})
	if _, err := createCollection(ctx, tx, CreateCollection{Name: "Blog", Description: "Posts and articles. Also called news or journal.", Elements: elements}, "col_blog", now); err != nil {
		return err
	}
	_, err := upsertEntry(ctx, tx, UpsertEntry{Collection: "blog", Entry: "hello-world", Title: "Hello, world", Content: map[string]any{
		"body": "The first entry of this blog.\n\nChange it, or ask the agent to.",
		"tags": []string{"news"},
	}}, "ent_hello", now)
	return err
}

func firstPage(ctx context.Context, tx *sql.Tx, now string) error {
	home := Page{ID: "pg_home", Slug: "home", Name: "Home", Description: "The start page of the site. Also called landing page or front page.", Indexing: true}
	if err := insertPage(ctx, tx, home, "{}", now, now); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO page_sections (id, page_id, section_def_id, sort_order, status) VALUES ('sec_home_hero', 'pg_home', 'def_hero', 0, 'published')`); err != nil {
		return err
	}
	def, err := sectionDefRow(ctx, tx, "def_hero")
	if err != nil {
		return err
	}
	return putContent(ctx, tx, pageContents, "sec_home_hero", DefaultLocale, func(old map[string]any) (map[string]any, error) {
		return applyContent(ctx, tx, "section hero", def.Elements, old, map[string]any{
			"title":    "Welcome to local-site",
			"subtitle": "A small site to start from",
			"image":    map[string]any{"id": "med_hero", "url": "/assets/hero.svg", "alt": "A ratchet and its pawl"},
			"ctaText":  "Read the blog",
			"ctaLink":  map[string]any{"type": "entry", "targetId": "ent_hello"},
		}, false)
	})
}
