package adapter

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An Alphabet is the set of tool names that an API accepts.
type Alphabet struct {
	// Longest is the longest name in bytes, at least 18.
	Longest int
	// Plain reports whether the byte c is allowed at this position: ASCII only. "_", "x", "h",
	// digits and a to f must be allowed everywhere, except that at the first position only "_" must
	// be.
	Plain func(at int, c byte) bool
}

// Encode returns a name in this alphabet. Other characters are encoded as _x and two hexadecimal
// digits for each byte. So is an underscore that would look like the beginning of that, so that
// different names stay different. A name that is too long is cut and ends with its hash.
func (a Alphabet) Encode(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if a.Plain(i, c) && !isEscape(name[i:]) {
			b.WriteByte(c)
			continue
		}
		b.WriteString("_x")
		b.WriteString(hex.EncodeToString([]byte{c}))
	}
	if b.Len() <= a.Longest {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	mark := "_h" + hex.EncodeToString(sum[:8])
	return b.String()[:a.Longest-len(mark)] + mark
}

// isEscape reports whether s starts like an encoded byte.
func isEscape(s string) bool {
	return len(s) >= 4 && s[0] == '_' && s[1] == 'x' && isHex(s[2]) && isHex(s[3])
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// Names has the tool names of a request, encoded and original.
type Names struct {
	provider string
	letters  Alphabet
	own      map[string]string // original names by encoded ones
}

// NewNames returns empty Names. Errors begin with the provider's name.
func NewNames(provider string, letters Alphabet) *Names {
	return &Names{provider, letters, map[string]string{}}
}

// Encode returns the encoded name and stores it. It fails for an empty name, and if the encoded
// name is that of another tool.
func (n *Names) Encode(name string) (string, error) {
	if name == "" {
		return "", fault.New(fault.Permanent, n.provider+": a tool has no name")
	}
	sent := n.letters.Encode(name)
	if other, ok := n.own[sent]; ok && other != name {
		return "", fault.Errorf(fault.Permanent, "%s: the tools %q and %q have the same encoded name %q; rename one",
			n.provider, other, name, sent)
	}
	n.own[sent] = name
	return sent, nil
}

// Decode returns the original name of a tool. A name that the model made up stays unchanged.
func (n *Names) Decode(sent string) string {
	if name, ok := n.own[sent]; ok {
		return name
	}
	return sent
}
