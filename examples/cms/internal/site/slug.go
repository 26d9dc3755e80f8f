package site

import (
	"crypto/rand"
	"encoding/base32"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The lengths of a slug, in characters.
const (
	minSlug = 2
	maxSlug = 64
)

var slugPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// slugify derives a slug from a name: lower case, ligatures as their letters, accents and other
// scripts in Latin letters if a transliteration is known (German, Nordic, French, Slavic, Greek,
// Cyrillic), a dash between words, at most 64 characters. The slug of a single letter or digit ends
// with "-1", and that of a name without any is "".
func slugify(name string) string {
	latin := strings.Map(func(r rune) rune {
		lower := unicode.ToLower(r)
		if _, known := transliterated[lower]; lower > unicode.MaxASCII && !known && !unicode.Is(unicode.Mn, r) &&
			r != '’' {
			return ' '
		}
		return r
	}, plain(name))
	slug := strings.Join(strings.Fields(fold(latin)), "-")
	if len(slug) == 1 {
		return slug + "-1" // a slug has at least two characters
	}
	if len(slug) <= maxSlug {
		return slug
	}
	if i := strings.LastIndexByte(slug[:maxSlug+1], '-'); i >= minSlug {
		return slug[:i]
	}
	return slug[:maxSlug]
}

// fold returns text in the form in which it is compared: lower-case Latin letters and digits if a
// transliteration is known, other letters unchanged, words separated by single spaces. "Über uns!"
// folds to "ueber uns".
func fold(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range plain(text) {
		if unicode.Is(unicode.Mn, r) || r == '\'' || r == '’' {
			continue // a combining accent, or the apostrophe inside a word
		}
		r = unicode.ToLower(r)
		latin, known := transliterated[r]
		if !known && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		if known {
			b.WriteString(latin)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// slugFrom returns the given slug if it is valid, or one derived from the name if it is empty.
func slugFrom(slug, name string) (string, error) {
	slug, err := checkSlug(slug, name)
	return slug, inField("slug", err)
}

func checkSlug(slug, name string) (string, error) {
	if slug == "" {
		if slug = slugify(name); slug == "" {
			return "", invalid(`give a slug of Latin letters and digits, such as "new-page"`,
				"no slug can be derived from the name %q", name)
		}
		return slug, nil
	}
	if n := len(slug); n < minSlug || n > maxSlug {
		return "",
			invalid("use a shorter or longer one", "the slug has %d characters, it needs %d to %d", n, minSlug, maxSlug)
	}
	if slugPattern.MatchString(slug) {
		return slug, nil
	}
	hint := `use lower-case letters, digits and single dashes, such as "about-us"`
	if better := slugify(slug); better != "" {
		hint = "use " + strconv.Quote(better)
	}
	return "",
		invalid(hint, "slug %q isn't allowed: only lower-case letters, digits and single dashes between them", slug)
}

// plain replaces ligatures, wide letters and the like by usual ones, and separates Latin and Greek
// letters from their accents, except those that have a transliteration of their own.
func plain(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKC.String(text) {
		if _, known := transliterated[unicode.ToLower(r)]; known || !unicode.In(r, unicode.Latin, unicode.Greek) {
			b.WriteRune(r)
		} else {
			b.WriteString(norm.NFD.String(string(r)))
		}
	}
	return b.String()
}

// transliterated maps lower-case letters to Latin ones.
var transliterated = map[rune]string{
	'ä': "ae", 'ö': "oe", 'ü': "ue", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'å': "a", 'þ': "th", 'ð': "d",
	'đ': "d", 'ł': "l", 'ħ': "h", 'ı': "i",
	'а': "a", 'б': "b", 'в': "v", 'г': "g", 'д': "d", 'е': "e", 'ё': "e", 'ж': "zh", 'з': "z", 'и': "i", 'й': "y",
	'к': "k", 'л': "l", 'м': "m",
	'н': "n", 'о': "o", 'п': "p", 'р': "r", 'с': "s", 'т': "t", 'у': "u", 'ф': "f", 'х': "kh", 'ц': "ts", 'ч': "ch",
	'ш': "sh", 'щ': "shch",
	'ъ': "", 'ы': "y", 'ь': "", 'э': "e", 'ю': "yu", 'я': "ya", 'і': "i", 'ї': "yi", 'є': "ye", 'ґ': "g",
	'α': "a", 'β': "v", 'γ': "g", 'δ': "d", 'ε': "e", 'ζ': "z", 'η': "i", 'θ': "th", 'ι': "i", 'κ': "k", 'λ': "l",
	'μ': "m", 'ν': "n", 'ξ': "x",
	'ο': "o", 'π': "p", 'ρ': "r", 'σ': "s", 'ς': "s", 'τ': "t", 'υ': "y", 'φ': "f", 'χ': "ch", 'ψ': "ps", 'ω': "o",
}

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

// idAlphabet leaves out i, l, o and u, so that no characters look alike and no word appears by
// accident.
var idAlphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID returns the prefix and ten random characters. They have 50 bits, so a million ids collide
// with a probability of 1 in 2,000, and the primary key rejects the duplicate.
func newID(prefix string) string {
	var raw [7]byte
	rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	return prefix + idAlphabet.EncodeToString(raw[:])[:10]
}

// isID reports whether ref has the form of an id with this prefix. Slugs contain no underscore, so
// they never look like an id.
func isID(prefix, ref string) bool { return strings.HasPrefix(ref, prefix) }
