package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// longestName is how long the name of a function may be.
const longestName = 64

// names are the tools' names of one request: what the host calls them and what the server is told. OpenAI takes letters,
// digits, "_" and "-". Whatever else a name has becomes "_"; where that is a name already, or is too long, a part of the
// name's hash makes the difference. The names of the request's tools come first, in their order, so that they don't
// change when tools are added behind.
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

// encode returns what the server is told.
func (n *names) encode(name string) string {
	if w, ok := n.wire[name]; ok {
		return w
	}
	w := safeName(name)
	safe := w
	_, taken := n.host[w]
	for salt := name; taken || len(w) > longestName; salt += "+" { // a tool may even be called what another's hash makes
		sum := sha256.Sum256([]byte(salt))
		tail := "_" + hex.EncodeToString(sum[:4])
		w = safe[:min(len(safe), longestName-len(tail))] + tail
		_, taken = n.host[w]
	}
	n.wire[name], n.host[w] = w, name
	return w
}

// decode returns what the host calls it. A name that the server wasn't told stays as it is.
func (n *names) decode(w string) string {
	if name, ok := n.host[w]; ok {
		return name
	}
	return w
}

// safeName replaces what a name may not have.
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

// shortIDs keeps ids of calls within the 40 letters, digits, "_" and "-" that OpenAI takes. Its own are such.
func shortIDs(id string) string {
	if len(id) <= 40 && safeName(id) == id {
		return id
	}
	return "call_" + digest(id)[:24]
}

// nineCharIDs makes ids such as Mistral demands: nine letters and digits.
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
