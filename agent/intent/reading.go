package intent

import (
	"strings"
	"unicode"
)

// A reading is a text as the rules see it.
type reading struct {
	// words are the words in lower case, with one space before, between and after them.
	words string
	// plain is words, except that each byte of what is quoted is a quotation mark: what somebody
	// cites negates and asks nothing.
	plain   string
	clauses []clause
	doubt   int // of unclear: 1 says no, 2 yes
}

// A clause is the words between two marks of punctuation. Neighbors share the space between them.
type clause struct {
	begin, end int  // in reading.words
	sentence   int  // the number of the sentence that it belongs to
	asked      bool // that sentence ends with a question mark
}

// read reads a text, of which it looks at the first 4 KiB.
func read(text string) *reading {
	p := &reader{runes: []rune(clip(text)), lastOf: map[rune]int{}}
	for i, r := range p.runes {
		p.lastOf[r] = i
	}
	p.words.Grow(len(p.runes) + 2)
	p.put(' ')
	for i, r := range p.runes {
		switch {
		case r == '’' || r == '\'':
			p.put('\'')
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			p.put(unicode.ToLower(r))
		default:
			if !p.space() {
				p.put(' ')
			}
			p.mark(i, r)
		}
	}
	if !p.space() {
		p.put(' ')
	}
	p.endSentence(false)
	return &reading{words: p.words.String(), plain: p.plain.String(), clauses: p.clauses}
}

// A reader makes a reading.
type reader struct {
	runes        []rune
	lastOf       map[rune]int // where a rune is last
	words, plain strings.Builder
	last         rune // that was put
	quote        rune // the mark that ends what is quoted; 0: nothing is
	clauses      []clause
	begin        int // of the clause
	first        int // the first clause of the sentence
	sentence     int
}

func (p *reader) put(r rune) {
	before := p.words.Len()
	p.words.WriteRune(r)
	if p.quote == 0 || r == ' ' {
		p.plain.WriteRune(r)
	} else {
		for range p.words.Len() - before {
			p.plain.WriteByte('"')
		}
	}
	p.last = r
}

func (p *reader) space() bool { return p.last == ' ' }

// closing are the marks that end what these begin to quote.
var closing = map[rune]rune{'"': '"', '“': '”', '„': '“', '«': '»', '»': '«'}

// mark handles what isn't part of a word.
func (p *reader) mark(i int, r rune) {
	if p.quote != 0 {
		if r == p.quote {
			p.quote = 0
		}
		return
	}
	if end, ok := closing[r]; ok && p.lastOf[end] > i {
		p.quote = end
		return
	}
	alone := i+1 == len(p.runes) || !unicode.IsLetter(p.runes[i+1]) && !unicode.IsDigit(p.runes[i+1])
	digit := i > 0 && unicode.IsDigit(p.runes[i-1])
	switch r {
	case '?', '!', '…':
		p.endSentence(r == '?')
	case '.':
		if alone && (!digit || i+1 == len(p.runes)) { // not in "14. May", "9.30" and "a.html"
			p.endSentence(false)
		}
	case '\n':
		if i > 0 && p.runes[i-1] == '\n' {
			p.endSentence(false)
		}
	case ',', ';', ':', '–', '—', '(', ')':
		if alone || !digit {
			p.endClause()
		}
	case '-':
		if alone && i > 0 && unicode.IsSpace(p.runes[i-1]) {
			p.endClause()
		}
	}
}

// endClause ends a clause if it has words.
func (p *reader) endClause() {
	end := p.words.Len()
	if end-p.begin < 2 {
		return
	}
	p.clauses = append(p.clauses, clause{begin: p.begin, end: end, sentence: p.sentence})
	p.begin = end - 1
}

func (p *reader) endSentence(asked bool) {
	p.endClause()
	for i := p.first; i < len(p.clauses); i++ {
		p.clauses[i].asked = asked
	}
	p.first = len(p.clauses)
	p.sentence++
}

// clauseAt returns the number of the clause in which a match begins. A match begins with a space,
// which may be the last one of the clause before.
func (r *reading) clauseAt(begin int) int {
	for i := range r.clauses {
		if begin+1 < r.clauses[i].end {
			return i
		}
	}
	return len(r.clauses) - 1
}

// clip returns the part of a text that is looked at.
func clip(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(text, "")
}
