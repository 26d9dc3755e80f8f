package lexicon

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Lexicon knows what words mean. It is safe for concurrent use.
type Lexicon struct {
	meanings map[string][]string // of a word, or of several
	verbs    map[string]bool     // the meanings that verbs have
	nouns    map[string]string
	sets     map[string]map[string]bool
	mistakes map[string]string
	known    map[string]bool // words that are spelled correctly
	targets  []string        // those that a misspelled word can be, in order
}

// A Vocabulary is what a [Lexicon] knows. Words, in lower case, are separated by "|".
type Vocabulary struct {
	Words map[string]string // the words of each meaning; several words can be one: "blog post"
	Verbs string            // the meanings that verbs have
	Nouns map[string]string // the meaning that a verb's word has after a determiner: "an outline"
	// Determiners precede nouns, Leads precede verbs, Fillers have no meaning
	Determiners, Leads, Fillers string
	Topics                      string            // words that begin what a text is about, such as "about"
	Ends                        string            // words that end what is wanted, such as "until"
	Mistakes                    map[string]string // frequent misspellings of words that are short or near to others
	Correct                     string            // other words that are spelled correctly
}

// New returns a Lexicon.
func New(v Vocabulary) *Lexicon {
	l := &Lexicon{meanings: make(map[string][]string), nouns: v.Nouns, mistakes: v.Mistakes, verbs: bars(v.Verbs),
		sets: make(map[string]map[string]bool), known: make(map[string]bool)}
	for _, meaning := range slices.Sorted(maps.Keys(v.Words)) {
		for phrase := range bars(v.Words[meaning]) {
			key := strings.Join(wordsOf(phrase), " ")
			l.meanings[key] = append(l.meanings[key], meaning)
			l.learn(strings.Fields(key))
		}
	}
	for name, list := range map[string]string{"determiner": v.Determiners, "lead": v.Leads, "filler": v.Fillers,
		"topic": v.Topics, "end": v.Ends, "": v.Correct} {
		l.sets[name] = bars(list)
		l.learn(slices.Collect(maps.Keys(l.sets[name])))
	}
	l.targets = slices.Sorted(maps.Keys(l.known))
	return l
}

func (l *Lexicon) learn(words []string) {
	for _, w := range words {
		l.known[w] = true
	}
}

// bars returns a list that is separated by "|" as a set.
func bars(list string) map[string]bool {
	all := make(map[string]bool)
	for word := range strings.SplitSeq(list, "|") {
		if word != "" {
			all[word] = true
		}
	}
	return all
}

// A Token is one or several words of a clause, with what they mean.
type Token struct {
	// Meanings are those of the Vocabulary; "quoted" if it is in quotation marks, "topic" if it is
	// what a text is about; none: it has no meaning here
	Meanings    []string
	First, Last int // numbers of words of the clause
}

// Means reports whether a token has one of these meanings.
func (t Token) Means(any ...string) bool {
	return slices.ContainsFunc(any, func(m string) bool { return slices.Contains(t.Meanings, m) })
}

// Verb reports whether a token has the meaning of a verb.
func (l *Lexicon) Verb(t Token) bool {
	return slices.ContainsFunc(t.Meanings, func(m string) bool { return l.verbs[m] })
}

// Filler reports whether a word has no meaning.
func (l *Lexicon) Filler(word string) bool {
	return l.sets["filler"][word] || l.sets["determiner"][word]
}

// longest is how many words a meaning can have.
const longest = 5

// Tokens returns the words of a clause, as those of intent.Clause, with their meanings.
func (l *Lexicon) Tokens(words []string) (all []Token) {
	for i := 0; i < len(words); i = all[len(all)-1].Last + 1 {
		t := Token{First: i, Last: i}
		for n := min(longest, len(words)-i); n > 0 && t.Meanings == nil; n-- {
			if m := l.meanings[strings.Join(words[i:i+n], " ")]; m != nil {
				t.Meanings, t.Last = slices.Clone(m), i+n-1
			}
		}
		switch word := words[i]; {
		case l.sets["end"][word]:
			return all
		case strings.HasPrefix(word, `"`):
			t.Meanings = []string{"quoted"}
		case l.sets["topic"][word] && t.Last == i:
			return append(all, Token{[]string{"topic"}, i, len(words) - 1})
		case i > 0 && !l.leads(words, all[len(all)-1]):
			for k, m := range t.Meanings {
				if noun := l.nouns[m]; noun != "" {
					t.Meanings[k] = noun
				}
			}
		}
		all = append(all, t)
	}
	return all
}

// leads reports whether a verb can follow a token.
func (l *Lexicon) leads(words []string, t Token) bool {
	word := words[t.Last]
	return !l.sets["determiner"][word] && (t.Meanings != nil || l.sets["filler"][word] || l.sets["lead"][word])
}

// joined finds "and" with the two words that follow, and what is in quotation marks.
var joined = regexp.MustCompile(`"[^"]*"|“[^”]*”|„[^“”]*[“”]|` +
	`\s(?i:and then|and|und dann|und|then|dann|&)\s+[\p{L}']+(?:\s+[\p{L}']+)?`)

// Split returns a text with a comma before each "and" that a verb follows, which then begins a
// clause of its own.
func (l *Lexicon) Split(text string) string {
	return joined.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] > ' ' { // it is in quotation marks
			return s
		}
		for _, w := range strings.Fields(strings.ToLower(s))[1:] {
			if l.Verb(Token{Meanings: l.meanings[w]}) {
				return "," + s
			}
			if !l.sets["filler"][w] {
				break
			}
		}
		return s
	})
}

// A RuleList says which meanings of a clause make what.
type RuleList []struct {
	name   string
	groups [][]string
}

// Rules returns a list of rules. Each is a name and the meanings that a clause must have, where "/"
// separates alternatives: "WRITE write/draft post/article".
func Rules(lines ...string) (all RuleList) {
	for _, line := range lines {
		fields := strings.Fields(line)
		r := RuleList{{}}
		for i, field := range fields {
			if i == 0 {
				r[0].name = field
				continue
			}
			r[0].groups = append(r[0].groups, strings.Split(field, "/"))
		}
		all = append(all, r...)
	}
	return all
}

// Find returns the name of the first rule that tokens have all meanings for, and the words from the
// first to the last of these.
func (rules RuleList) Find(tokens []Token) (name string, first, last int, ok bool) {
next:
	for _, rule := range rules {
		first, last = -1, -1
		for _, group := range rule.groups {
			at := slices.IndexFunc(tokens, func(t Token) bool { return t.Means(group...) })
			if at < 0 {
				continue next
			}
			if first < 0 || tokens[at].First < first {
				first = tokens[at].First
			}
			last = max(last, tokens[at].Last)
		}
		return rule.name, first, last, true
	}
	return "", 0, 0, false
}
