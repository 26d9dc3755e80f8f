package secret

import (
	"regexp"
	"strings"
)

// forms are patterns that hardly match anything but secrets.
var forms = []struct {
	form *regexp.Regexp
	with string
}{
	{regexp.MustCompile(
		`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|$)`), Redacted},
	{regexp.MustCompile(`\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}`), Redacted},
	{regexp.MustCompile(`\b(gh[pousr]_|github_pat_|glpat-|xox[abeprs]-)[A-Za-z0-9_-]{10,}`), Redacted},
	{regexp.MustCompile(`\b(npm_|hf_|whsec_|do[opr]_v1_)[A-Za-z0-9_+/=-]{16,}`), Redacted},
	{regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`), Redacted},
	{regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`), Redacted},
	{regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{30,}`), Redacted},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), Redacted},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}`), "$1 " + Redacted},
	{regexp.MustCompile(`(://[^/\s:@]*):[^/\s]+@`), "$1:" + Redacted + "@"},
}

// named matches a value after a name that suggests a secret. The value is redacted already, quoted
// within a quotation, quoted, with an open quote, or a word.
var named = regexp.MustCompile(
	`(?i)\b([\w-]*(?:password|passwd|pwd|passphrase|secret|token|(?:api|access|private|secret|signing|encryption)[_-]?key)|(?:[\w-]*[_-])?pass)` +
		`(\\*["']?\s*[:=]+>?\s*)` +
		`(\[redacted\]|\\+["'][^"']*["']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|["'][^\n]*|[^\s"',;]+)`)

// plain matches values that aren't secrets: words that describe a field, and references to
// variables.
var plain = regexp.MustCompile(
	`(?i)^\\*["']?(?:required|optional|none|null|nil|undefined|true|false|yes|no|empty|missing|invalid|expired|wrong|incorrect|unknown|` +
		`string|text|bool|boolean|int|integer|number|object|any|changed|needed|unset|os\.getenv\(.*|process\.env\..*|\$\{.*|\{\{.*)[.)\]}>!?]*\\*["']?$`)

// Redact replaces what looks like a secret by [Redacted]: private keys, tokens with the prefixes of
// well-known services, JSON Web Tokens, credentials of an Authorization header or a URL, and the
// value after a name that ends in password, passphrase, pass, secret or token, or in key after api,
// access, private, secret, signing or encryption, with a colon or an equals sign. Words that
// describe a field ("password: required") stay. Applying Redact again changes nothing. It can't
// know every form; use [Values] for secrets that are known.
func Redact(text string) string {
	for i := range forms {
		text = forms[i].form.ReplaceAllString(text, forms[i].with)
	}
	var b strings.Builder
	at := 0
	for _, m := range named.FindAllStringSubmatchIndex(text, -1) {
		value := text[m[6]:m[7]]
		if plain.MatchString(value) {
			continue
		}
		b.WriteString(text[at:m[6]])
		b.WriteString(Redacted)
		at = m[7]
	}
	if at == 0 {
		return text
	}
	b.WriteString(text[at:])
	return b.String()
}
