package critic

import (
	"regexp"
	"strings"
)

// A Complexity says how complex a request is. Its score adds 0.3 if the request needs several
// steps; 0.2 each if it transforms data, depends on other systems, or is ambiguous; and 0.1 if it
// is risky.
type Complexity struct {
	Score     float64 `json:"score"`
	Steps     bool    `json:"steps,omitempty"`     // more than three operations
	Transform bool    `json:"transform,omitempty"` // data has to be transformed
	External  bool    `json:"external,omitempty"`  // it depends on other systems
	Ambiguous bool    `json:"ambiguous,omitempty"` // it leaves open what is wanted
	Risky     bool    `json:"risky,omitempty"`     // it can't be undone, or touches much
}

var (
	operations = regexp.MustCompile(
		`(?i)\b(create|add|make|write|build|update|change|set|move|copy|clone|delete|remove|publish|translate|rename|import|export|generate|design|fix|replace|sort|merge|convert|send|find|list|compare|summari[sz]e)\b`)
	several = regexp.MustCompile(
		`(?i)\b([2-9]|[1-9][0-9]+|two|three|four|five|six|seven|eight|nine|ten|several|many|all|each|every)\s+(\w+\s+){0,2}\w+s\b`)
	joined    = regexp.MustCompile(`(?i)\b(and then|then|after that|finally|first|second|as well as)\b|;|\n\s*[-*\d]`)
	transform = regexp.MustCompile(
		`(?i)\b(convert|transform|migrate|merge|import|export|parse|extract|aggregate|restructure|translate|summari[sz]e|csv|json|spreadsheet|table of)\b`)
	external = regexp.MustCompile(
		`(?i)\b(api|website|web ?page|url|search the web|online|fetch|download|upload|email|webhook|third[- ]party|database)\b|https?://`)
	ambiguous = regexp.MustCompile(
		`(?i)\b(modern|nice|nicer|good|better|beautiful|clean|professional|appropriate|suitable|etc|something|somehow|maybe|some kind|as you like|improve|optimi[sz]e)\b`)
	risky = regexp.MustCompile(
		`(?i)\b(delete|remove|drop|overwrite|reset|purge|deploy|publish|production|live site|payment|irreversible|permanently)\b`)
)

// maxRated is how much of a text Rate reads, in bytes.
const maxRated = 16 << 10

// Rate rates a request by rules on the first 16 KiB of its text, which are read as English. It
// calls no model and takes some milliseconds at most. A text that asks for one thing scores 0.
func Rate(text string) Complexity {
	text = text[:min(len(text), maxRated)]
	c := Complexity{
		Steps: len(operations.FindAllString(text, 5)) > 3 || operations.MatchString(text) &&
			(several.MatchString(text) && len(strings.Fields(text)) > 6 || len(joined.FindAllString(text, 3)) > 1),
		Transform: transform.MatchString(text),
		External:  external.MatchString(text),
		Ambiguous: ambiguous.MatchString(text),
		Risky:     risky.MatchString(text),
	}
	for _, w := range []struct {
		holds  bool
		weight float64
	}{{c.Steps, .3}, {c.Transform, .2}, {c.External, .2}, {c.Ambiguous, .2}, {c.Risky, .1}} {
		if w.holds {
			c.Score += w.weight
		}
	}
	return c
}
