package site

// The tables of contents, which differ in their owner.
type contentTable struct{ name, owner string }

var (
	pageContents  = contentTable{"page_section_contents", "page_section_id"}
	entryContents = contentTable{"entry_contents", "entry_id"}
)

// get returns the contents of an owner in a locale, or an empty map.
func (t contentTable) get(tx *txn, owner, locale string) map[string]any {
	content := map[string]any{}
	tx.first([]any{object{&content}}, "SELECT content FROM "+t.name+" WHERE "+t.owner+" = ? AND locale_code = ?", owner, locale)
	return content
}

// put replaces the contents of an owner in a locale.
func (t contentTable) put(tx *txn, owner, locale string, content map[string]any) {
	tx.exec("INSERT INTO "+t.name+" (id, "+t.owner+", locale_code, content) VALUES (?, ?, ?, ?) "+
		"ON CONFLICT ("+t.owner+", locale_code) DO UPDATE SET content = excluded.content", newID(contentID), owner, locale, object{content})
}

// change merges values into the contents of an owner in a locale, and returns the previous ones: null if there was none. See [applyContent].
func (t contentTable) change(tx *txn, owner, locale, name string, e Elements, change map[string]any, prune bool) (before map[string]any, err error) {
	old := t.get(tx, owner, locale)
	content, err := applyContent(tx, name, e, old, change, prune)
	if err != nil {
		return nil, err
	}
	before = map[string]any{}
	for key := range change {
		before[key] = old[key]
	}
	t.put(tx, owner, locale, content)
	return before, nil
}
