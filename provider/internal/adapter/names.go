package adapter

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// LongestName is the longest name of a tool, in bytes: the APIs accept 64 or more.
const LongestName = 64

// Names has the tool names of one request, original and as sent. All APIs accept letters, digits,
// "_" and "-", with a letter or "_" first. Other characters are replaced by "_"; if the result is a
// name already, or too long, a part of the name's hash is added. The request's tools are encoded
// first, in their order, so that their names don't change when tools are added at the end.
type Names struct {
	sent map[string]string // by the original name
	own  map[string]string // by the name as sent
}

// NewNames returns the names of these tools.
func NewNames(tools []provider.Tool) *Names {
	n := &Names{make(map[string]string, len(tools)), make(map[string]string, len(tools))}
	for i := range tools {
		n.Encode(tools[i].Name)
	}
	return n
}

// None reports whether there are no names.
func (n *Names) None() bool { return len(n.own) == 0 }

// Encode returns a name as it is sent.
func (n *Names) Encode(name string) string {
	if sent, ok := n.sent[name]; ok {
		return sent
	}
	safe := SafeName(name)
	if safe[0] <= '9' { // a digit or a dash
		safe = "_" + safe
	}
	sent := safe
	_, taken := n.own[sent]
	for salt := name; taken || len(sent) > LongestName; salt += "+" { // even another's encoded name may be taken
		sum := sha256.Sum256([]byte(salt))
		tail := "_" + hex.EncodeToString(sum[:4])
		sent = safe[:min(len(safe), LongestName-len(tail))] + tail
		_, taken = n.own[sent]
	}
	n.sent[name], n.own[sent] = sent, name
	return sent
}

// Decode returns the original name of a tool. A name that the model made up stays unchanged.
func (n *Names) Decode(sent string) string {
	if name, ok := n.own[sent]; ok {
		return name
	}
	return sent
}

// SafeName replaces the characters that names and ids can't have.
func SafeName(name string) string {
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
