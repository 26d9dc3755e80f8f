package langchain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tmc/langchaingo/schema"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
)

// What the metadata of an item's document holds; all values are strings, which every store keeps as they are.
const (
	MetaID       = "pawl_id"
	MetaKind     = "pawl_kind"
	MetaModel    = "pawl_model"    // what made the vector
	MetaRevision = "pawl_revision" // of the item's state; the ledger knows which one counts
	MetaItem     = "pawl_item"     // the whole item as JSON
	MetaField    = "pawl_field_"   // and a field's name: the field's value
)

// documentOf is the document of a record: its content is what a Finder embeds of an item.
func documentOf(r *Record) (schema.Document, error) {
	item := r.Entry.Item
	whole, err := json.Marshal(item)
	if err != nil {
		return schema.Document{}, fault.Errorf(fault.Invalid, "langchain: the item %q: %w", item.ID, err)
	}
	meta := map[string]any{
		MetaID: item.ID, MetaKind: plain(item.Kind), MetaModel: plain(r.Entry.Model), MetaRevision: r.Revision, MetaItem: string(whole),
	}
	for k, v := range item.Fields {
		meta[MetaField+plain(k)] = plain(v)
	}
	return schema.Document{PageContent: plain(contentOf(item)), Metadata: meta}, nil
}

// contentOf is what a Finder embeds: the names in the first line, then the text.
func contentOf(i index.Item) string {
	names := strings.Join(append([]string{i.Name}, i.Aliases...), ", ")
	return strings.ReplaceAll(names, "\n", " ") + "\n" + i.Text
}

// plain is a text as every database takes it: valid UTF-8 without NUL.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// recordOf checks an entry and makes a record of it.
func recordOf(e index.Entry, keepVector bool) (Record, error) {
	if e.Item.ID == "" || e.Item.ID != plain(e.Item.ID) {
		return Record{}, fault.Errorf(fault.Invalid, "langchain: the item %q has the id %q; it should have one of valid UTF-8 without NUL", e.Item.Name, e.Item.ID)
	}
	if len(e.Vector) == 0 {
		return Record{}, fault.Errorf(fault.Invalid, "langchain: the item %q has no vector", e.Item.ID)
	}
	if _, ok := squared(e.Vector); !ok {
		return Record{}, fault.Errorf(fault.Invalid, "langchain: the item %q has a vector with figures that are none (NaN or infinite)", e.Item.ID)
	}
	r := Record{Entry: e, Size: len(e.Vector)}
	if !keepVector {
		r.Entry.Vector = nil
	}
	data, err := json.Marshal(struct {
		Item   index.Item
		Model  string
		Vector []float32
	}{e.Item, e.Model, r.Entry.Vector})
	if err != nil {
		return Record{}, fault.Errorf(fault.Invalid, "langchain: the item %q: %w", e.Item.ID, err)
	}
	sum := sha256.Sum256(data)
	r.Revision = hex.EncodeToString(sum[:])
	return r.clone(), nil
}

// itemOf reads the item of a document that documentOf made, without a ledger.
func itemOf(d schema.Document) (index.Item, bool) {
	text, _ := d.Metadata[MetaItem].(string)
	var item index.Item
	if text == "" || json.Unmarshal([]byte(text), &item) != nil {
		return index.Item{}, false
	}
	return item, item.ID != "" && item.ID == d.Metadata[MetaID]
}

func readable(i *index.Item) bool { return i.ID != "" && utf8.ValidString(i.ID) }
