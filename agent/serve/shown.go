package serve

import "github.com/pawlkit/pawl/provider"

// shown is what a reader has seen of the reply in progress.
type shown struct {
	bytes    map[int]int  // of each part
	begun    map[int]bool // parts whose beginnings were shown
	repeated bool         // the reader was too slow, so that the next note of each part repeats all of it
}

// first reports whether the beginning of a part wasn't shown yet, and notes that it is now.
func (s *shown) first(index int) bool {
	if s.begun[index] {
		return false
	}
	if s.begun == nil {
		s.begun = make(map[int]bool)
	}
	s.begun[index] = true
	return true
}

// piece returns what of a note's text wasn't shown yet, and notes that it is now.
func (s *shown) piece(index int, text string) string {
	before := 0
	if s.repeated {
		before = min(s.bytes[index], len(text))
	}
	if s.bytes == nil {
		s.bytes = make(map[int]int)
	}
	s.bytes[index] += len(text) - before
	return text[before:]
}

// rest returns what of the text of a part wasn't shown, now that the part is complete.
func (s *shown) rest(index int, text string) string {
	return text[min(s.bytes[index], len(text)):]
}

// isComplete reports whether a part has what its kind names. An event that a host has made may have
// one that hasn't.
func isComplete(p *provider.Part) bool {
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
