package display

import "github.com/pawlkit/pawl/provider"

// A Reply is what a reader has seen of the reply in progress. The zero value is nothing.
type Reply struct {
	// Repeated says that the reader was too slow ([agent.Lagged]), so that the next note of each
	// part repeats all of it.
	Repeated bool

	bytes map[int]int  // of each part
	begun map[int]bool // parts whose beginnings were shown
}

// First reports whether the beginning of a part wasn't shown yet, and notes that it is now.
func (r *Reply) First(index int) bool {
	if r.begun[index] {
		return false
	}
	if r.begun == nil {
		r.begun = make(map[int]bool)
	}
	r.begun[index] = true
	return true
}

// Piece returns what of a note's text wasn't shown yet, and notes that it is now.
func (r *Reply) Piece(index int, text string) string {
	before := 0
	if r.Repeated {
		before = min(r.bytes[index], len(text))
	}
	if r.bytes == nil {
		r.bytes = make(map[int]int)
	}
	r.bytes[index] += len(text) - before
	return text[before:]
}

// Rest returns what of the text of a part wasn't shown, now that the part is complete.
func (r *Reply) Rest(index int, text string) string {
	return text[min(r.bytes[index], len(text)):]
}

// Complete reports whether a part has what its kind names. An event that a host has made may have
// one that hasn't.
func Complete(p *provider.Part) bool {
	if p == nil {
		return false
	}
	switch p.Kind {
	case provider.PartToolCall, provider.PartProviderCall:
		return p.Call != nil
	case provider.PartToolResult, provider.PartProviderResult:
		return p.Result != nil
	case provider.PartMedia:
		return p.Media != nil
	case provider.PartSource:
		return p.Source != nil
	}
	return true
}
