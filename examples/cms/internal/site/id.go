package site

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// The prefixes of ids, by kind.
const (
	pageID       = "pg_"
	sectionID    = "sec_"
	sectionDefID = "def_"
	collectionID = "col_"
	entryID      = "ent_"
	contentID    = "cnt_"
	mediaID      = "med_"
	navigationID = "nav_"
	itemID       = "itm_"
)

// idAlphabet leaves out i, l, o and u, so that no characters look alike and no word appears by accident.
var idAlphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID returns the prefix and ten random characters. They have 50 bits, so a million ids collide with a probability of 1 in 2,000, and
// the primary key rejects the duplicate.
func newID(prefix string) string {
	var raw [7]byte
	rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	return prefix + idAlphabet.EncodeToString(raw[:])[:10]
}

// isID reports whether ref has the form of an id with this prefix. Slugs contain no underscore, so they never look like an id.
func isID(prefix, ref string) bool { return strings.HasPrefix(ref, prefix) }
