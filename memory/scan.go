package memory

import (
	"strings"
	"unicode/utf8"
)

// The estimate of a text is one walk over its characters with the figures below, in thousandths of
// a token of o200k. They are fitted on the first articles of the Universal Declaration of Human
// Rights in 30 languages, and on code, JSON, base64, tables, white space, random letters,
// punctuation, digits and URLs, and on emoji, combining marks and control characters, so that no
// kind of text is counted low. Tests in package memory/tokens/tiktoken print the share of each, and
// of 10 languages and 14 texts that weren't used.

// Words of Latin letters. A vocabulary has whole words of the languages that it was made for, and
// pieces of 2 to 4 letters of the others. So a word costs one token and a little, and its letters
// beyond the fourth cost by language.
const (
	wordBase   = 1040
	wordFree   = 4
	wordOther  = 500 // a letter beyond the fourth, in a language that isn't listed
	longFrom   = 20  // a longer word is none: its letters beyond cost longEach
	longEach   = 540
	accentEach = 300 // a letter beyond ASCII, up to U+017F
	rareEach   = 950 // one beyond that, or a combining mark of a language: Vietnamese, Yoruba
	// a combining mark of no language: two tokens, and the letter behind it begins another
	otherMark   = 3000
	capitalEach = 250 // a capital beyond the second of a word: constants, base64
	// a letter of a word that nobody could say, in a language that isn't listed: hashes, random
	// letters
	oddEach   = 350
	gluedFrom = 4 // words and numbers in a row without anything between: base64 and the like
	gluedEach = 450
)

// languages says what a letter beyond the fourth of a word costs in languages that vocabularies
// know well. A stretch of text is in a language if at least one in oneIn of its words is listed
// there.
var languages = [...]struct {
	name, words string
	each        int
}{
	{"English", "the of and to that is with are be has", 110},
	{"code",
		"func return if for err nil string int var const type class def self import function this null true false " +
			"public id name value", 220},
	{"French", "et les des est une dans pour qui du au le la de que", 270},
	{"Spanish", "el los las y para por con se del una la de en que sin", 270},
	{"Portuguese", "os as do da em uma com não o de que e ou sem", 270},
	{"Italian", "il di che e per della non gli la", 270},
	{"Dutch", "de en een het van voor op zijn niet in of dat te", 270},
	{"German", "der die und das den ist nicht mit auf dem ein eine zu im von für sich oder dass sie wird als", 270},
}

const (
	oneIn   = 10
	stretch = 1_000 // bytes after which a stretch ends at the next blank; it ends with a line in any case
)

// languageOf has the indices in languages of their words.
var languageOf = func() map[string][]int {
	m := make(map[string][]int)
	for i := range languages {
		for w := range strings.FieldsSeq(languages[i].words) {
			m[w] = append(m[w], i)
		}
	}
	return m
}()

// Digits, white space and signs of ASCII.
const (
	controlEach = 1000 // a control character
	digitsEach  = 1000 // up to three digits
	blankDigit  = 1100 // the blank before a number; the one before a word costs nothing
	spaceRun    = 700  // a run of the same white space, and each of its characters
	blankEach   = 13
	tabEach     = 70 // or a line's end
	returnEach  = 120
	markRun     = 700 // a run of signs, and each sign in it: a common one, a rare one, and any after the fourth
	markEach    = 330
	markRare    = 700
	markMore    = 800
	markSame    = 40  // a sign like the one before it
	markLetter  = 300 // less, before a letter: many words are in vocabularies with a sign before them
	commonMarks = "(){}[],.;:\"'=<>/-_"
)

// scripts says what a character takes that is neither ASCII nor Latin, in order.
var scripts = [...]struct {
	from, to rune
	each     int
	name     string
}{
	{0x0080, 0x009F, 2000, "control characters of Latin-1"},
	{0x00A0, 0x00BF, 1000, "signs of Latin-1"},
	{0x0370, 0x03FF, 430, "Greek"},
	{0x0400, 0x045F, 430, "Cyrillic"},
	{0x0460, 0x052F, 900, "Cyrillic letters of few languages"},
	{0x0530, 0x058F, 420, "Armenian"},
	{0x0590, 0x05FF, 520, "Hebrew"},
	{0x0600, 0x06FF, 460, "Arabic"},
	{0x0900, 0x097F, 420, "Devanagari"},
	{0x0980, 0x09FF, 480, "Bengali"},
	{0x0A00, 0x0A7F, 680, "Gurmukhi"},
	{0x0A80, 0x0AFF, 500, "Gujarati"},
	{0x0B80, 0x0BFF, 450, "Tamil"},
	{0x0C00, 0x0C7F, 600, "Telugu"},
	{0x0C80, 0x0CFF, 500, "Kannada"},
	{0x0D00, 0x0D7F, 450, "Malayalam"},
	{0x0D80, 0x0DFF, 750, "Sinhala"},
	{0x0E00, 0x0E7F, 550, "Thai"},
	{0x0E80, 0x0FFF, 2000, "Lao, Tibetan"},
	{0x1000, 0x109F, 650, "Burmese"},
	{0x10A0, 0x10FF, 420, "Georgian"},
	{0x1780, 0x17FF, 800, "Khmer"},
	{0x2000, 0x2BFF, symbolEach, "punctuation, symbols, lines of tables"},
	{0x3000, 0x303F, 1000, "punctuation of East Asia"},
	{0x3040, 0x30FF, 900, "Japanese syllables"},
	{0x4E00, 0x9FFF, 900, "Chinese"},
	{0xAC00, 0xD7A3, 900, "Korean"},
	{0xFE00, 0xFE0F, 1000, "variants of emoji"},
	{0xFF00, 0xFFEF, 1000, "wide forms"},
	{0x1F000, 0x1FAFF, 2200, "emoji"},
}

const (
	symbolEach = 1400
	symbolSame = 100  // a symbol like the one before it
	otherEach  = 3000 // any other character: nearly byte by byte
)

// runeCost returns what a character costs that is neither ASCII nor Latin, after another one.
func runeCost(r, before rune) int {
	for i := range scripts {
		if s := &scripts[i]; r <= s.to {
			switch {
			case r < s.from:
				return otherEach
			case s.each == symbolEach && r == before:
				return symbolSame
			}
			return s.each
		}
	}
	return otherEach
}

// isLatin reports a letter of the Latin script beyond ASCII, or a mark that combines with one.
func isLatin(r rune) bool {
	return r >= 0xC0 && r <= 0x2AF && r != 0xD7 && r != 0xF7 || r >= 0x300 && r <= 0x36F || r >= 0x1E00 && r <= 0x1EFF
}

// commonAccents are the combining marks that languages use and the vocabulary has.
const commonAccents = "\u0300\u0301\u0302\u0303\u0306\u0308\u0309\u030A\u030C\u0323\u0327\u032D"

// isOtherMark reports a combining mark that isn't in the vocabulary.
func isOtherMark(r rune) bool {
	return r >= 0x300 && r <= 0x36F && !strings.ContainsRune(commonAccents, r)
}

// Kinds of characters. Vocabularies cut text at the borders between them before anything else.
const (
	kindLetter = iota
	kindDigit
	kindSpace
	kindMark    // punctuation and signs of ASCII
	kindControl // control characters of ASCII that aren't white space
)

var kinds = func() (k [128]uint8) {
	for c := range k {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			k[c] = kindLetter
		case c >= '0' && c <= '9':
			k[c] = kindDigit
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			k[c] = kindSpace
		case c < ' ' || c == 127:
			k[c] = kindControl
		default:
			k[c] = kindMark
		}
	}
	return k
}()

// kindAt returns the kind of the character of ASCII at i, else -1.
func kindAt(s string, i int) int {
	if i >= len(s) || s[i] >= utf8.RuneSelf {
		return -1
	}
	return int(kinds[s[i]])
}

// scan estimates a text in thousandths of a token of o200k.
func scan(s string) int {
	milli, glued, begin := 0, 0, 0
	var before rune // the character before, if it was neither ASCII nor Latin
	var w words
	for i := 0; i < len(s); {
		last := before
		before = 0
		cost, from := 0, i
		switch kind := kindAt(s, i); kind {
		case kindSpace:
			if s[i] == '\n' || i-begin > stretch {
				milli += w.settle()
				begin = i
			}
			cost, i = space(s, i)
			glued = -1
		case kindMark:
			cost, i = marks(s, i)
			glued = -1
		case kindControl:
			cost, i = controlEach, i+1
			glued = -1
		case kindDigit:
			for kindAt(s, i) == kindDigit {
				i++
			}
			cost = (i - from + 2) / 3 * digitsEach
		default:
			if r, size := utf8.DecodeRuneInString(s[i:]); kind != kindLetter && !isLatin(r) {
				cost, before = runeCost(r, last), r
				i += size
				glued = -1
				break
			}
			i = w.add(s, i)
		}
		milli += cost
		if glued++; glued > gluedFrom {
			milli += gluedEach
		}
	}
	return milli + w.settle()
}

// space returns what the white space at i costs, and where it ends. Runs of the same character are
// one token; a single blank goes with the word or the sign behind it.
func space(s string, i int) (milli, end int) {
	for kindAt(s, i) == kindSpace {
		j, each := i+1, tabEach
		switch {
		case s[i] == ' ':
			each = blankEach
		case strings.HasPrefix(s[i:], "\r\n"):
			for each = returnEach; strings.HasPrefix(s[j+1:], "\r\n"); {
				j += 2
			}
			j++
		}
		for j < len(s) && s[j] == s[i] {
			j++
		}
		next := kindAt(s, j)
		run := j > i+1 || s[i] != ' ' || next == kindSpace
		if run {
			milli += spaceRun + (j-i)*each
		}
		if next == kindDigit && s[j-1] != '\n' && (s[i] == ' ' || run) {
			milli += blankDigit
		}
		i = j
	}
	return milli, i
}

// marks returns what the signs at i cost, and where they end.
func marks(s string, i int) (milli, end int) {
	milli = markRun
	for n := 0; kindAt(s, i) == kindMark; i++ {
		switch {
		case n > 0 && s[i] == s[i-1]:
			milli += markSame
			continue
		case n >= 4:
			milli += markMore
		case strings.IndexByte(commonMarks, s[i]) < 0:
			milli += markRare
		default:
			milli += markEach
		}
		n++
	}
	if kindAt(s, i) == kindLetter {
		milli -= markLetter
	}
	return milli, i
}
