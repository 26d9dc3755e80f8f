package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// longestName is the longest name of a function.
const longestName = 64

// names are the tools' names of one request, at the host and at the server. OpenAI accepts letters,
// digits, "_" and "-". Other characters are replaced by "_"; if the result is a name already, or
// too long, a part of the name's hash is added. The request's tools are encoded first, in their
// order, so that their names don't change when tools are added at the end.
type names struct {
	wire map[string]string // by the host's name
	host map[string]string // by the server's name
}

func newNames(tools []provider.Tool) *names {
	n := &names{wire: make(map[string]string, len(tools)), host: make(map[string]string, len(tools))}
	for i := range tools {
		n.encode(tools[i].Name)
	}
	return n
}

// encode returns the name at the server.
func (n *names) encode(name string) string {
	if w, ok := n.wire[name]; ok {
		return w
	}
	w := safeName(name)
	safe := w
	_, taken := n.host[w]
	for salt := name; taken || len(w) > longestName; salt += "+" { // a tool may even have the encoded name of another
		sum := sha256.Sum256([]byte(salt))
		tail := "_" + hex.EncodeToString(sum[:4])
		w = safe[:min(len(safe), longestName-len(tail))] + tail
		_, taken = n.host[w]
	}
	n.wire[name], n.host[w] = w, name
	return w
}

// decode returns the host's name. An unknown name stays unchanged.
func (n *names) decode(w string) string {
	if name, ok := n.host[w]; ok {
		return name
	}
	return w
}

// safeName replaces characters that names can't have.
func safeName(name string) string {
	if name == "" {
		return "unnamed"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// shortIDs makes ids of calls with at most 40 letters, digits, "_" and "-", which OpenAI requires.
// Its own ids stay unchanged.
func shortIDs(id string) string {
	if len(id) <= 40 && safeName(id) == id {
		return id
	}
	return "call_" + digest(id)[:24]
}

// nineCharIDs makes ids in the form that Mistral requires: nine letters and digits.
func nineCharIDs(id string) string {
	if len(id) == 9 && safeName(id) == id && !strings.ContainsAny(id, "_-") {
		return id
	}
	return digest(id)[:9]
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
