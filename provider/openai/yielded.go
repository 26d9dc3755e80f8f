package openai

import "strings"

// A yielded is a text that was yielded in pieces.
type yielded struct{ text []byte }

func (y *yielded) add(text string) { y.text = append(y.text, text...) }

// rest returns what is missing of the whole text. It returns false if the whole text contradicts
// the pieces: one of them was lost or came twice, so that what was yielded is wrong. An empty whole
// text says nothing, and some servers leave out white space at its ends.
func (y *yielded) rest(whole string) (string, bool) {
	rest, ok := strings.CutPrefix(whole, string(y.text))
	if ok {
		return rest, true
	}
	return "", strings.TrimSpace(whole) == "" || strings.TrimSpace(whole) == strings.TrimSpace(string(y.text))
}
