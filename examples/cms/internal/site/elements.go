package site

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The types of a [Slot], with the shape of their values.
const (
	TypeText          = "text"          // a string of at most 2,000 characters
	TypeRichText      = "richText"      // Markdown of at most 50,000 characters
	TypeImage         = "image"         // {"url", "id"?, "alt"?}
	TypeMedia         = "media"         // {"url", "id"?, "alt"?}
	TypeLink          = "link"          // {"type": "url", "href"} or {"type": "page"|"entry"|"media", "targetId"}
	TypeOption        = "option"        // one of the slot's optionValues
	TypeCollectionRef = "collectionRef" // {"collectionId", "entryId"?}
)

var (
	elementTypes = []string{TypeText, TypeRichText, TypeImage, TypeMedia, TypeLink, TypeOption, TypeCollectionRef}
	linkTargets  = []string{"url", "page", "entry", "media"}
	mimeGroups   = []string{"image", "video", "audio", "document"}
)

// Elements are the slots of a section or an entry, in rows.
type Elements struct {
	Version int   `json:"version"` // 1; 0 means 1
	Rows    []Row `json:"rows"`
}

// A Row is a line of slots in an editor.
type Row struct {
	ID    string `json:"id"` // "row-1" and so on if empty
	Slots []Slot `json:"slots"`
}

// A Slot is one value of a section or an entry.
type Slot struct {
	Key     string `json:"key"`  // a letter, then letters, digits and underscores; unique in the definition
	Type    string `json:"type"` // one of the Type constants
	Label   string `json:"label,omitempty"`
	Variant string `json:"variant,omitempty"` // a hint for the template
	Rules   Rules  `json:"dataRules,omitzero"`
}

// Rules restrict the value of a [Slot].
type Rules struct {
	Required     bool     `json:"required,omitempty"`     // must be filled whenever contents are written
	Multiple     bool     `json:"multiple,omitempty"`     // a list of values; image, media and option only
	MimeGroups   []string `json:"mimeGroups,omitempty"`   // image, video, audio, document; media only
	OptionValues []string `json:"optionValues,omitempty"` // option only, and required there
	LinkTargets  []string `json:"linkTargets,omitempty"`  // url, page, entry, media; link only; empty allows all
	CollectionID string   `json:"collectionId,omitempty"` // the only collection to refer to; collectionRef only
}

// Slots returns the slots of all rows in order.
func (e Elements) Slots() []Slot {
	var slots []Slot
	for _, row := range e.Rows {
		slots = append(slots, row.Slots...)
	}
	return slots
}

// keys returns the slot keys in order.
func (e Elements) keys() []string {
	var keys []string
	for _, s := range e.Slots() {
		keys = append(keys, s.Key)
	}
	return keys
}

const (
	maxSlots        = 50
	maxOptionValues = 100
	maxName         = 100 // characters of a name
	maxLabel        = 200 // characters of a title, a label, an option value
	maxDescription  = 1000
)

var slotKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// check sets the defaults and rejects invalid definitions.
func (e *Elements) check(tx *txn) error {
	if e.Version = cmp.Or(e.Version, 1); e.Version != 1 {
		return invalid("use version 1", "version %d of an elements structure is unknown", e.Version)
	}
	if n := len(e.Slots()); n == 0 || n > maxSlots {
		return invalid(`give rows such as [{"slots": [{"key": "title", "type": "text"}]}]`,
			"the definition has %d slots, it needs 1 to %d", n, maxSlots)
	}
	e.Rows = slices.Clone(e.Rows) // don't change the caller's slices
	seen := map[string]bool{}
	for i := range e.Rows {
		row := &e.Rows[i]
		row.ID, row.Slots = cmp.Or(row.ID, fmt.Sprintf("row-%d", i+1)), slices.Clone(row.Slots)
		for j := range row.Slots {
			slot := &row.Slots[j]
			if err := slot.check(tx); err != nil {
				return err
			}
			if seen[slot.Key] {
				return invalid("give each slot a key of its own", "slot key %q is used twice", slot.Key)
			}
			seen[slot.Key] = true
		}
	}
	return nil
}

func (s *Slot) check(tx *txn) error {
	if !slotKey.MatchString(s.Key) {
		return invalid(`use a letter, then letters, digits and underscores, at most 64, such as "ctaText"`,
			"slot key %q isn't allowed", s.Key)
	}
	if !slices.Contains(elementTypes, s.Type) {
		return invalid(didYouMean(s.Type, elementTypes), "slot %q has the unknown type %q", s.Key, s.Type)
	}
	if err := checkText(fmt.Sprintf("the label of slot %q", s.Key), s.Label, 0, maxLabel); err != nil {
		return err
	}
	r := s.Rules
	for _, rule := range []struct {
		name string
		set  bool
		of   []string
	}{
		{"multiple", r.Multiple, []string{TypeImage, TypeMedia, TypeOption}},
		{"mimeGroups", len(r.MimeGroups) > 0, []string{TypeMedia}},
		{"optionValues", len(r.OptionValues) > 0, []string{TypeOption}},
		{"linkTargets", len(r.LinkTargets) > 0, []string{TypeLink}},
		{"collectionId", r.CollectionID != "", []string{TypeCollectionRef}},
	} {
		if rule.set && !slices.Contains(rule.of, s.Type) {
			return invalid("leave it out", "slot %q of type %s has the rule %s, which is for %s only", s.Key, s.Type,
				rule.name, strings.Join(rule.of, ", "))
		}
	}
	for _, g := range r.MimeGroups {
		if !slices.Contains(mimeGroups, g) {
			return invalid(didYouMean(g, mimeGroups), "slot %q has the unknown media group %q", s.Key, g)
		}
	}
	for _, t := range r.LinkTargets {
		if !slices.Contains(linkTargets, t) {
			return invalid(didYouMean(t, linkTargets), "slot %q has the unknown link target %q", s.Key, t)
		}
	}
	if s.Type == TypeOption {
		return s.checkOptions()
	}
	if r.CollectionID != "" {
		c, err := collectionTable.find(tx, r.CollectionID)
		if err != nil {
			return err
		}
		s.Rules.CollectionID = c.ID
	}
	return nil
}

func (s *Slot) checkOptions() error {
	values := s.Rules.OptionValues
	if len(values) == 0 || len(values) > maxOptionValues {
		return invalid(`list them in dataRules.optionValues, such as ["small", "large"]`,
			"option slot %q has %d values, it needs 1 to %d", s.Key, len(values), maxOptionValues)
	}
	for i, v := range values {
		if err := checkText(fmt.Sprintf("option value %d of slot %q", i+1, s.Key), v, 1, maxLabel); err != nil {
			return err
		}
		if slices.Contains(values[:i], v) {
			return invalid("list each value once", "slot %q lists the option value %q twice", s.Key, v)
		}
	}
	return nil
}
