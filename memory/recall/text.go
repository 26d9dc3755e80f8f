package recall

import (
	"cmp"
	"regexp"
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

// removed replaces a secret.
const removed = "[secret removed]"

// secrets are patterns that hardly match anything else.
var secrets = []struct {
	form *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|$)`), removed},
	{regexp.MustCompile(`\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}`), removed},
	{regexp.MustCompile(`\b(gh[pousr]_|github_pat_|glpat-|xox[abeprs]-)[A-Za-z0-9_-]{10,}`), removed},
	{regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`), removed},
	{regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{30,}`), removed},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), removed},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}`), "$1 " + removed},
	{regexp.MustCompile(`(://[^/\s:@]*):[^/\s]+@`), "$1:" + removed + "@"},
	// The value: already removed, quoted within a quotation, quoted, with an open quote, or a word.
	{regexp.MustCompile(`(?i)\b([\w-]*(?:password|passwd|pwd|passphrase|secret|token|(?:api|access|private|secret|signing|encryption)[_-]?key))` +
		`(\\*["']?\s*[:=]+>?\s*)` +
		`(?:\[secret removed\]|\\+["'][^"']*["']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|["'][^\n]*|[^\s"',;]+)`), "$1$2" + removed},
}

// RedactSecrets replaces possible secrets by "[secret removed]": private keys, tokens with the prefixes of well-known
// services, JSON Web Tokens, credentials of an Authorization header or a URL, and the value after a name that ends in password,
// passphrase, secret or token, or in key after api, access, private, secret, signing or encryption, with a colon or an equals
// sign. Applying it again changes nothing. It can't know every form: set [Config].Redact to remove the host's own
// secrets.
func RedactSecrets(text string) string {
	for i := range secrets {
		text = secrets[i].form.ReplaceAllString(text, secrets[i].with)
	}
	return text
}

// clean returns a model's text as it is stored, and whether a secret was removed.
func (m *Memory) clean(what, text string) (string, bool, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if text == "" {
		return "", false, fault.Errorf(fault.Invalid, "recall: the %s is empty", what)
	}
	if len(text) > mostText {
		return "", false, fault.Errorf(fault.Invalid, "recall: the %s has %d bytes; the limit is %d", what, len(text), mostText)
	}
	redacted := strings.ToValidUTF8(m.redact(text), "\uFFFD")
	return redacted, redacted != text, nil
}

// brief is clean for a text that lists show whole.
func (m *Memory) brief(what, text string) (string, bool, error) {
	text, redacted, err := m.clean(what, text)
	if err == nil && len(text) > mostShown {
		err = fault.Errorf(fault.Invalid, "recall: the %s has %d bytes; shorten it to at most %d", what, len(text), mostShown)
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
		return "", fault.Errorf(fault.Invalid, "recall: a key has 1 to %d bytes and no control characters, for example deploy.command", mostKey)
	}
	if m.redact(key) != key {
		return "", fault.New(fault.Invalid, "recall: the key looks like a secret; use one that says what the entry is about")
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
	list := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(list)
	return slices.Compact(list)
}

// A query finds texts by words: each of its words counts 2 if a word of the text begins with it, and 1 if it occurs within one.
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

// best returns the records that a query finds, at most limit (0: 10), ordered by score and then by age, the
// newest first, and the number of all found ones. An empty query finds every record.
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
