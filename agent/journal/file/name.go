package file

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The files of a session share a stem. What is not here is written over again by who comes next.
const (
	logExt     = ".log"     // the session
	headExt    = ".head"    // its checkpoint, which may be missing
	tempExt    = ".temp"    // either of them while it is written
	damagedExt = ".damaged" // what [Store.Salvage] found
)

// fencesName is the file of the fences that deleted sessions had.
const fencesName = "fences"

// mostStem leaves room for an extension in the 255 bytes that file systems give a name.
const mostStem = 200

// stem returns the file name of a session, without its extension. Two sessions never share one, not even where the file system
// takes upper and lower case for the same or normalises Unicode: a name is kept in lower-case letters, digits, '-' and '_', all else
// as %xx. The prefix keeps clear of names such as con and nul. A long name is its hash; which session it is stands in the log.
func stem(session string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	b.WriteString("s-")
	for i := range len(session) {
		if c := session[i]; plainByte(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	if b.Len() <= mostStem {
		return b.String()
	}
	sum := sha256.Sum256([]byte(session))
	return "h-" + hex.EncodeToString(sum[:])
}

// unstem returns the session that a log file is of. It is "" where that stands in the log only.
func unstem(name string) (session string, ok bool) {
	stemmed, ok := strings.CutSuffix(name, logExt)
	if !ok {
		return "", false
	}
	if sum, hashed := strings.CutPrefix(stemmed, "h-"); hashed {
		return "", len(sum) == 2*sha256.Size
	}
	rest, ok := strings.CutPrefix(stemmed, "s-")
	if !ok || rest == "" {
		return "", false
	}
	b := make([]byte, 0, len(rest))
	for i := 0; i < len(rest); i++ {
		if rest[i] != '%' {
			b = append(b, rest[i])
			continue
		}
		if i+2 >= len(rest) {
			return "", false
		}
		c, err := hex.DecodeString(rest[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b = append(b, c[0])
		i += 2
	}
	session = string(b)
	return session, stem(session) == stemmed // no other spelling of it
}

func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
