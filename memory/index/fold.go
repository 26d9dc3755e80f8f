package index

import (
	"strings"
	"unicode"
)

// accents maps letters to their form without accents. [fold] removes combining marks (decomposed
// text).
var accents = func() map[rune]string {
	m := map[rune]string{'ß': "ss", 'æ': "a", 'œ': "o", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i"}
	for plain, marked := range map[string]string{
		"a": "àáâãäåāăąǎ", "c": "çćĉċč", "d": "ď", "e": "èéêëēĕėęě", "g": "ĝğġģ", "h": "ĥħ", "i": "ìíîïĩīĭįǐ", "j": "ĵ",
		"k": "ķ", "l": "ĺļľŀ", "n": "ñńņňŉ", "o": "òóôõöōŏőǒ", "r": "ŕŗř", "s": "śŝşšș", "t": "ţťŧț",
		"u": "ùúûüũūŭůűųǔ",
		"w": "ŵ", "y": "ýÿŷ", "z": "źżž",
	} {
		for _, r := range marked {
			m[r] = plain
		}
	}
	return m
}()

// words returns the words of a text: sequences of letters and digits in lower case and without
// accents, with ae, oe and ue as a, o and u (so that "Über", "Ueber" and "uber" are one word). It
// returns at most limit words.
func words(text string, limit int) []string {
	var out []string
	for field := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) && r != '\'' && r != '’'
	}) {
		if w := fold(field); w != "" {
			if out = append(out, w); len(out) == limit {
				break
			}
		}
	}
	return out
}

func fold(word string) string {
	var b strings.Builder
	b.Grow(len(word))
	var before byte // the last byte written, if it is an ASCII letter that a following e belongs to
	for _, r := range word {
		switch {
		case r == '\'' || r == '’' || unicode.Is(unicode.M, r):
			continue
		case r >= 'A' && r <= 'Z':
			r += 'a' - 'A'
		case r > unicode.MaxASCII:
			r = unicode.ToLower(r)
		}
		if plain, ok := accents[r]; ok {
			b.WriteString(plain)
			before = 0
			continue
		}
		if r == 'e' && (before == 'a' || before == 'o' || before == 'u') {
			before = 0
			continue
		}
		b.WriteRune(r)
		before = 0
		if r <= unicode.MaxASCII {
			before = byte(r)
		}
	}
	return b.String()
}

// stem removes the plural ending of an English word; n-grams and edit distances handle other
// differences.
func stem(w string) string {
	n := len(w)
	switch {
	case n > 4 && strings.HasSuffix(w, "ies"):
		return w[:n-3] + "y"
	case n > 4 && strings.HasSuffix(w, "ie"):
		return w[:n-2] + "y" // so that "cookies" is more than one "cookie"
	case n > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") ||
		strings.HasSuffix(w, "shes")):
		return w[:n-2]
	case n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' && w[n-2] != 'i':
		return w[:n-1]
	}
	return w
}

var stopWords = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(
		`the a an of to my our your me us i we it its that this for in on at and or is are with from by about
		please show find open where who what which how do does can you
		der die das den dem des ein eine einen einer und oder von zu zum zur im auf für mit mein meine unser unsere uns bitte ist sind wo wer was wie`) {
		m[fold(w)] = true
	}
	delete(m, "about") // a page in every content management system
	return m
}()

// sortWords name a kind of thing, and seldom a certain thing.
var sortWords = map[string]bool{"page": true, "section": true, "entry": true, "item": true, "collection": true,
	"site": true, "website": true,
	"resource": true, "seite": true, "abschnitt": true, "eintrag": true}

// key returns the key for looking up a whole name: its words without blanks ("Home page" is
// "homepage").
func key(name string) string { return strings.Join(words(name, maxWords), "") }

// maxWords is the number of words of a text that count.
const maxWords = 120
