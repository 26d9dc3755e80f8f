package machine

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
)

// mapStrings returns a JSON value with every string in it, keys excepted, replaced by what fn makes of it. Everything else
// stays to the byte, so numbers keep their form and keys their order. It reports false if raw is no JSON.
func mapStrings(raw []byte, fn func(string) string) (json.RawMessage, bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out = append(out, raw[i])
			i++
			continue
		}
		end := i + 1
		for raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		end++
		lit := raw[i:end]
		i = end
		if isKey(raw[end:]) {
			out = append(out, lit...)
			continue
		}
		var s string
		if json.Unmarshal(lit, &s) != nil {
			return nil, false
		}
		if t := fn(s); t != s {
			lit, _ = Marshal(t)
		}
		out = append(out, lit...)
	}
	return out, true
}

// maxDepth is how deep JSON from outside may be nested: far more than any schema takes, and far less than what
// encoding/json reads, so that a fact that holds it can be read back.
const MaxDepth = 1000

// tooDeep reports whether JSON is nested deeper than maxDepth.
func TooDeep(raw []byte) bool {
	if len(raw) <= MaxDepth {
		return false
	}
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}

// sound reports whether parts survive a journal unchanged.
func Normal(parts []provider.Part) bool {
	for i := range parts {
		p := &parts[i]
		if !utf8.ValidString(p.Text) || p.Call != nil && (!utf8.Valid(p.Call.Input) || TooDeep(p.Call.Input)) ||
			p.Result != nil && !Normal(p.Result.Parts) {
			return false
		}
	}
	return true
}

// isKey reports whether the string before rest is the key of a member.
func isKey(rest []byte) bool {
	for _, c := range rest {
		switch c {
		case ' ', '\t', '\n', '\r':
		case ':':
			return true
		default:
			return false
		}
	}
	return false
}

// clean returns s as a journal takes titles: at most journal.MaxName bytes of valid UTF-8 without control characters.
func CleanTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= journal.MaxName {
		return s
	}
	end := journal.MaxName
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// JoinLines returns two texts, one below the other if both say something.
func JoinLines(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}
