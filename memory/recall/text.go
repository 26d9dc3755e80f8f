package recall

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
)

const (
	mostKey   = 128 // bytes of a key that a model names
	mostShown = 600 // bytes of a text in a list
	mostQuery = 1_000
	mostText  = 1 << 20 // bytes that are searched for secrets; the store limits what is stored
)

// clean returns a model's text as it is stored, and whether a secret was removed.
func (m *Memory) clean(what, text string) (string, bool, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if text == "" {
		return "", false, fault.Errorf(fault.Invalid, "recall: the %s is empty", what)
	}
	if len(text) > mostText {
		return "", false,
			fault.Errorf(fault.Invalid, "recall: the %s has %d bytes; the limit is %d", what, len(text), mostText)
	}
	redacted := strings.ToValidUTF8(m.redact(text), "\uFFFD")
	return redacted, redacted != text, nil
}

// brief is clean for a text that lists show whole.
func (m *Memory) brief(what, text string) (string, bool, error) {
	text, redacted, err := m.clean(what, text)
	if err == nil && len(text) > mostShown {
		err = fault.Errorf(fault.Invalid, "recall: the %s has %d bytes; shorten it to at most %d", what, len(text),
			mostShown)
	}
	return text, redacted, err
}

// cleanKey returns a model's key as it is stored.
func (m *Memory) cleanKey(key string) (string, error) {
	key = strings.TrimSpace(key)
	odd := func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
	}
	if key == "" || len(key) > mostKey || !utf8.ValidString(key) || strings.ContainsFunc(key, odd) {
		return "", fault.Errorf(fault.Invalid,
			"recall: a key has 1 to %d bytes and no control characters, for example deploy.command", mostKey)
	}
	if m.redact(key) != key {
		return "",
			fault.New(fault.Invalid, "recall: the key looks like a secret; use one that says what the entry is about")
	}
	return key, nil
}

// short cuts a text for a list, between characters, and reports whether it was cut.
func short(text string) (string, bool) {
	if len(text) <= mostShown {
		return text, false
	}
	end := mostShown
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…", true
}

// words returns the distinct words of a text in lower case.
func words(text string) []string {
	list := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// A query finds texts by words: each of its words counts 2 if a word of the text begins with it,
// and 1 if it occurs within one.
type query struct{ words []string }

func newQuery(text string) query {
	if len(text) > mostQuery {
		text = strings.ToValidUTF8(text[:mostQuery], "")
	}
	return query{words(text)}
}

func (q query) score(text string) int {
	lower := strings.ToLower(text)
	n := 0
	for _, w := range q.words {
		switch {
		case begins(lower, w):
			n += 2
		case utf8.RuneCountInString(w) > 2 && strings.Contains(lower, w):
			n++
		}
	}
	return n
}

// begins reports whether a word of text begins with w.
func begins(text, w string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], w)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		if i == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return true
		}
		from = i + len(w)
	}
}

// best returns the records that a query finds, at most limit (0: 10), ordered by score and then by
// age, the newest first, and the number of all found ones. An empty query finds every record.
func best[T any](all []*record[T], text string, limit int, of func(*record[T]) string) ([]*record[T], int) {
	q := newQuery(text)
	type scored struct {
		r *record[T]
		n int
	}
	var found []scored
	for _, r := range all {
		if n := q.score(of(r)); n > 0 || strings.TrimSpace(text) == "" {
			found = append(found, scored{r, n})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.n, a.n) })
	total := len(found)
	if limit <= 0 {
		limit = 10
	}
	found = found[:min(total, limit)]
	list := make([]*record[T], len(found))
	for i := range found {
		list[i] = found[i].r
	}
	return list, total
}
