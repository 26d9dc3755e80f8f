package intent

import "strings"

// A Clause is the words of a text between two marks of punctuation, for hosts with rules of their
// own.
type Clause struct {
	Words    []string // in lower case; a word in quotation marks consists of quotation marks
	Sentence int      // the number of its sentence in the text, from 0
	Asked    bool     // its sentence ends with a question mark

	begins  []int // where the words are in reading, with the space before
	reading *reading
}

// Read returns the clauses of a text, of which it looks at the first 4 KiB.
func Read(text string) (all []Clause) {
	r := read(text)
	for _, c := range r.clauses {
		clause := Clause{Sentence: c.sentence, Asked: c.asked, reading: r}
		at := c.begin
		for word := range strings.SplitSeq(strings.Trim(r.plain[c.begin:c.end], " "), " ") {
			clause.Words = append(clause.Words, word)
			clause.begins = append(clause.begins, at)
			at += 1 + len(word)
		}
		all = append(all, clause)
	}
	return all
}

// Mood returns what the whole text does with the words first to last of the clause, numbered from
// 0: it
//
//   - "requests" it: "publish it", "could you publish it?"
//   - "mentions" it, and may ask for it: "publish it, but not today", "can you publish posts?"
//   - "forbids" it: "don't publish it"
//   - "questions" it: "what does publish do?"
//   - "retracts" it: "publish it. Actually no, leave it."
//   - makes it one that "depends": "if she agrees, publish it"
//   - "reports" it: "my boss said to publish it"
//   - leaves it to "oneself": "I'll publish it"
//
// own are words among them that don't forbid or ask here, such as "without" in "without images".
func (c Clause) Mood(first, last int, own string) string {
	return string(c.reading.moodOf(c.begins[first], c.begins[last]+len(c.Words[last])+2, own))
}
