package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTitle is how many bytes of a call's title are kept.
const MaxTitle = 200

// Title returns what a call with this input does, in words for the person who decides about it: the
// title that the tool gives (see [Func].Title), or [TitleOf] if it gives none or panics. It is one
// line of at most [MaxTitle] bytes.
func (d *Definition) Title(ctx context.Context, input json.RawMessage) string {
	var title string
	if d.title != nil {
		_ = guarded(d.spec.Name, func() (err error) {
			title, err = d.title(ctx, input)
			return err
		})
	}
	if title = CleanTitle(title); title == "" {
		return TitleOf(d.spec.Name, input)
	}
	return title
}

// TitleOf returns a title for a call from its tool's name, and from the first short text in the
// input, or its first number if it has no text: "Delete page “home”" for cms.deletePage. What comes
// before the last dot or slash of the name is left out. Like all titles it is one line of at most
// [MaxTitle] bytes.
func TitleOf(name string, input json.RawMessage) string {
	words := titleWords(name[strings.LastIndexAny(name, "./")+1:])
	if words == "" {
		words = name
	}
	if about := subject(input); about != "" {
		words += " " + about
	}
	return CleanTitle(words)
}

// CleanTitle returns s as a title: one line of valid UTF-8 without control characters, and without
// those that change the direction of text, cut to at most [MaxTitle] bytes.
func CleanTitle(s string) string {
	s = s[:min(len(s), 8*MaxTitle)] // a tool may return megabytes
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
	if len(s) <= MaxTitle {
		return s
	}
	end := MaxTitle - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
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

// maxSubject is how many characters a text has at most that says what a call is about.
const maxSubject = 60

// subject returns the first short text of an object, in quotes, or its first number if it has no
// text; "" if it has neither.
func subject(input json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(input))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	var number string
	hasText := false
	for dec.More() {
		if _, err := dec.Token(); err != nil { // the key
			return ""
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return ""
		}
		var text string
		switch {
		case raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
			hasText = hasText || text != ""
			if text != "" && utf8.RuneCountInString(text) <= maxSubject && !strings.ContainsAny(text, "\r\n") {
				return "“" + text + "”"
			}
		case number == "" && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'):
			number = string(raw)
		}
	}
	if hasText {
		return ""
	}
	return number
}
