package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTextLength     = 2_000   // characters of a text slot
	maxRichTextLength = 50_000  // characters of a richText slot
	maxURLLength      = 2_000   // characters of an address
	maxItems          = 50      // values of a slot that takes several
	maxContentBytes   = 1 << 20 // of one section's or entry's contents, as JSON
)

// normalize returns a copy of content as plain JSON values, whatever Go types the caller used.
func normalize(what string, content map[string]any, limit int) (map[string]any, error) {
	if len(content) == 0 {
		return map[string]any{}, nil
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, invalid("use strings, numbers, booleans, lists and objects", "the %s can't be written as JSON (%v)",
			what, err)
	}
	if len(raw) > limit {
		return nil, invalid("shorten it", "the %s has %d bytes as JSON, the limit is %d", what, len(raw), limit)
	}
	var plain map[string]any
	err = json.Unmarshal(raw, &plain)
	return plain, err
}

// encodeObject encodes a JSON object for storage: keys in order, without HTML escapes.
func encodeObject(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// merge returns old with the values of change: null removes a key, and keys that change doesn't
// contain stay.
func merge(old, change map[string]any) map[string]any {
	merged := map[string]any{}
	maps.Copy(merged, old)
	for key, v := range change {
		if v == nil {
			delete(merged, key)
		} else {
			merged[key] = v
		}
	}
	return merged
}

// applyContent checks change against a definition, merges it into old, and returns the content to
// store. name names the definition in errors. Keys in old that the definition no longer has are
// kept, unless prune is set.
func applyContent(tx *txn, name string, e Elements, old, change map[string]any, prune bool) (map[string]any, error) {
	change, err := normalize("content", change, maxContentBytes)
	if err != nil {
		return nil, err
	}
	slots := map[string]Slot{}
	for _, s := range e.Slots() {
		slots[s.Key] = s
	}
	var wrong *Error
	for _, key := range slices.Sorted(maps.Keys(change)) { // in order, so that the same mistake gives the same error
		if slot, known := slots[key]; !known {
			wrong = wrong.and(key, invalid(didYouMean(key, e.keys()), "%s has no slot %q", name, key))
		} else if change[key] != nil {
			wrong = wrong.and(key, slot.checkValue(tx, change[key]))
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	merged := merge(old, change)
	if prune {
		merged = known(e, merged)
	}
	if missing := missingSlots(e, merged); len(missing) > 0 {
		e := invalid(fmt.Sprintf("add %s of type %s", missing[0], slots[missing[0]].Type), "%s needs a value for %s",
			name, strings.Join(missing, ", "))
		e.Fields = map[string]string{}
		for _, key := range missing {
			e.Fields[key] = "a value is required"
		}
		return nil, e
	}
	return merged, nil
}

// missingSlots returns the keys of required slots without a value, in the definition's order.
func missingSlots(e Elements, content map[string]any) []string {
	var missing []string
	for _, s := range e.Slots() {
		if s.Rules.Required && empty(content[s.Key]) {
			missing = append(missing, s.Key)
		}
	}
	return missing
}

func empty(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	}
	return v == nil
}

// known returns the values that have a slot in the definition.
func known(e Elements, content map[string]any) map[string]any {
	kept := map[string]any{}
	for _, key := range e.keys() {
		if v, ok := content[key]; ok {
			kept[key] = v
		}
	}
	return kept
}

// checkValue checks one value, or each value of a list if the slot takes several. Slugs in it are
// replaced by ids.
func (s Slot) checkValue(tx *txn, v any) error {
	if !s.Rules.Multiple {
		return s.checkOne(tx, v)
	}
	items, ok := v.([]any)
	if !ok {
		return invalid("use a list, such as "+s.example(), "slot %q takes a list of values, got %s", s.Key, kind(v))
	}
	if len(items) > maxItems {
		return invalid("use fewer", "slot %q has %d values, the limit is %d", s.Key, len(items), maxItems)
	}
	for _, item := range items {
		if err := s.checkOne(tx, item); err != nil {
			return err
		}
	}
	return nil
}

func (s Slot) checkOne(tx *txn, v any) error {
	switch s.Type {
	case TypeText, TypeRichText, TypeOption:
		text, ok := v.(string)
		if !ok {
			return invalid("use a string, such as "+s.example(), "slot %q of type %s got %s", s.Key, s.Type, kind(v))
		}
		return s.checkString(text)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return invalid("use an object such as "+s.example(), "slot %q of type %s got %s", s.Key, s.Type, kind(v))
	}
	switch s.Type {
	case TypeLink:
		return s.checkLink(tx, object)
	case TypeCollectionRef:
		return s.checkReference(tx, object)
	}
	return s.checkMedia(tx, object)
}

func (s Slot) checkString(text string) error {
	limit := maxTextLength
	if s.Type == TypeRichText {
		limit = maxRichTextLength
	}
	if err := checkText(fmt.Sprintf("slot %q", s.Key), text, 0, limit); err != nil {
		return err
	}
	if s.Type == TypeOption && !slices.Contains(s.Rules.OptionValues, text) {
		return invalid(didYouMean(text, s.Rules.OptionValues), "slot %q has no option %q", s.Key, text)
	}
	return nil
}

// checkFields rejects missing, unknown and badly typed fields of an object value. Every field is a
// string; "url" and "href" are URLs.
func (s Slot) checkFields(object map[string]any, required, optional []string) error {
	fields := slices.Concat(required, optional)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(fields, name) {
			return invalid(didYouMean(name, fields), "slot %q of type %s has no field %q", s.Key, s.Type, name)
		}
		text, ok := object[name].(string)
		if !ok {
			return invalid("use a string, as in "+s.example(), "field %q of slot %q got %s", name, s.Key,
				kind(object[name]))
		}
		if err := checkText(fmt.Sprintf("field %q of slot %q", name, s.Key), text, 0, maxURLLength); err != nil {
			return err
		}
		if (name == "url" || name == "href") && text != "" && !addressAllowed(text) {
			return invalid(`use an address such as "https://example.com/a" or "/about"`,
				"field %q of slot %q has the address %q, which isn't allowed", name, s.Key, shorten(text, 80))
		}
	}
	for _, name := range required {
		if text, _ := object[name].(string); text == "" {
			return invalid("use an object such as "+s.example(), "slot %q of type %s lacks the field %q", s.Key, s.Type,
				name)
		}
	}
	return nil
}

func (s Slot) checkLink(tx *txn, object map[string]any) error {
	target, _ := object["type"].(string)
	allowed := s.Rules.LinkTargets
	if len(allowed) == 0 {
		allowed = linkTargets
	}
	if !slices.Contains(allowed, target) {
		return invalid(didYouMean(target, allowed), "slot %q takes no link of type %q", s.Key, target)
	}
	if target == "url" {
		return s.checkFields(object, []string{"type", "href"}, nil)
	}
	if err := s.checkFields(object, []string{"type", "targetId"}, nil); err != nil {
		return err
	}
	id, err := targetID(tx, target, object["targetId"].(string))
	object["targetId"] = id
	return err
}

func (s Slot) checkReference(tx *txn, object map[string]any) error {
	if err := s.checkFields(object, []string{"collectionId"}, []string{"entryId"}); err != nil {
		return err
	}
	c, err := collectionTable.find(tx, object["collectionId"].(string))
	if err != nil {
		return err
	}
	object["collectionId"] = c.ID
	if only := s.Rules.CollectionID; only != "" && c.ID != only {
		return invalid(fmt.Sprintf("use %q", only), "slot %q doesn't take the collection %q", s.Key, c.ID)
	}
	ref, _ := object["entryId"].(string)
	if ref == "" {
		return nil
	}
	_, e, err := loadEntryIn(tx, c.ID, ref, "")
	if err == nil {
		object["entryId"] = e.ID
	}
	return err
}

// example returns a value that the slot would take, as JSON.
func (s Slot) example() string {
	text := examples[s.Type]
	if s.Type == TypeOption {
		text = strconv.Quote(s.Rules.OptionValues[0])
	}
	if s.Rules.Multiple {
		return "[" + text + "]"
	}
	return text
}

// examples are values of the types, as JSON.
var examples = map[string]string{
	TypeText:          `"some words"`,
	TypeRichText:      `"some words"`,
	TypeImage:         `{"url": "/assets/photo.jpg", "alt": "what it shows"}`,
	TypeMedia:         `{"url": "/assets/photo.jpg", "alt": "what it shows"}`,
	TypeLink:          `{"type": "url", "href": "https://example.com"}`,
	TypeCollectionRef: `{"collectionId": "col_…"}`,
}

// addressAllowed reports whether a link may have this address: http(s), mail, telephone, or a path
// of this site.
func addressAllowed(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto", "tel":
		return u.Opaque != ""
	}
	return u.Scheme == ""
}

// checkText checks the length of text in characters, and that it is valid UTF-8 without control
// characters. A name, which has to have a character, stands in lists and may not reorder what is
// around it.
func checkText(what, text string, least, most int) error {
	if !utf8.ValidString(text) {
		return invalid("send UTF-8", "%s isn't valid UTF-8", what)
	}
	n := utf8.RuneCountInString(text)
	if n > most {
		return invalid("shorten it", "%s has %d characters, the limit is %d", what, n, most)
	}
	if n < least || least > 0 && strings.TrimSpace(text) == "" {
		return invalid("give one", "%s is empty", what)
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return invalid("leave it out", "%s holds the control character %U", what, r)
		}
		if embeds := r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069; embeds && least > 0 {
			return invalid("leave it out", "%s holds the character %U, which changes the direction of text", what, r)
		}
	}
	return nil
}

// kind returns the JSON type of v with its article.
func kind(v any) string {
	return map[reflect.Kind]string{reflect.Invalid: "null", reflect.String: "a string", reflect.Bool: "a boolean",
		reflect.Float64: "a number",
		reflect.Slice:   "a list", reflect.Map: "an object"}[reflect.ValueOf(v).Kind()]
}

// shorten cuts text to at most n characters.
func shorten(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}
