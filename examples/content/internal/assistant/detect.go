package assistant

import (
	"fmt"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent/intent"
)

// detector finds what a message wants by patterns. It answers nothing: its verdict is a label of
// the run, and the model reads the choices of one that isn't sure.
var detector = sync.OnceValues(func() (*intent.Detector, error) {
	sure := func(patterns ...string) (all []intent.Pattern) {
		for _, p := range patterns {
			all = append(all, intent.Pattern{Text: p, Weight: 0.95})
		}
		return all
	}
	likely := func(patterns ...string) (all []intent.Pattern) {
		for _, p := range patterns {
			all = append(all, intent.Pattern{Text: p, Weight: 0.75})
		}
		return all
	}
	return intent.New(intent.Config{Intents: []intent.Intent{
		{Name: FullPipeline, Description: "create all of an article", Patterns: append(sure(
			`full(?: content)? creation`, `complete(?: the)? workflow`, `start to finish`,
			`write (?:a|an|another|me a) .*(?:article|post|showcase)`),
			intent.Pattern{Text: `create content for artifact [0-9a-f]{8}(?: [0-9a-f]+)+`, Weight: 1})},
		{Name: "PARTIAL_PIPELINE", Description: "do several steps", Patterns: likely(
			`(?:research|outline|write|humanize) .*and .*(?:outline|write|humanize|images)`)},
		{Name: "GENERATE_TOPICS", Description: "find topics", Patterns: append(sure(
			`suggest .*(?:topics?|ideas?)`, `what should i write(?: about)?`,
			`(?:give|find|show) me (?:some |\S+ )?(?:new )?(?:topics?|topic ideas|ideas)`,
			`research .*(?:topics|ideas)`), likely(`topics?`, `ideas`)...)},
		{Name: "RESEARCH_TOPIC", Description: "research a topic", Patterns: append(sure(
			`research (?:about|on|for) .+`, `research (?:this|the|that) (?:topic|article)`, `deep dive (?:on|into)`,
			`gather (?:information|research)`), likely(`research`)...)},
		{Name: "CREATE_SKELETON", Description: "make an outline", Patterns: append(sure(
			`(?:create|make|write) (?:a|an|the|new) (?:new )?(?:skeleton|outline)`, `generate (?:the )?structure`,
			`outline for (?:the )?.+`), likely(`outline`, `skeleton`)...)},
		{Name: "WRITE_CONTENT", Description: "write the text", Patterns: sure(
			`write (?:the )?(?:content|article|post|text)`, `fill in (?:the )?sections`, `expand (?:the )?skeleton`)},
		{Name: "HUMANIZE_CONTENT", Description: "revise what sounds like a machine", Patterns: append(sure(
			`humanize`, `make it sound (?:more )?human`, `remove ai (?:patterns|writing)`, `naturalize`),
			likely(`natural`)...)},
		{Name: "CREATE_VISUALS", Description: "make images", Patterns: append(sure(
			`(?:create|add|make|draw) (?:the |an? )?(?:images?|pictures?)`, `generate (?:the )?visuals?`),
			likely(`images?`, `pictures?`, `visuals?`)...)},
		{Name: "SKIP_VISUALS", Description: "finish without images", Patterns: sure(
			`skip (?:the )?(?:visuals|images|pictures)`, `without (?:images|pictures)`)},
		{Name: "QUERY_STATUS", Description: "say how far it is", Patterns: append(sure(
			`what(?:'s| is) the status(?: of (?:this|it))?`, `where are we`), likely(`progress`, `status`)...)},
		{Name: "MODIFY_CONTENT", Description: "change the text", Patterns: append(sure(
			`make (?:it|this|the .+) (?:shorter|longer|friendlier|livelier|more .+)`,
			`(?:shorten|rewrite|translate|correct|replace|remove) .+`, `add (?:a|an|another) .*(?:section|paragraph|example)`),
			likely(`shorter|longer|friendlier|tone`)...)},
		{Name: Unsupported, Description: "something that the assistant can't do", Patterns: likely(
			`weather`, `(?:send|write) (?:an )?e ?mails?`, `book (?:a|an|me) .+`, `(?:buy|order) .+`)},
	}})
})

// The intents that the program names itself.
const (
	FullPipeline = "FULL_PIPELINE"
	Clarify      = "CLARIFY"
	Unsupported  = "UNSUPPORTED"
)

// detect returns the verdict about a message. One that nothing matches is [Clarify].
func detect(message string) intent.Verdict {
	d, err := detector()
	if err != nil {
		panic(err) // a test makes it
	}
	v := d.Match(message)
	if v.Intent == "" {
		v.Intent = Clarify
	}
	return v
}

// choices returns the sentence with the choices of an unsure verdict, for the model. For a sure one
// it is empty.
func choices(v intent.Verdict) string {
	if v.Intent == Clarify || v.Band() == intent.Act {
		return ""
	}
	all := []string{fmt.Sprintf("%s %.2f", v.Intent, v.Confidence)}
	for _, c := range v.Alternatives {
		all = append(all, fmt.Sprintf("%s %.2f", c.Intent, c.Confidence))
	}
	return "\nA detector that knows words alone takes the message for: " + strings.Join(all, ", ") + "."
}
