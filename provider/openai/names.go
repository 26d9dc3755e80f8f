package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// shortIDs makes ids of calls with at most 40 letters, digits, "_" and "-", which OpenAI requires.
// Its own ids stay unchanged.
func shortIDs(id string) string {
	if len(id) <= 40 && adapter.SafeName(id) == id {
		return id
	}
	return "call_" + digest(id)[:24]
}

// nineCharIDs makes ids in the form that Mistral requires: nine letters and digits.
func nineCharIDs(id string) string {
	if len(id) == 9 && adapter.SafeName(id) == id && !strings.ContainsAny(id, "_-") {
		return id
	}
	return digest(id)[:9]
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
