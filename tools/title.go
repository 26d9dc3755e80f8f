package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/internal/cut"
)

// maxTitle is how many bytes of a call's title are kept.
const maxTitle = 200

// Title returns what a call with this input does, in words for the person who decides about it: the
// title that the tool gives (see [Func].Title). If it gives none or panics, the title is that of
// [TitleOf], but with the first property in the order of the tool's schema, those that it requires
// first. A title may have several lines and up to 1,600 bytes, so that secrets in it can
// be found: remove these, and then pass it to [CleanTitle].
func (d *Definition) Title(ctx context.Context, input json.RawMessage) string {
	var title string
	if d.title != nil {
		_ = guarded(d.spec.Name, func() (err error) {
			title, err = d.title(ctx, input)
			return err
		})
	}
	if title = title[:min(len(title), mostRaw)]; CleanTitle(title) == "" {
		return titleOf(d.spec.Name, input, propertiesOf(d.input.JSON()))
	}
	return title
}

// mostRaw is how many bytes of a title are looked at. A tool may return megabytes.
const mostRaw = 8 * maxTitle

// TitleOf returns a title for a call of a tool of which only the name is known. It is made from
// that name, and from the first short text in the input, or its first number if it has no text:
// "Delete page “home”" for cms.deletePage. What comes before the last dot or slash of the name is
// left out. Like all titles that are stored it is one line of at most 200 bytes.
func TitleOf(name string, input json.RawMessage) string {
	return CleanTitle(titleOf(name, input, nil))
}

// titleOf is TitleOf, not yet clean, with the input's properties in this order, before others.
func titleOf(name string, input json.RawMessage, properties []string) string {
	words := titleWords(name[strings.LastIndexAny(name, "./")+1:])
	if words == "" {
		words = name
	}
	if about := subject(input, properties); about != "" {
		words += " " + about
	}
	return words
}

// CleanTitle returns s as a title: one line of valid UTF-8 without control characters, and without
// those that change the direction of text, cut to at most 200 bytes.
func CleanTitle(s string) string {
	s = s[:min(len(s), mostRaw)]
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxTitle {
		return s
	}
	return cut.Start(s, maxTitle-len("…")) + "…"
}

// titleWords turns a name into words: "deletePage" and "delete_page" become "Delete page". Words in
// capitals stay.
func titleWords(name string) string {
	var spaced strings.Builder
	last := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsDigit(last)) {
			spaced.WriteByte(' ')
		}
		if r == '_' || r == '-' {
			r = ' '
		}
		spaced.WriteRune(r)
		last = r
	}
	words := strings.Fields(spaced.String())
	for i, w := range words {
		if len(w) == 1 || w != strings.ToUpper(w) {
			words[i] = strings.ToLower(w)
		}
	}
	title := strings.Join(words, " ")
	first, size := utf8.DecodeRuneInString(title)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + title[size:]
}

// maxSubject is the maximum length of a subject, in characters.
const maxSubject = 60

// subject returns the first short text of an object, in quotes, or its first number if it has no
// text; "" if it has neither. The named properties come first.
func subject(input json.RawMessage, properties []string) string {
	all := membersOf(input)
	rank := func(m member) int {
		if i := slices.Index(properties, m.name); i >= 0 {
			return i
		}
		return len(properties)
	}
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(rank(a), rank(b)) })
	var number string
	hasText := false
	for _, m := range all {
		var text string
		switch {
		case m.value[0] == '"' && json.Unmarshal(m.value, &text) == nil:
			hasText = hasText || text != ""
			if text != "" && utf8.RuneCountInString(text) <= maxSubject && !strings.ContainsAny(text, "\r\n") {
				return "“" + text + "”"
			}
		case number == "" && (m.value[0] == '-' || m.value[0] >= '0' && m.value[0] <= '9'):
			number = string(m.value)
		}
	}
	if hasText {
		return ""
	}
	return number
}

// propertiesOf returns the properties of a schema in its order, those that it requires first.
func propertiesOf(schema json.RawMessage) (names []string) {
	var s struct {
		Properties json.RawMessage
		Required   []string
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var optional []string
	for _, m := range membersOf(s.Properties) {
		if slices.Contains(s.Required, m.name) {
			names = append(names, m.name)
		} else {
			optional = append(optional, m.name)
		}
	}
	return append(names, optional...)
}

// A member is a name of an object with its value.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of an object in their order, up to where it isn't valid.
func membersOf(object json.RawMessage) (all []member) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		all = append(all, member{name.(string), value})
	}
	return all
}
