package langchain

import "github.com/pawlkit/pawl/provider/internal/adapter"

// letters are those of names at most of the services that langchaingo supports, with the shortest
// of their limits.
var letters = adapter.Alphabet{Longest: 64, Plain: func(_ int, c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}}
