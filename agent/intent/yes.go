package intent

import (
	"regexp"
	"slices"
)

var (
	// agreed begins a text that agrees.
	agreed = regexp.MustCompile(`^ (?:(?:oh|well|hm|hmm|and|na|und|ach|ah) )*(?:yes|yeah|yep|yup|sure|ok|okay|fine|absolutely|` +
		`definitely|of course|exactly|correct|please do|do it|do so|do that|go ahead|go for it|sounds good|looks good|perfect|` +
		`agreed|confirmed|approved|by all means|ja|jawohl|jep|jo|klar|gern|gerne|genau|in ordnung|einverstanden|passt|mach das|` +
		`mach es|mach mal|tu das|los|natürlich|unbedingt|bitte|auf jeden fall) `)
	// narrowed are words that make a yes mean less, or something else.
	narrowed = phrases(`wait hold_on hang_on later only first instead tomorrow stop halt cancel maybe perhaps
		warte moment später nur erst morgen stopp abbrechen vielleicht`)
)

// Yes reports whether a text agrees, in English or German, and nothing in it takes that back:
// "yes", "ok, go ahead" and "ja, gern", but not "yes, but not the last one", "sure?" and "ja, aber
// ohne Bilder". What isn't a plain yes isn't one.
func Yes(text string) bool {
	r := read(text)
	return agreed.MatchString(r.plain) && !narrowed.MatchString(r.plain) && r.undisputed()
}

// undisputed reports whether the text has no question and is clear.
func (r *reading) undisputed() bool {
	return !slices.ContainsFunc(r.clauses, func(c clause) bool { return c.asked }) && r.clear()
}

// clear reports whether the text has no negation, no condition, and nothing that limits or takes
// back what it says.
func (r *reading) clear() bool {
	for i, c := range r.clauses {
		if clause := r.plain[c.begin:c.end]; i > 0 && !affirmed.MatchString(clause) && retracted.MatchString(clause) {
			return false
		}
	}
	return !r.unclear() && !condition.MatchString(r.plain)
}
