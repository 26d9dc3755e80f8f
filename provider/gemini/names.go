package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// longestName is how long a name may be with every version of the API.
const longestName = 64

// encodeName returns a tool's name in the letters that every version of the API takes, and that models don't take for
// Python's: ASCII letters, digits, _ and -, a letter or _ first. Others are written as _x and two hexadecimal digits for each
// byte, and so is an underscore that would be read as the beginning of that, which keeps different names different. A name
// that is too long is cut and ends with a hash of itself.
func encodeName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if (letter || i > 0 && (c >= '0' && c <= '9' || c == '-')) && !isEscape(name[i:]) {
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
		return "", fault.New(fault.Permanent, "gemini: a tool has no name")
	}
	sent := encodeName(name)
	if other, ok := n[sent]; ok && other != name {
		return "", fault.Errorf(fault.Permanent, "gemini: the tools %q and %q can't be told apart: both are sent as %q", other, name, sent)
	}
	n[sent] = name
	return sent, nil
}

// decode returns the host's name for a tool, or a name that the model made up as it is.
func (n names) decode(sent string) string {
	if name, ok := n[sent]; ok {
		return name
	}
	return sent
}
