package schema

import "fmt"

// The most that a text from outside may hold: in objects all in all, and in objects and lists.
// Reading is linear, but a text at these figures takes a tenth of a second, and one with a million
// keys took 40 s.
const (
	maxKeys   = 10_000
	maxValues = 100_000
)

// checkCount returns an error for a text with too many keys or values. It counts colons and commas
// outside of strings, so it needn't decode the text. For a text that isn't JSON, it may count
// anything.
func checkCount(text []byte) error {
	if len(text) < 2*maxKeys { // a key and its colon take three bytes
		return nil
	}
	keys, values := 0, 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ':':
			keys++
		case ',':
			values++
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	switch {
	case keys > maxKeys:
		return tooMany("keys", keys, maxKeys)
	case values > maxValues:
		return tooMany("values", values, maxValues)
	}
	return nil
}

func tooMany(what string, have, most int) error {
	return &InvalidError{Problems: []Problem{
		{Message: fmt.Sprintf("it has %d %s, and at most %d can be read; send less at a time", have, what, most)}}}
}
