package wish

import (
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/internal/lexicon"
)

// A part is what a clause wants.
type part struct {
	intent   string
	mood     string
	asked    bool // it is a question
	plain    bool // it is a wish, and no statement
	sentence int
	begin    int // where the clause is in the text
	wish     int // the last of the words that make the intent
	negates  bool
	words    []string
	tokens   []lexicon.Token
}

// may reports whether the clause wants something that may be done.
func (c *part) may() bool { return c.mood == "requests" || c.mood == "mentions" }

// pending is a sentence that is being read.
type pending struct {
	*Reader
	at        *Place
	text      string // in its right spelling
	given     string // as it was written
	right     string // in its right spelling, with the same words
	parts     []part
	pictures  bool // they are wanted
	confirmed bool
}

// confirmedBy begins the message of the button that says yes.
const confirmedBy = "Yes: "

// Read returns what a message wants.
func (r *Reader) Read(message string, at Place) Wish {
	message = r.choose(strings.TrimSpace(message), at.Offered)
	if id := r.find(message, "trigger"); id != "" {
		w := Wish{Intent: FullPipeline, Confidence: 1, Artifact: id}
		w.steps(at.of(id), true)
		return w
	}
	text, confirmed := strings.CutPrefix(message, confirmedBy)
	if at.fixed = r.find(text, "suffix"); at.fixed != "" {
		text = r.re["suffix"].ReplaceAllString(text, "")
	}
	if rejects := r.find(text, "rejects"); rejects != "" { // not a no to what follows
		text = rejects
	}
	var names []string
	for _, a := range at.Artifacts {
		names = append(append(names, a.Title), a.Sections...)
	}
	given := r.re["front"].ReplaceAllString(text, "$1 ")
	right := r.re["nay"].ReplaceAllString(r.lexicon.Correct(given, names...), "$1 nay")
	right = r.re["until"].ReplaceAllString(right, "${1}until $2")
	text = r.re["but"].ReplaceAllString(r.re["separable"].ReplaceAllString(right, "$1 an$2$3"), "$1, $2 ")
	p := &pending{Reader: r, at: &at, text: text, given: given, right: right, pictures: true, confirmed: confirmed}
	if cut := r.re["skipping"].FindStringIndex(text); cut != nil && !r.re["negated"].MatchString(text[:cut[0]]) {
		p.text, p.pictures = strings.TrimSpace(text[:cut[0]]+text[cut[1]:]), false
		p.split()
		if i := p.first(); i >= 0 && !p.is("pictured", p.parts[i].intent) {
			return p.wish(i)
		}
		p.text = text
		if p.split(); len(p.parts) > 0 {
			return p.done(Wish{Intent: SkipVisuals}, p.parts[0])
		}
	}
	p.split()
	return p.wish(p.first())
}

// choose returns the message of the option that a message means, or the message.
func (r *Reader) choose(message string, offered []Option) string {
	if len(offered) == 0 {
		return message
	}
	if intent.Yes(message) && len(strings.Fields(message)) <= 4 {
		return offered[0].Message
	}
	n := r.number(strings.ToLower(r.find(message, "chosen")))
	if n < 0 {
		n = len(offered)
	}
	name, _, _, wish := r.rules.Find(r.lexicon.Tokens(strings.Fields(strings.ToLower(message))))
	for i, o := range offered { // what is a wish itself isn't the name of a button
		if i == n-1 || (!wish || name == Continue) && strings.EqualFold(o.Label, strings.Trim(message, `."“”!`)) {
			return o.Message
		}
	}
	return message
}

// split reads the clauses.
func (p *pending) split() {
	p.text, p.parts = p.lexicon.Split(p.text), nil
	reading, n := intent.Read(p.text), 0
	at := p.re["wordAt"].FindAllStringIndex(p.text, -1)
	for i, c := range reading {
		one := part{asked: c.Asked, sentence: c.Sentence, words: c.Words, tokens: p.lexicon.Tokens(c.Words)}
		last := len(c.Words) - 1
		if n+last < len(at) {
			one.begin = at[n][0]
			if strings.HasPrefix(p.text[at[n+last][1]:], ":") {
				one.tokens = append(one.tokens, lexicon.Token{Meanings: []string{"colon"}, First: last, Last: last})
			}
		}
		n += len(c.Words)
		if begin := slices.IndexFunc(one.tokens, func(t lexicon.Token) bool { return t.Meanings != nil }); begin >= 0 &&
			one.tokens[begin].Means("stop") {
			one.tokens[begin].Meanings = append(one.tokens[begin].Meanings, "stopping")
		}
		name, from, to, ok := p.rules.Find(one.tokens)
		if !ok {
			from, to = last, last
		}
		one.intent, one.plain = name, p.plain(&one, from)
		own := ""
		if p.is("negating", name) {
			own = p.Sets["own"]
		}
		one.mood, one.wish, one.negates = c.Mood(from, to, own), to, c.Mood(0, last, own) == "forbids"
		if i > 0 && p.is("joins", c.Words[0]) && p.parts[i-1].mood == "forbids" &&
			p.parts[i-1].sentence == one.sentence {
			one.mood = "forbids"
		}
		p.parts = append(p.parts, one)
	}
}

// plain reports whether a clause is a wish, and no statement: what precedes the wish has a meaning
// here, and if it has a verb such as "is", it begins with what is wanted.
func (p *pending) plain(c *part, wish int) bool {
	wanted := slices.ContainsFunc(c.words, func(w string) bool { return p.is("complaints", w) })
	if p.is("subjects", c.words[0]) && !wanted && !c.means("need", "sounding") || c.means("past") {
		return false
	}
	if w := c.words[0]; strings.HasSuffix(w, "ing") && w != "bring" && len(c.tokens) > 0 &&
		p.lexicon.Verb(c.tokens[0]) {
		return false // "publishing it would be a mistake"
	}
	verb := -2 // the last verb
	for _, t := range c.tokens {
		w := c.words[t.First]
		named := func(a Artifact) bool {
			return common([]string{w}, p.wordsOf(a.Title)) > 0 || p.headed(&a, []string{w})
		}
		switch {
		case slices.ContainsFunc(p.at.Artifacts, named), strings.HasSuffix(w, "'s"):
		case p.is("states", w) && (!wanted || verb == t.First-1),
			t.First < wish && t.Meanings == nil && !p.lexicon.Filler(w) && !p.is("states", w):
			return false
		case p.lexicon.Verb(t):
			wanted, verb = true, t.Last
		}
	}
	return true
}

// first returns the first clause that wants something and may be done, or else the first that
// wants something, or -1.
func (p *pending) first() int {
	ranks := [3]int{-1, -1, -1}
	for i, c := range p.parts {
		rank := 0
		switch {
		case c.intent == "":
			continue
		case c.intent == "WORSE":
			return i
		case c.intent == Stop && max(ranks[0], ranks[1]) >= 0: // takes back what precedes it
			continue
		case p.is("weak", c.intent):
			rank = 2
		case !c.may() && (c.mood != "questions" || !p.is("asking", c.intent)):
			rank = 1
		}
		if ranks[rank] < 0 {
			ranks[rank] = i
		}
	}
	for _, i := range ranks {
		if i >= 0 {
			return i
		}
	}
	return -1
}
