package gemini

import (
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// letters is the alphabet of tool names that every version of the API accepts, and that models
// don't confuse with Python names: a letter or _ comes first. Every version accepts this length,
// too.
var letters = adapter.Alphabet{Longest: 64, Plain: func(at int, c byte) bool {
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
	return letter || at > 0 && (c >= '0' && c <= '9' || c == '-')
}}
