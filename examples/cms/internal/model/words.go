package model

import (
	_ "embed"
	"encoding/json"
	"regexp"
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

// vocabulary has the known words, also several in a row; questions those that begin a question, and
// german some that only German has.
var vocabulary, questions, german = func() (map[string]token, []string, []string) {
	var file struct {
		Verbs, Words      map[string]string
		Questions, German string
	}
	if err := json.Unmarshal(wordFile, &file); err != nil {
		panic(err) // a test reads it
	}
	all := map[string]token{}
	for verb, list := range file.Verbs {
		for word := range strings.SplitSeq(list, "|") {
			all[word] = token{verb: verb}
		}
	}
	for group, list := range file.Words {
		class, id, _ := strings.Cut(group, " ")
		for word := range strings.SplitSeq(list, "|") {
			all[word] = token{class: class, id: id, verb: all[word].verb}
		}
	}
	return all, strings.Split(file.Questions, "|"), strings.Split(file.German, "|")
}()

var (
	quotedText = regexp.MustCompile(`^(?:"([^"]*)"|“([^”“"]*)["”“]|„([^“”"]*)["“”]|«([^»]*)»|»([^«]*)«|` +
		`[‘‚'](.+?)['’‘](?:[^\p{L}\p{N}]|$))`)
	oneWord = regexp.MustCompile(`^(?:(?:[A-Z]|Dr|Mrs?|Ms|St|Prof)\.|[\p{L}\p{N}\p{M}_@#%+*/-]+(?:[.:'’?=,&]+[\p{L}\p{N}/]` +
		`[\p{L}\p{N}\p{M}_@#%+*/-]*)*|.)`)
)

// read splits a sentence into tokens. What has no meaning here, such as an emoji, is a name.
func read(s string) (all []token) {
	for i, begins := 0, true; i < len(s); {
		space := len(s[i:]) - len(strings.TrimLeftFunc(s[i:], unicode.IsSpace))
		if i += space; i == len(s) {
			break
		}
		var t token
		if m := quotedText.FindStringSubmatchIndex(s[i:]); m != nil {
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					_, closing := utf8.DecodeRuneInString(s[i+m[g+1]:])
					t = token{class: "quote", text: s[i+m[g] : i+m[g+1]], from: i, to: i + m[g+1] + closing}
				}
			}
		} else {
			t = known(s, i, begins)
		}
		all, i, begins = append(all, t), t.to, t.class == "conj" || begins && t.class == "skip"
	}
	return all
}

// known returns the token at i: the most words of the vocabulary, or one word. begins says whether
// a verb may be misspelled there.
func known(s string, i int, begins bool) token {
	var ends []int
	var words []string
	for at := i; len(ends) < 5 && at < len(s); {
		end := at + max(1, len(oneWord.FindString(s[at:])))
		ends, words = append(ends, end), append(words, plain(s[at:end]))
		if at = end + len(s[end:]) - len(strings.TrimLeft(s[end:], " \t\n")); at == end {
			break
		}
	}
	for n := len(ends); n > 0; n-- {
		if t, ok := vocabulary[strings.Join(words[:n], " ")]; ok {
			return token{t.class, t.id, t.verb, s[i:ends[n-1]], i, ends[n-1]}
		}
	}
	t := token{text: s[i:ends[0]], from: i, to: ends[0]}
	if name, owns := strings.CutSuffix(words[0], "'s"); owns { // "the hero's title"
		t = known(s[:i+len(name)], i, begins)
		t.to = ends[0]
	} else if r, _ := utf8.DecodeRuneInString(t.text); begins || unicode.IsLower(r) {
		near := nearest(words[0], begins)
		t.class, t.id, t.verb = near.class, near.id, near.verb
	}
	return t
}

func plain(word string) string {
	return strings.Replace(strings.ToLower(strings.ReplaceAll(word, "’", "'")), "teh", "the", 1)
}

// nearest returns what a misspelled word means. Only words with a meaning of their own count: a
// short one is too near to too many others.
func nearest(word string, begins bool) (best token) {
	least, nearestWord, a := 3, "", []rune(word)
	for name, t := range vocabulary {
		b, verb := []rune(name), begins && t.verb != ""
		if !verb && !strings.Contains(" noun kind field mark alias ", " "+t.class+" ") || strings.Contains(name, " ") ||
			!verb && len(b) < 5 && name != "page" && name != "hero" && name != "text" && name != "home" {
			continue
		}
		d := distance(a, b)
		if d == 1 && (len(a) < 2 || len(a) == len(b) && len(a) < 5 && !sameLetters(a, b)) || d == 2 &&
			len(a) < 8 || d > 2 {
			continue
		}
		if d < least || d == least && name < nearestWord {
			best, least, nearestWord = t, d, name
		}
	}
	if !begins {
		best.verb = ""
	}
	return best
}

func sameLetters(a, b []rune) bool {
	return strings.Trim(string(a), string(b)) == "" && strings.Trim(string(b), string(a)) == ""
}

// distance returns how many letters are wrong, missing, too many, or swapped with the next one; 3
// if there are more than two.
func distance(a, b []rune) int {
	for most := range 3 {
		if within(a, b, most) {
			return most
		}
	}
	return 3
}

func within(a, b []rune, most int) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if len(a) == 0 || len(b) == 0 || most == 0 {
		return len(a)+len(b) <= most
	}
	return within(a[1:], b, most-1) || within(a, b[1:], most-1) || within(a[1:], b[1:], most-1) ||
		len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] && within(a[2:], b[2:], most-1)
}
