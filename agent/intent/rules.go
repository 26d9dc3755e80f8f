package intent

import (
	"strings"
	"unicode"
)

const (
	maxText   = 4 << 10 // bytes of a text that are looked at
	ambiguous = 0.6     // the highest confidence if several intents match
)

// Match returns the verdict of the rules. It depends on nothing but the text, of which it looks at
// the first 4 KiB.
func (d *Detector) Match(text string) Verdict {
	return d.verdict(d.match(text), FromRules)
}

// A span is where the heaviest pattern of an intent matches.
type span struct {
	begin, end int
	weight     float64
}

// within reports whether s lies within t, which is longer.
func (s span) within(t span) bool {
	return s.begin >= t.begin && s.end <= t.end && s.end-s.begin < t.end-t.begin
}

// match returns the confidence of each intent.
func (d *Detector) match(text string) []float64 {
	text = words(text)
	spans := make([]span, len(d.intents))
	for _, r := range d.rules {
		at := r.pattern.FindStringIndex(text)
		if best := &spans[r.intent]; at != nil && r.weight > best.weight {
			*best = span{at[0], at[1], r.weight}
		}
	}
	confidence := make([]float64, len(spans))
	matched, certain := 0, 0
	for i, s := range spans {
		inner := false
		for _, t := range spans {
			inner = inner || t.weight > 0 && s.within(t)
		}
		if s.weight == 0 || inner {
			continue
		}
		confidence[i] = s.weight
		matched++
		if s.weight == 1 {
			certain++
		}
	}
	if matched > 1 {
		for i, c := range confidence {
			if c < 1 || certain > 1 {
				confidence[i] = min(c, ambiguous)
			}
		}
	}
	return confidence
}

// words returns the words of a text in lower case, with one space before, between and after them.
func words(text string) string {
	var b strings.Builder
	text = clip(text)
	b.Grow(len(text) + 2)
	b.WriteByte(' ')
	space := true
	for _, r := range text {
		switch {
		case r == '’':
			r = '\''
		case r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		b.WriteRune(unicode.ToLower(r))
		space = false
	}
	if !space {
		b.WriteByte(' ')
	}
	return b.String()
}

// clip returns the part of a text that is looked at.
func clip(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(text, "")
}
