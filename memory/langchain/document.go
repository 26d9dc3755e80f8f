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

// The metadata of an item's document; all values are strings, which every store keeps unchanged.
const (
	MetaID       = "pawl_id"
	MetaKind     = "pawl_kind"
	MetaModel    = "pawl_model"    // the model of the vector
	MetaRevision = "pawl_revision" // revision of the item; the ledger has the current one
	MetaItem     = "pawl_item"     // the whole item as JSON
	MetaField    = "pawl_field_"   // prefix of a field's name: the field's value
)

// documentOf returns the document of a record: its content is the text that a Finder embeds of an
// item.
func documentOf(r *Record) (schema.Document, error) {
	item := r.Entry.Item
	whole, err := json.Marshal(item)
	if err != nil {
		return schema.Document{}, fault.Errorf(fault.Invalid, "langchain: the item %q: %w", item.ID, err)
	}
	meta := map[string]any{
		MetaID: item.ID, MetaKind: plain(item.Kind), MetaModel: plain(r.Entry.Model), MetaRevision: r.Revision,
		MetaItem: string(whole),
	}
	for k, v := range item.Fields {
		meta[MetaField+plain(k)] = plain(v)
	}
	return schema.Document{PageContent: plain(contentOf(item)), Metadata: meta}, nil
}

// contentOf returns the text that a Finder embeds: the names in the first line, then the text.
func contentOf(i index.Item) string {
	names := strings.Join(append([]string{i.Name}, i.Aliases...), ", ")
	return strings.ReplaceAll(names, "\n", " ") + "\n" + i.Text
}

// plain returns a text that every database accepts: valid UTF-8 without NUL.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// recordOf checks an entry and converts it to a record.
func recordOf(e index.Entry, keepVector bool) (Record, error) {
	if e.Item.ID == "" || e.Item.ID != plain(e.Item.ID) {
		return Record{},
			fault.Errorf(fault.Invalid,
				"langchain: the item %q has the id %q; it should have one of valid UTF-8 without NUL", e.Item.Name,
				e.Item.ID)
	}
	if len(e.Vector) == 0 {
		return Record{}, fault.Errorf(fault.Invalid, "langchain: the item %q has no vector", e.Item.ID)
	}
	if _, ok := squared(e.Vector); !ok {
		return Record{},
			fault.Errorf(fault.Invalid, "langchain: the item %q has a vector with NaN or infinite values", e.Item.ID)
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

// itemOf returns the item in a document of documentOf, without a ledger.
func itemOf(d schema.Document) (index.Item, bool) {
	text, _ := d.Metadata[MetaItem].(string)
	var item index.Item
	if text == "" || json.Unmarshal([]byte(text), &item) != nil {
		return index.Item{}, false
	}
	return item, item.ID != "" && item.ID == d.Metadata[MetaID]
}

func readable(i *index.Item) bool { return i.ID != "" && utf8.ValidString(i.ID) }
