package model

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is a word of a sentence, several words that mean one thing, or a text in quotes.
type token struct {
	class, id string // of the vocabulary; the class of a text in quotes is "quote", that of a name ""
	verb      string // what it does, if it can be a verb
	text      string // as it is written, without quotes
	from, to  int    // where it is in the sentence, with its quotes
}

//go:embed words.json
var wordFile []byte

// A sense is what a word means: its class, and which one of the class.
type sense struct{ class, id string }

// vocabulary has the known words, also several in a row. Words that begin a question are a list of
// their own, because most of them mean nothing elsewhere.
var vocabulary = func() (v struct {
	verbs, words, questions, german map[string]sense
}) {
	var file struct {
		Verbs, Words      map[string]string
		Questions, German string
	}
	if err := json.Unmarshal(wordFile, &file); err != nil {
		panic(err) // a test reads it
	}
	collect := func(groups map[string]string, class string) map[string]sense {
		all := map[string]sense{}
		for group, list := range groups {
			s := sense{class, group}
			if class == "" {
				s.class, s.id, _ = strings.Cut(group, " ")
			}
			for word := range strings.SplitSeq(list, "|") {
				if old, twice := all[word]; !twice || old.class+old.id > s.class+s.id {
					all[word] = s
				}
			}
		}
		return all
	}
	v.verbs, v.words = collect(file.Verbs, "verb"), collect(file.Words, "")
	v.questions = collect(map[string]string{"question": file.Questions}, "ask")
	v.german = collect(map[string]string{"german": file.German}, "german")
	return v
}()

// closing has the ends of quotes by their beginnings.
var closing = map[rune]string{'"': `"`, '“': "”\"“", '„': "“”\"", '«': "»", '»': "«", '‘': "’'", '\'': "'’", '‚': "‘’"}

// read splits a sentence into tokens. What has no meaning here, such as an emoji, is a name.
func read(s string) (all []token) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch end := quoted(s, i, r, n); {
		case unicode.IsSpace(r):
			i += n
		case end > 0:
			_, last := utf8.DecodeLastRuneInString(s[:end])
			all = append(all, token{class: "quote", text: s[i+n : end-last], from: i, to: end})
			i = end
		default:
			begun := len(all) // the segment begins after the last conjunction
			for begun > 0 && all[begun-1].class == "skip" {
				begun--
			}
			t := longest(s, i, begun == 0 || all[begun-1].class == "conj")
			all = append(all, t)
			i = t.to
		}
	}
	return all
}

// quoted returns the end of the text in quotes that begins at i, or 0.
func quoted(s string, i int, r rune, n int) int {
	ends := closing[r]
	if ends == "" {
		return 0
	}
	for j, c := range s[i+n:] {
		after := i + n + j + utf8.RuneLen(max(c, 0))
		if c == utf8.RuneError || !strings.ContainsRune(ends, c) {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(s[after:]); after < len(s) && c != '"' && (unicode.IsLetter(next) ||
			unicode.IsDigit(next)) {
			continue // an apostrophe
		}
		return after
	}
	return 0
}

// initials are words that end in a dot.
var initials = func() map[string]bool {
	all := map[string]bool{"Dr": true, "Mr": true, "Mrs": true, "Ms": true, "St": true, "Prof": true}
	for r := 'A'; r <= 'Z'; r++ {
		all[string(r)] = true
	}
	return all
}()

// wordEnd returns the end of the word at i. A dot, a colon or an apostrophe in a word belongs to
// it.
func wordEnd(s string, i int) int {
	start := i
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+n:])
		inner := i+n < len(s) && (unicode.IsLetter(next) || unicode.IsDigit(next) || strings.ContainsRune("/", next))
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), strings.ContainsRune("-_/@#%+*", r):
		case strings.ContainsRune(".:'’?=,", r) && i > start && inner:
		case r == '.' && i > start && initials[s[start:i]]: // "J. Smith"
		default:
			if i == start {
				i += n
			}
			return i
		}
		i += n
	}
	return i
}

// longest returns the token at i: the most words of the vocabulary, or one word.
func longest(s string, i int, first bool) token {
	ends, words := []int{wordEnd(s, i)}, []string{plain(s[i:wordEnd(s, i)])}
	for len(ends) < 5 {
		rest := s[ends[len(ends)-1]:]
		next := ends[len(ends)-1] + len(rest) - len(strings.TrimLeft(rest, " \t\n"))
		if next >= len(s) || strings.TrimLeft(rest, " \t\n") == rest {
			break
		}
		end := wordEnd(s, next)
		ends, words = append(ends, end), append(words, plain(s[next:end]))
	}
	t := token{text: s[i:ends[0]], from: i, to: ends[0]}
	for n := len(ends); n > 0; n-- {
		phrase := strings.Join(words[:n], " ")
		verb, v := vocabulary.verbs[phrase]
		word, w := vocabulary.words[phrase]
		if v || w {
			return token{word.class, word.id, verb.id, s[i:ends[n-1]], i, ends[n-1]}
		}
	}
	if name, owns := strings.CutSuffix(words[0], "'s"); owns { // "the hero's title"
		t = longest(s[:i+len(name)], i, first)
		t.to = ends[0]
		return t
	}
	if r, _ := utf8.DecodeRuneInString(s[i:]); first || unicode.IsLower(r) {
		if first {
			t.verb = vocabulary.verbs[nearest(words[0], vocabulary.verbs, true)].id
		}
		if t.verb == "" {
			word := vocabulary.words[nearest(words[0], vocabulary.words, first)]
			t.class, t.id = word.class, word.id
		}
	}
	return t
}

func plain(word string) string {
	word = strings.ToLower(strings.ReplaceAll(word, "’", "'"))
	if word == "teh" || word == "hte" {
		return "the"
	}
	return word
}

// nearest returns the word of the vocabulary that a misspelled word means, or "". Only words that
// carry a meaning of their own count: a short word is too near to too many others.
func nearest(word string, in map[string]sense, first bool) (best string) {
	least, n := 3, utf8.RuneCountInString(word)
	for known, s := range in {
		if !slices.Contains([]string{"verb", "noun", "kind", "field", "mark", "alias"}, s.class) ||
			strings.Contains(known, " ") ||
			len(known) < 5 && (!first || s.class != "verb") && known != "page" && known != "hero" &&
				known != "text" && known != "home" {
			continue
		}
		d := distance([]rune(word), []rune(known))
		if d > 1 && (n < 8 || d > 2) || d == 1 && (n < 2 || n == utf8.RuneCountInString(known) && n < 5 &&
			!swapped(word, known)) {
			continue
		}
		if d < least || d == least && known < best {
			best, least = known, d
		}
	}
	return best
}

// swapped reports whether two words of the same length have the same letters.
func swapped(a, b string) bool {
	x, y := []rune(a), []rune(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// distance returns how many letters are wrong, missing, too many, or swapped with the next one.
func distance(a, b []rune) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j])
			if a[i] != b[j] {
				row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
