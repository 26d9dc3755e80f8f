package site

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"strings"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates holds "layout", one "section-…" per template key, and "section-default" for all other keys.
var templates = template.Must(template.ParseFS(templateFiles, "templates/*.html"))

// A Preview shows a page as visitors would see it.
type Preview struct {
	Page   string   `json:"page"` // its slug
	Locale string   `json:"locale"`
	Path   string   `json:"path"` // its address on the site, such as "/about"
	Text   string   `json:"text"` // its published sections and their values
	HTML   string   `json:"html"`
	Notes  []string `json:"notes,omitempty"` // what is hidden from visitors, or missing
}

// A shownSection is the input of a section's template.
type shownSection struct {
	ID, Key, Name string
	Values        []shownValue
}

// A shownValue is a slot's value, ready to show. Which fields are set depends on the slot's type.
type shownValue struct {
	Key, Label, Type string
	Text             string   // text, richText, option, collectionRef
	Blocks           []Block  // richText
	Items            []string // option with several values
	Images           []image  // image, media
	Href             string   // link; empty if its target is gone
}

type image struct{ URL, Alt string }

// Get returns the value of a slot, or an empty one.
func (s shownSection) Get(key string) shownValue {
	for _, v := range s.Values {
		if v.Key == key {
			return v
		}
	}
	return shownValue{}
}

// Preview shows the page with this id or slug in the locale ("en" if empty). Like visitors, it leaves out unpublished sections; Notes lists
// them.
func (s *Site) Preview(ctx context.Context, page, locale string) (*Preview, error) {
	return view(ctx, s, "previewing a page", func(tx *sql.Tx) (*Preview, error) {
		return preview(ctx, tx, page, locale)
	})
}

func preview(ctx context.Context, tx *sql.Tx, ref, locale string) (*Preview, error) {
	p, err := loadPage(ctx, tx, ref, locale)
	if err != nil {
		return nil, err
	}
	loc, err := localeRow(ctx, tx, p.Locale)
	if err != nil {
		return nil, err
	}
	v := &Preview{Page: p.Slug, Locale: p.Locale, Path: Path(p.Slug)}
	if loc.status != "active" {
		v.Notes = append(v.Notes, fmt.Sprintf("locale %s (%s) is %s: visitors don't see it", loc.code, loc.name, loc.status))
	}
	if len(p.Sections) == 0 {
		v.Notes = append(v.Notes, "the page has no sections")
	}
	var text, body strings.Builder
	fmt.Fprintf(&text, "%s (%s, %s)\n", p.Name, v.Path, p.Locale)
	for _, sec := range p.Sections {
		if sec.Status != Published {
			v.Notes = append(v.Notes, fmt.Sprintf("section %s (%s) is unpublished", sec.ID, sec.Section))
			continue
		}
		if len(sec.Content) == 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("section %s (%s) has no contents in %s", sec.ID, sec.Section, p.Locale))
		} else if len(sec.Missing) > 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("section %s (%s) lacks %s", sec.ID, sec.Section, strings.Join(sec.Missing, ", ")))
		}
		shown, err := show(ctx, tx, sec)
		if err != nil {
			return nil, err
		}
		shown.writeText(&text)
		if err := execute(&body, sec.def.TemplateKey, shown); err != nil {
			return nil, err
		}
	}
	v.Text = text.String()
	var out bytes.Buffer
	description, _ := p.Meta["description"].(string)
	title, _ := p.Meta["title"].(string)
	if title == "" {
		title = p.Name
	}
	err = templates.ExecuteTemplate(&out, "layout", map[string]any{
		"Title": title, "Description": description, "Locale": p.Locale, "Indexing": p.Indexing,
		"Body": template.HTML(body.String()), // the templates above have escaped it
	})
	v.HTML = out.String()
	return v, err
}

// execute renders a section with the template of that key, or with the default template, which shows every slot.
func execute(w *strings.Builder, key string, s shownSection) error {
	t := templates.Lookup("section-" + key)
	if t == nil {
		t = templates.Lookup("section-default")
	}
	return t.Execute(w, s)
}

// show prepares a section's values in the order of its slots.
func show(ctx context.Context, tx *sql.Tx, sec Section) (shownSection, error) {
	shown := shownSection{ID: sec.ID, Key: sec.Section, Name: sec.Name}
	for _, slot := range sec.def.Elements.Slots() {
		v, ok := sec.Content[slot.Key]
		if !ok {
			continue
		}
		value := shownValue{Key: slot.Key, Label: slot.Label, Type: slot.Type}
		if value.Label == "" {
			value.Label = slot.Key
		}
		items, several := v.([]any)
		if !several {
			items = []any{v}
		}
		for _, item := range items {
			if err := value.add(ctx, tx, item); err != nil {
				return shown, err
			}
		}
		shown.Values = append(shown.Values, value)
	}
	return shown, nil
}

// add adds one value. A value that doesn't match the definition any more is shown as empty.
func (v *shownValue) add(ctx context.Context, tx *sql.Tx, item any) error {
	object, _ := item.(map[string]any)
	field := func(name string) string { text, _ := object[name].(string); return text }
	switch v.Type {
	case TypeText:
		v.Text, _ = item.(string)
	case TypeRichText:
		v.Text, _ = item.(string)
		v.Blocks = blocks(v.Text)
	case TypeOption:
		text, _ := item.(string)
		v.Items = append(v.Items, text)
		v.Text = strings.Join(v.Items, ", ")
	case TypeImage, TypeMedia:
		v.Images = append(v.Images, image{field("url"), field("alt")})
	case TypeLink:
		href, err := linkPath(ctx, tx, field("type"), field("href"), field("targetId"))
		v.Href = href
		return err
	case TypeCollectionRef:
		v.Text = strings.TrimSpace(field("collectionId") + " " + field("entryId"))
	}
	return nil
}

// linkPath returns the address of a link, or "" if its target is gone.
func linkPath(ctx context.Context, tx *sql.Tx, kind, href, id string) (path string, err error) {
	switch kind {
	case "url":
		return href, nil
	case "page":
		err = tx.QueryRowContext(ctx, "SELECT slug FROM pages WHERE id = ?", id).Scan(&path)
		if err == nil {
			return Path(path), nil
		}
	case "entry":
		err = tx.QueryRowContext(ctx, `SELECT '/' || d.slug || '/' || e.slug FROM collection_entries e JOIN collection_definitions d ON d.id = e.collection_id WHERE e.id = ?`, id).Scan(&path)
	case "media":
		err = tx.QueryRowContext(ctx, "SELECT path FROM media WHERE id = ?", id).Scan(&path)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return path, err
}

// Path returns the address of a page. The page with the slug home is the root.
func Path(slug string) string {
	if slug == "home" {
		return "/"
	}
	return "/" + slug
}

// writeText writes a section as a heading and a line for each value.
func (s shownSection) writeText(w *strings.Builder) {
	fmt.Fprintf(w, "\n## %s [%s]\n", s.Name, s.ID)
	if len(s.Values) == 0 {
		w.WriteString("(no contents)\n")
	}
	for _, v := range s.Values {
		switch {
		case v.Type == TypeLink && v.Href == "":
			fmt.Fprintf(w, "%s: (its target is gone)\n", v.Key)
		case v.Type == TypeLink:
			fmt.Fprintf(w, "%s: %s\n", v.Key, v.Href)
		case len(v.Images) > 0:
			for _, img := range v.Images {
				fmt.Fprintf(w, "%s: %s\n", v.Key, strings.TrimSpace(img.URL+" "+bracketed(img.Alt)))
			}
		case strings.Contains(v.Text, "\n"):
			fmt.Fprintf(w, "%s:\n  %s\n", v.Key, strings.ReplaceAll(v.Text, "\n", "\n  "))
		default:
			fmt.Fprintf(w, "%s: %s\n", v.Key, v.Text)
		}
	}
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}
