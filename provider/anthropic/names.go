package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// longestName is how long the API lets the name of a tool be.
const longestName = 128

// encodeName returns a tool's name in the letters that the API takes: ASCII letters, digits, _ and -. Others are written as
// _x and two hexadecimal digits for each byte, and so is an underscore that would be read as the beginning of that, which
// keeps different names different. A name that is too long is cut and ends with a hash of itself.
func encodeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if isNameByte(c) && !isEscape(name[i:]) {
			b.WriteByte(c)
			continue
		}
		b.WriteString("_x")
		b.WriteString(hex.EncodeToString([]byte{c}))
	}
	if b.Len() <= longestName {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	mark := "_h" + hex.EncodeToString(sum[:8])
	return b.String()[:longestName-len(mark)] + mark
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// isEscape reports whether s begins as an encoded byte does.
func isEscape(s string) bool {
	return len(s) >= 4 && s[0] == '_' && s[1] == 'x' && isHex(s[2]) && isHex(s[3])
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// names are the tools of a request as they were sent, with the host's own names.
type names map[string]string

// encode returns the name to send.
func (n names) encode(name string) (string, error) {
	if name == "" {
		return "", fault.New(fault.Permanent, "anthropic: a tool has no name")
	}
	sent := encodeName(name)
	if other, ok := n[sent]; ok && other != name {
		return "", fault.Errorf(fault.Permanent, "anthropic: the tools %q and %q can't be told apart: both are sent as %q", other, name, sent)
	}
	n[sent] = name
	return sent, nil
}
