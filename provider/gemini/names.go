package gemini

import (
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// letters are those in which every version of the API takes the name of a tool, and that models don't take for Python's: a
// letter or _ comes first. The length, too, is what every version takes.
var letters = adapter.Alphabet{Longest: 64, Plain: func(at int, c byte) bool {
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
	return letter || at > 0 && (c >= '0' && c <= '9' || c == '-')
}}
