package machine

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
)

// mapStrings returns a JSON value with each string in it, also each key, replaced by what fn
// returns. If a key that was replaced is then equal to another one of its object, the later one
// gets a number: "x 2", "x 3". Everything else keeps its bytes, so numbers keep their form and keys
// their order. It returns false if raw isn't JSON.
func mapStrings(raw []byte, fn func(string) string) (json.RawMessage, bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	out := make([]byte, 0, len(raw))
	var objects []map[string]bool // of the objects and arrays around: the keys, and whether one was replaced
	for i := 0; i < len(raw); {
		switch raw[i] {
		case '{', '[':
			objects = append(objects, nil)
		case '}', ']':
			objects = objects[:len(objects)-1]
		}
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
		var s string
		if json.Unmarshal(lit, &s) != nil {
			return nil, false
		}
		t := fn(s)
		if bytes.HasPrefix(bytes.TrimLeft(raw[end:], " \t\n\r"), []byte(":")) { // it is the key of an object
			keys := objects[len(objects)-1]
			if keys == nil {
				keys = make(map[string]bool)
				objects[len(objects)-1] = keys
			}
			t = freeKey(keys, t, t != s)
			keys[t] = keys[t] || t != s
		}
		if t != s {
			lit, _ = Marshal(t)
		}
		out = append(out, lit...)
	}
	return out, true
}

// freeKey returns key, or key with a number if the object has it and either of the two was
// replaced. Keys that were equal before stay equal: who reads the object says that they are.
func freeKey(keys map[string]bool, key string, replaced bool) string {
	was, taken := keys[key]
	if !taken || !was && !replaced {
		return key
	}
	for n := 2; ; n++ {
		numbered := key + " " + strconv.Itoa(n)
		if _, taken := keys[numbered]; !taken {
			return numbered
		}
	}
}

// MaxDepth is how deep JSON from outside may be nested. It is far more than any schema needs, and
// far less than encoding/json reads, so that a fact that contains it can be read back.
const MaxDepth = 1000

// TooDeep reports whether JSON is nested deeper than [MaxDepth]. raw must be valid JSON.
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

// Normal reports whether parts come back from a journal unchanged: their texts are UTF-8, and
// inputs of calls aren't nested too deep.
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

// CleanName returns s in the form that a journal accepts as a name: at most journal.MaxName bytes
// of valid UTF-8, without control characters.
func CleanName(s string) string { return cut.Line(s, journal.MaxName) }

// JoinLines returns a and b on separate lines, or one of them if the other is empty.
func JoinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
