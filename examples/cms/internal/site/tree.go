package site

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// mainNavigation is the name of the menu that every page shows.
const mainNavigation = "main"

// A Tree is what visitors see of a page or an entry, with all references resolved, ready to render.
type Tree struct {
	Page        string `json:"page"`            // its slug
	Entry       bool   `json:"entry,omitempty"` // it is an entry of a collection
	Status      string `json:"status"`          // draft or published
	Locale      string `json:"locale"`
	Path        string `json:"path"` // its address on the site, such as "/about"
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	Indexing    bool   `json:"indexing"` // whether search engines may list it
	Site        string `json:"site"`     // names
	Environment string `json:"environment"`
	// Brand and Tagline are what the head and the foot of every page say: brand and tagline of the
	// meta of the page home, or the name of the site.
	Brand    string        `json:"brand"`
	Tagline  string        `json:"tagline,omitempty"`
	Revision int64         `json:"revision"` // see [Site.Revision]
	Menu     []MenuItem    `json:"menu"`
	Sections []TreeSection `json:"sections"`        // the published ones, in order
	Notes    []string      `json:"notes,omitempty"` // what is hidden from visitors, or missing
}

// A MenuItem is an item of the menu of a page.
type MenuItem struct {
	Text    string     `json:"text"`
	Href    string     `json:"href,omitempty"`
	Current bool       `json:"current,omitempty"` // it leads to this page
	Items   []MenuItem `json:"items,omitempty"`
}

// A TreeSection is the input of a section's template.
type TreeSection struct {
	ID        string  `json:"sectionId"`
	DefID     string  `json:"defId"`
	Key       string  `json:"key"`
	Name      string  `json:"name"`
	SortOrder int     `json:"sortOrder"`
	Template  string  `json:"template"` // the key of its template
	Variant   string  `json:"variant"`
	Values    []Value `json:"values"` // in the order of the slots; empty slots are left out
}

// A Value is a slot's value, ready to show. Which fields are set depends on the slot's type.
type Value struct {
	Key    string   `json:"key"`
	Label  string   `json:"label"`
	Type   string   `json:"type"`
	Hint   string   `json:"variant,omitempty"` // the slot's hint for the template
	Text   string   `json:"text,omitempty"`    // text, richText (Markdown), option, collectionRef
	Items  []string `json:"items,omitempty"`   // option with several values
	Images []Image  `json:"images,omitempty"`  // image, media
	Href   string   `json:"href,omitempty"`    // link; empty if its target is gone
	Cards  []Card   `json:"cards,omitempty"`   // collectionRef: the entries
}

// A Card is an entry in a list of entries.
type Card struct {
	Title  string   `json:"title"`
	Href   string   `json:"href"`
	Status string   `json:"status"`
	Text   string   `json:"text,omitempty"` // the beginning of its first Markdown
	Images []Image  `json:"images,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

// An Image is an image or another file.
type Image struct {
	URL string `json:"url"`
	Alt string `json:"alt,omitempty"`
}

// Get returns the value of a slot, or an empty one.
func (s TreeSection) Get(key string) Value {
	i := slices.IndexFunc(s.Values, func(v Value) bool { return v.Key == key })
	if i < 0 {
		return Value{}
	}
	return s.Values[i]
}

// Label names the section for a person, such as: the hero “Welcome”.
func (s TreeSection) Label() string {
	label := "the " + strings.ToLower(s.Name)
	if s.Template == "entry" {
		return "the entry “" + s.Name + "”"
	}
	for _, v := range s.Values {
		if v.Type == TypeText && v.Text != "" {
			return label + " “" + shorten(v.Text, 40) + "”"
		}
	}
	return label
}

// Tree returns the page with this id or slug in the locale ("en" if empty). Like visitors see it,
// it lacks unpublished sections; Notes lists them.
func (s *Site) Tree(ctx context.Context, page, locale string) (*Tree, error) {
	return view(ctx, s, "previewing a page", func(tx *txn) (*Tree, error) {
		p, err := loadPage(tx, page, locale)
		if err != nil {
			return nil, err
		}
		t, err := newTree(tx, p.Locale, Path(p.Slug))
		if err != nil {
			return nil, err
		}
		t.Page, t.Status, t.Indexing, t.Title = p.Slug, p.Status, p.Indexing, p.Name
		if title, _ := p.Meta["title"].(string); title != "" {
			t.Title = title
		}
		t.Description, _ = p.Meta["description"].(string)
		if len(p.Sections) == 0 {
			t.note("This page has no sections yet.")
		}
		for _, sec := range p.Sections {
			switch {
			case sec.Status != Published:
				t.note("Visitors don't see the section %s (%s): it is unpublished.", sec.Name, sec.ID)
				continue
			case len(sec.Content) == 0:
				t.note("The section %s (%s) has no contents in %s yet.", sec.Name, sec.ID, p.Locale)
			case len(sec.Missing) > 0:
				t.note("The section %s (%s) still needs: %s.", sec.Name, sec.ID, strings.Join(sec.Missing, ", "))
			}
			t.Sections = append(t.Sections,
				TreeSection{ID: sec.ID, DefID: sec.def.ID, Key: sec.Section, Name: sec.Name, SortOrder: sec.SortOrder,
					Template: sec.def.TemplateKey, Variant: cmp.Or(sec.Variant, sec.def.DefaultVariant),
					Values: values(tx, sec.def.Elements, sec.Content)})
		}
		return t, nil
	})
}

// EntryTree returns an entry as a page with one section, whose template is "entry".
func (s *Site) EntryTree(ctx context.Context, collection, entry, locale string) (*Tree, error) {
	return view(ctx, s, "previewing an entry", func(tx *txn) (*Tree, error) {
		c, e, err := loadEntryIn(tx, collection, entry, locale)
		if err != nil {
			return nil, err
		}
		t, err := newTree(tx, e.Locale, "/"+c.Slug+"/"+e.Slug)
		if err != nil {
			return nil, err
		}
		t.Page, t.Entry, t.Status, t.Title, t.Indexing = e.Slug, true, e.Status, e.Title, true
		t.Sections = append(t.Sections,
			TreeSection{ID: e.ID, DefID: c.ID, Key: c.Slug, Name: e.Title, Template: "entry", Variant: "default",
				Values: values(tx, c.Elements, e.Content)})
		return t, nil
	})
}

// Name returns what visitors know the site by: the brand of its home page, or its own name.
func (s *Site) Name(ctx context.Context) (string, error) {
	return view(ctx, s, "reading the site's name", func(tx *txn) (string, error) {
		name, _ := brand(tx, value[string](tx, "SELECT name FROM sites WHERE id = ?", siteID))
		return name, nil
	})
}

// brand returns the brand that the home page has, or the site's name, and its tagline.
func brand(tx *txn, site string) (brand, tagline string) {
	brand = site
	tx.first([]any{&brand, &tagline}, "SELECT coalesce(meta ->> 'brand', ?), coalesce(meta ->> 'tagline', '') "+
		"FROM pages WHERE slug = 'home'", site)
	return brand, tagline
}

func newTree(tx *txn, locale, path string) (*Tree, error) {
	t := &Tree{Locale: locale, Path: path, Sections: []TreeSection{}}
	tx.first([]any{&t.Site, &t.Environment, &t.Revision},
		"SELECT s.name, e.name, n FROM sites s, environments e, revision WHERE s.id = ? AND e.id = ?", siteID,
		environmentID)
	if locale != DefaultLocale {
		tx.suffix = "?locale=" + locale
	}
	t.Brand, t.Tagline = brand(tx, t.Site)
	loc, err := findLocale(tx, locale)
	if err != nil {
		return nil, err
	}
	if loc.Status != Active {
		t.note("Visitors don't see %s (%s): the language is %s.", loc.Name, loc.Code, loc.Status)
	}
	id := value[string](tx, "SELECT id FROM navigations WHERE name = ? ORDER BY id LIMIT 1", mainNavigation)
	if id == "" {
		t.Menu = collect(tx, func(scan scanner) (m MenuItem, err error) {
			err = scan(&m.Text, &m.Href)
			m.Current, m.Href = Path(m.Href) == path, Path(m.Href)+tx.suffix
			return m, err
		}, "SELECT name, slug FROM pages WHERE status = ? ORDER BY slug <> 'home', created_at, id LIMIT 12", Published)
		return t, nil
	}
	n, err := findNavigation(tx, id)
	if err != nil {
		return nil, err
	}
	t.Menu = menu(tx, n.Items, path)
	return t, nil
}

// menu returns items with the addresses of their targets.
func menu(tx *txn, items []NavItem, path string) (list []MenuItem) {
	for _, item := range items {
		href := linkPath(tx, item.TargetType, item.URL, item.TargetUUID)
		list = append(list, MenuItem{Text: item.Value, Href: href, Current: href == path+tx.suffix,
			Items: menu(tx, item.Items, path)})
	}
	return list
}

func (t *Tree) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// values returns the values of a content in the order of its slots.
func values(tx *txn, e Elements, content map[string]any) []Value {
	list := []Value{}
	for _, slot := range e.Slots() {
		v, ok := content[slot.Key]
		if !ok {
			continue
		}
		value := Value{Key: slot.Key, Label: cmp.Or(slot.Label, slot.Key), Type: slot.Type, Hint: slot.Variant}
		items, several := v.([]any)
		if !several {
			items = []any{v}
		}
		for _, item := range items {
			value.add(tx, item)
		}
		list = append(list, value)
	}
	return list
}

// add adds one value. A value that doesn't match the definition any more is shown as empty.
func (v *Value) add(tx *txn, item any) {
	object, _ := item.(map[string]any)
	field := func(name string) string { text, _ := object[name].(string); return text }
	switch v.Type {
	case TypeText, TypeRichText:
		v.Text, _ = item.(string)
	case TypeOption:
		text, _ := item.(string)
		v.Items = append(v.Items, text)
		v.Text = strings.Join(v.Items, ", ")
	case TypeImage, TypeMedia:
		if object != nil {
			v.Images = append(v.Images, Image{field("url"), field("alt")})
		}
	case TypeLink:
		v.Href = linkPath(tx, field("type"), field("href"), field("targetId"))
	case TypeCollectionRef:
		v.Text = strings.TrimSpace(field("collectionId") + " " + field("entryId"))
		v.Cards = append(v.Cards, cards(tx, field("collectionId"), field("entryId"))...)
	}
}

// maxCards limits the entries in a list.
const maxCards = 12

// cards returns the entries of a collection, or one of them.
func cards(tx *txn, collection, entry string) (list []Card) {
	c, err := collectionTable.find(tx, collection)
	if err != nil { // it is gone
		return nil
	}
	for _, e := range collect(tx, entryTable.scan, "SELECT "+entryTable.columns+` FROM collection_entries
		WHERE collection_id = ?1 AND ?2 IN ('', id) ORDER BY sort_order, created_at DESC, slug LIMIT ?3`, c.ID, entry,
		maxCards) {
		card := Card{Title: e.Title, Href: "/" + c.Slug + "/" + e.Slug + tx.suffix, Status: e.Status}
		for _, v := range values(tx, c.Elements, entryContents.get(tx, e.ID, DefaultLocale)) {
			switch {
			case v.Type == TypeRichText && card.Text == "":
				card.Text = v.Text
			case len(v.Images) > 0 && card.Images == nil:
				card.Images = v.Images[:1]
			case v.Type == TypeOption && card.Tags == nil:
				card.Tags = v.Items
			}
		}
		list = append(list, card)
	}
	return list
}

// linkPath returns the address of a link or a navigation item, or "" if its target is gone.
func linkPath(tx *txn, kind, href, id string) string {
	switch kind {
	case "url":
		return href
	case "page":
		if slug := value[string](tx, "SELECT slug FROM pages WHERE id = ?", id); slug != "" {
			return Path(slug) + tx.suffix
		}
	case "entry":
		return value[string](tx, `SELECT '/' || d.slug || '/' || e.slug || ? FROM collection_entries e
			JOIN collection_definitions d ON d.id = e.collection_id WHERE e.id = ?`, tx.suffix, id)
	case "media", "medium":
		return value[string](tx, "SELECT path FROM media WHERE id = ?", id)
	}
	return ""
}

// Path returns the address of a page. The page with the slug home is the root.
func Path(slug string) string {
	if slug == "home" {
		return "/"
	}
	return "/" + slug
}

// Text returns the tree as text for a model: a heading for each section and a line for each value.
func (t *Tree) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, %s)\n", t.Title, t.Path, t.Locale)
	for _, s := range t.Sections {
		fmt.Fprintf(&b, "\n## %s [%s]\n", s.Name, s.ID)
		if len(s.Values) == 0 {
			b.WriteString("(no contents)\n")
		}
		for _, v := range s.Values {
			v.write(&b)
		}
	}
	for _, note := range t.Notes {
		b.WriteString("\nNote: " + note)
	}
	return b.String()
}

func (v Value) write(b *strings.Builder) {
	switch {
	case v.Type == TypeLink && v.Href == "":
		fmt.Fprintf(b, "%s: (its target is gone)\n", v.Key)
	case v.Type == TypeLink:
		fmt.Fprintf(b, "%s: %s\n", v.Key, v.Href)
	case len(v.Images) > 0:
		for _, img := range v.Images {
			alt := ""
			if img.Alt != "" {
				alt = " (" + img.Alt + ")"
			}
			fmt.Fprintf(b, "%s: %s%s\n", v.Key, img.URL, alt)
		}
	case strings.Contains(v.Text, "\n"):
		fmt.Fprintf(b, "%s:\n  %s\n", v.Key, strings.ReplaceAll(v.Text, "\n", "\n  "))
	default:
		fmt.Fprintf(b, "%s: %s\n", v.Key, v.Text)
	}
}
