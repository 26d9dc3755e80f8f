package file

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"
)

// The names of a session's files are the same but for the extension.
const (
	logExt     = ".log"     // the session
	headExt    = ".head"    // its checkpoint, which may be missing
	endExt     = ".end"     // its measure, which may be missing
	tempExt    = ".temp"    // added to either while it is written
	damagedExt = ".damaged" // what [Store.Salvage] found
)

// maxBase leaves room for extensions in the 255 bytes that file systems give a name.
const maxBase = 200

// baseName returns the name of a session's files without the extension, and "fences" for the
// session without a name. Two sessions never share one, even if the file system ignores case or
// normalizes Unicode: lower-case letters, digits, '-' and '_' stay as they are, all else is %xx.
// The prefix avoids names such as con and nul. A long name is replaced by its hash; the log has the
// name.
func baseName(session string) string {
	if session == "" {
		return "fences"
	}
	var b strings.Builder
	b.WriteString("s-")
	for _, c := range []byte(session) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if b.Len() <= maxBase {
		return b.String()
	}
	return fmt.Sprintf("h-%x", sha256.Sum256([]byte(session)))
}

// sessionOf returns the session that a log file is of, and "" if only the log has its name.
func sessionOf(file string) (session string, ok bool) {
	base, isLog := strings.CutSuffix(file, logExt)
	if hash, hashed := strings.CutPrefix(base, "h-"); hashed {
		return "", isLog && len(hash) == 2*sha256.Size
	}
	escaped, prefixed := strings.CutPrefix(base, "s-")
	session, err := url.PathUnescape(escaped)
	return session, isLog && prefixed && err == nil && baseName(session) == base
}
