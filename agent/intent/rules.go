package intent

import "slices"

const (
	maxText     = 4 << 10 // bytes of a text that are looked at
	maxReworded = 400     // bytes of a text that is also read in other words: a longer one is no short request
	maxMatches  = 16      // of one pattern that are looked at; with more, none is sure
	ambiguous   = 0.6     // the highest confidence if several intents match
	preferred   = 0.8     // that of the only one with a strong pattern
	strong      = 0.9     // the least weight of a strong pattern
)

// Match returns the verdict of the rules. It depends on nothing but the text, of which it looks at
// the first 4 KiB.
func (d *Detector) Match(text string) Verdict {
	confidence, _ := d.match(text)
	return d.verdict(confidence, FromRules)
}

// A found is the best match of an intent.
type found struct {
	begin, end int
	weight     float64 // of the pattern
	bounded    float64 // that, bounded by the mood
	mood       mood
}

// within reports whether f lies within g, which is longer.
func (f found) within(g found) bool {
	return g.weight > 0 && f.begin >= g.begin && f.end <= g.end && f.end-f.begin < g.end-g.begin
}

// match returns the confidence of each intent, and which of them the text forbids or only asks
// about.
func (d *Detector) match(text string) (confidence []float64, forbidden []bool) {
	r := read(text)
	best := d.find(r)
	if len(r.words) <= maxReworded && !slices.ContainsFunc(best, func(f found) bool { return f.weight >= strong }) {
		for i, f := range d.inOtherWords(r) {
			if f.bounded > best[i].bounded {
				best[i] = f
			}
		}
	}
	confidence, forbidden = make([]float64, len(best)), make([]bool, len(best))
	matched, certain, strongs := 0, 0, 0
	for i, f := range best {
		if f.weight == 0 || slices.ContainsFunc(best, f.within) {
			continue
		}
		confidence[i] = f.bounded
		if forbidden[i] = f.mood.withheld(); forbidden[i] {
			continue
		}
		matched++
		if f.weight == 1 {
			certain++
		}
		if f.weight >= strong {
			strongs++
		}
	}
	if matched < 2 {
		return confidence, forbidden
	}
	for i, f := range best {
		switch {
		case confidence[i] == 1 && certain == 1:
		case strongs == 1 && f.weight >= strong && !forbidden[i]:
			confidence[i] = min(confidence[i], preferred)
		default:
			confidence[i] = min(confidence[i], ambiguous)
		}
	}
	return confidence, forbidden
}

// find returns the best match of each intent.
func (d *Detector) find(r *reading) []found {
	best := make([]found, len(d.intents))
	for _, rule := range d.rules {
		all := rule.pattern.FindAllStringIndex(r.words, maxMatches)
		for _, at := range all {
			f := found{begin: at[0], end: at[1], weight: rule.weight, mood: r.moodOf(at[0], at[1], rule.words)}
			if len(all) == maxMatches && f.mood == requested {
				f.mood = mentioned
			}
			f.bounded = f.mood.bound(f.weight)
			if b := &best[rule.intent]; f.bounded > b.bounded || f.bounded == b.bounded && f.weight > b.weight {
				*b = f
			}
		}
	}
	return best
}

// bound returns the confidence of a match of that weight.
func (m mood) bound(weight float64) float64 {
	switch {
	case m.withheld():
		return min(weight, atMostOffered)
	case m == mentioned && weight < 1:
		return min(weight, atMostConfirmed)
	}
	return weight
}
