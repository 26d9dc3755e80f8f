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
func (m *Toolset) clean(what, text string) (string, bool, error) {
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
func (m *Toolset) brief(what, text string) (string, bool, error) {
	text, redacted, err := m.clean(what, text)
	if err == nil && len(text) > mostShown {
		err = fault.Errorf(fault.Invalid, "recall: the %s has %d bytes; shorten it to at most %d", what, len(text),
			mostShown)
	}
	return text, redacted, err
}

// cleanKey returns a model's key as it is stored.
func (m *Toolset) cleanKey(key string) (string, error) {
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

// cleanEntry is cleanKey and clean.
func (m *Toolset) cleanEntry(key, text string) (k, t string, redacted bool, err error) {
	if k, err = m.cleanKey(key); err != nil {
		return "", "", false, err
	}
	t, redacted, err = m.clean("text", text)
	return k, t, redacted, err
}

// short cuts a text for a list, between characters, and reports whether it was cut.
func short(text string) (string, bool) {
	if len(text) <= mostShown {
		return text, false
	}
	return strings.ToValidUTF8(text[:mostShown], "") + "…", true
}

// words returns the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// score says how well a text fits a query: each word of the query counts 2 if a word of the text
// begins with it, and 1 if it occurs within one.
func score(query []string, text string) int {
	n, own := 0, words(text)
	for _, w := range query {
		at := -1 // in the word of the text that fits best
		for _, o := range own {
			if i := strings.Index(o, w); i >= 0 && (at < 0 || i < at) {
				at = i
			}
		}
		switch {
		case at == 0:
			n += 2
		case at > 0 && utf8.RuneCountInString(w) > 2:
			n++
		}
	}
	return n
}

// best returns the items that a query finds, at most limit (0: 10), ordered by score, those of one
// score as they were, and the number of all found ones. An empty query finds every item.
func best(all []item, text string, limit int) ([]item, int) {
	query := words(strings.ToValidUTF8(text[:min(len(text), mostQuery)], ""))
	slices.Sort(query)
	query = slices.Compact(query)
	scores := make(map[string]int)
	for i := range all {
		scores[all[i].Key] = score(query, all[i].words())
	}
	if strings.TrimSpace(text) != "" {
		all = slices.DeleteFunc(all, func(i item) bool { return scores[i.Key] == 0 })
	}
	slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(scores[b.Key], scores[a.Key]) })
	if limit <= 0 {
		limit = 10
	}
	return all[:min(len(all), limit)], len(all)
}
