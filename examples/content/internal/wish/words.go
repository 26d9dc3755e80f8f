package wish

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/internal/lexicon"
)

//go:embed words.json
var wordFile []byte

// A Reader reads sentences. It is safe for concurrent use.
type Reader struct {
	// as in words.json
	Words, Sets, Patterns map[string]string
	Pairs                 map[string]map[string]string
	Rules, Answers        []string
	Intents               map[string]phrases

	lexicon        *lexicon.Lexicon
	rules, answers lexicon.RuleList // the name of an answer is its number
	sets           map[string]map[string]bool
	re             map[string]*regexp.Regexp
}

// phrases are the texts of an intent.
type phrases struct{ Label, Request, Ask, Forbid, Explain, Done string }

// New returns a Reader.
func New() *Reader {
	r := &Reader{sets: map[string]map[string]bool{}, re: map[string]*regexp.Regexp{}}
	if err := json.Unmarshal(wordFile, r); err != nil {
		panic(err) // a test reads it
	}
	s := r.Sets
	r.lexicon = lexicon.New(lexicon.Vocabulary{Words: r.Words, Verbs: s["verbs"], Nouns: r.Pairs["nouns"],
		Determiners: s["determiners"], Leads: s["leads"], Fillers: s["fillers"], Topics: s["topics"], Ends: s["ends"],
		Mistakes: r.Pairs["spell"], Correct: s["correct"] + "|" + s["states"]})
	r.rules = lexicon.Rules(r.Rules...)
	for i, line := range r.Answers {
		meanings, text, _ := strings.Cut(line, "|")
		r.answers = append(r.answers, lexicon.Rules(strconv.Itoa(i)+" "+meanings)...)
		r.Answers[i] = text
	}
	for name, list := range s {
		r.sets[name] = map[string]bool{}
		for word := range strings.SplitSeq(list, "|") {
			r.sets[name][word] = true
		}
	}
	for name, p := range r.Patterns {
		r.re[name] = regexp.MustCompile(p)
	}
	return r
}

// is reports whether a set of words.json has a word, and list returns the set.
func (r *Reader) is(set, word string) bool { return r.sets[set][word] }
func (r *Reader) list(set string) []string { return strings.Split(r.Sets[set], "|") }

// find returns what the first of these patterns captures.
func (r *Reader) find(text string, patterns ...string) string {
	for _, name := range patterns {
		if m := r.re[name].FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

// quotes returns what is in quotation marks.
func (r *Reader) quotes(text string) (all []string) {
	for _, m := range r.re["quoted"].FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Join(m[1:], ""))
	}
	return all
}

// trim returns a text without what may follow a wish, such as "please".
func (r *Reader) trim(text string) string {
	return strings.Trim(strings.TrimSpace(r.re["tail"].ReplaceAllString(text, "")), `"“”„'«» `)
}

// clean is trim for a title.
func (r *Reader) clean(text string) string {
	if text = r.trim(text); text == "" {
		return ""
	}
	first := []rune(text)[:1]
	return strings.ToUpper(string(first)) + text[len(string(first)):]
}
