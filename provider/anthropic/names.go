package anthropic

import (
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// letters is the alphabet of tool names of the API.
var letters = adapter.Alphabet{Longest: 128, Plain: func(_ int, c byte) bool { return isNameByte(c) }}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
