package adapter

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An Alphabet is what an API lets the name of a tool be.
type Alphabet struct {
	// Longest is how many bytes a name may have: at least 18.
	Longest int
	// Plain reports whether c may be the byte of a name at this place: only ASCII, "_", "x", "h", digits and a to f everywhere
	// but, if need be, at the first place, "_" there too.
	Plain func(at int, c byte) bool
}

// Encode returns a name in the letters of the alphabet. Others are written as _x and two hexadecimal digits for each byte, and so
// is an underscore that would be read as the beginning of that, which keeps different names different. A name that is too
// long is cut and ends with a hash of itself.
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

// isEscape reports whether s begins as an encoded byte does.
func isEscape(s string) bool {
	return len(s) >= 4 && s[0] == '_' && s[1] == 'x' && isHex(s[2]) && isHex(s[3])
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// Names are the tools of a request as they were sent, with the host's own names.
type Names struct {
	provider string
	letters  Alphabet
	own      map[string]string // by the name that was sent
}

// NewNames returns Names without any. Errors will begin with the provider's name.
func NewNames(provider string, letters Alphabet) *Names {
	return &Names{provider, letters, map[string]string{}}
}

// Encode returns the name to send, and keeps it. It fails for a tool without a name, and for one that can't be told apart from
// another.
func (n *Names) Encode(name string) (string, error) {
	if name == "" {
		return "", fault.New(fault.Permanent, n.provider+": a tool has no name")
	}
	sent := n.letters.Encode(name)
	if other, ok := n.own[sent]; ok && other != name {
		return "", fault.Errorf(fault.Permanent, "%s: the tools %q and %q can't be told apart: both are sent as %q", n.provider, other, name, sent)
	}
	n.own[sent] = name
	return sent, nil
}

// Decode returns the host's name for a tool, or a name that the model made up as it is.
func (n *Names) Decode(sent string) string {
	if name, ok := n.own[sent]; ok {
		return name
	}
	return sent
}
