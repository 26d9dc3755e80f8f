package site

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// The prefixes of ids, which say what an id names.
const (
	pageID       = "pg_"
	sectionID    = "sec_"
	sectionDefID = "def_"
	collectionID = "col_"
	entryID      = "ent_"
	contentID    = "cnt_"
)

// idAlphabet leaves out i, l, o and u: nothing reads like something else, and no word appears by accident.
var idAlphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID returns prefix and ten random characters: 50 bits, so a million ids collide with a chance of 1 in 2,000, and
// the primary key refuses the second one.
func newID(prefix string) string {
	var raw [7]byte
	rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	return prefix + idAlphabet.EncodeToString(raw[:])[:10]
}

// isID reports whether ref has the form of an id with this prefix. Slugs hold no underscore, so the two never mix.
func isID(prefix, ref string) bool { return strings.HasPrefix(ref, prefix) }
