package standin

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/intent"
)

// lexicon are the words that the stand-in knows.
type lexicon struct {
	Intents []wish `json:"intents"`
	Verbs   string `json:"verbs"`
	Answers []struct {
		About string `json:"about"` // a regular expression
		Say   string `json:"say"`
	} `json:"answers"`
}

// A wish is something that a text may ask for.
type wish struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Verbs       bool   `json:"verbs"`    // requests have one of the lexicon's verbs, and then one of Objects
	Objects     string `json:"objects"`  // a regular expression, as Patterns is
	Patterns    string `json:"patterns"` // of the whole request
}

var (
	words    = read[lexicon]("words.json")
	detector = newDetector()
)

// Weights of patterns: of a whole request, and of its object alone, which counts in short texts.
const (
	whole = 0.95
	alone = 0.75
)

func newDetector() *intent.Detector {
	var cfg intent.Config
	for _, w := range words.Intents {
		in := intent.Intent{Name: w.Name, Description: w.Description}
		if w.Verbs {
			in.Patterns = []intent.Pattern{
				{Text: `(?:` + words.Verbs + `)(?: \S+){0,12}? (?:` + w.Objects + `)`, Weight: whole},
				{Text: `(?:` + w.Objects + `)(?: \S+){0,4}? (?:bauen|machen|schreiben|erstellen|programmieren)`,
					Weight: whole},
				{Text: w.Objects, Weight: alone}}
		} else {
			in.Patterns = []intent.Pattern{{Text: w.Patterns, Weight: whole}}
		}
		cfg.Intents = append(cfg.Intents, in)
	}
	d, err := intent.New(cfg)
	if err != nil {
		panic("standin: " + err.Error()) // the table is part of the program
	}
	return d
}

// Where a conversation stands.
const (
	atStart = "empty"
	atPlan  = "plan" // a plan waits for approval
	atWork  = "work" // beside a plan that is at work
	atEnd   = "done" // a plan has completed
)

// What a text asks for, besides the keys of projects and of changes.
const (
	wantsOffer   = "offer"   // it isn't known, or isn't plain: say what is possible
	wantsAnswer  = "answer"  // it is a question
	wantsNothing = "nothing" // it forbids
	wantsUndo    = "undo"
	wantsStop    = "stop"
	wantsStatus  = "status"
	wantsLibrary = "library"
)

var (
	// forbids begins a text that forbids something, or takes back what was asked for.
	forbids = regexp.MustCompile(`(?i)^\W*(?:(?:please|bitte|no|nein|ok|okay|and|und|but|aber|actually)[, ]+)*(?:don'?t|do not|never|nothing|` +
		`forget (?:it|that|about)|(?:build|make|write|do|change) nothing|no need|not (?:now|yet|today)|wait|hold on|leave (?:it|everything)|lass (?:es|das)|vergiss (?:es|das)|(?:bau|mach|schreib|tu)e?t? (?:\S+ ){0,3}(?:nichts|nicht|kein))`)
	retracts = regexp.MustCompile(`(?i)[.,;!] *(?:actually|sorry|wait|oh)?,? *(?:no\b|never ?mind|forget it|leave it|leave that|don't|lieber nicht|doch nicht|vergiss es)`)
	greets   = regexp.MustCompile(`(?i)^\W*(?:hi|hello|hey|hallo|thanks?|thank you|danke|good (?:morning|evening)|help|hilfe|moin|servus)\b`)
	asks     = regexp.MustCompile(`(?i)^\W*(?:what|which|who|whom|whose|why|where|how|do (?:i|you|we|they)|` +
		`was|wer|wie|warum|wieso|wo|wann|welche\w*)\b`)
	// able begins a question about what somebody can do. It asks for a program only if it says that
	// one is to be made: makes.
	able = regexp.MustCompile(`(?i)^\W*(?:(?:please|hey|hi|hello|ok|okay|so|and|but)\W+)*(?:can|could|would|will|should|may|might|` +
		`kann|könnte|kannst|könntest|könnt|könntet|würdest|würdet|soll\w*)\b`)
	makes = regexp.MustCompile(`(?i)^\W*(?:\w+\W+){0,3}?(?:can|could|would|will) you ` +
		`(?:(?:please|maybe|just|also|now|then|mind|kindly) )*` +
		`(?:build|building|make|making|write|writing|create|creating|generate|code|implement|develop|program|prepare|give (?:me|us)|get (?:me|us))\b|` +
		`\b(?:bauen|machen|schreiben|erstellen|programmieren)\b`)
	agrees = regexp.MustCompile(`(?i)^\W*(?:yes|yeah|yep|ok|okay|sure|looks? good|go ahead|go|fine|perfect|great|approved?|do it|lgtm|ja|passt|gut)\b`)
)

// want returns what a text asks for, where the conversation stands there.
func want(where, text string) string {
	short := len(strings.Fields(text)) <= 6
	v := detector.Match(quoted.ReplaceAllString(text, " "))
	request := v.Band() == intent.Act || v.Band() == intent.Confirm && intent.Plain(text) &&
		(v.Confidence > alone || bare(text) || short && !named(text)) ||
		v.Intent == wantsStop && v.Band() == intent.Confirm && short // "stop" negates
	build := projectBy(func(p *project) bool { return p.Key == v.Intent }) != nil && !several(text) &&
		!elsewhere.MatchString(text) && (!able.MatchString(text) || makes.MatchString(text))
	question := strings.HasSuffix(strings.TrimSpace(text), "?") && len(strings.Fields(text)) > 1 ||
		asks.MatchString(text) || able.MatchString(text)
	change := slices.Contains([]string{"readme", "once", "package", "one"}, v.Intent)
	switch {
	case v.Intent == wantsStatus && v.Confidence > 0.6:
		return wantsStatus
	case change && where == atPlan && v.Confidence > 0.6:
		return v.Intent
	case forbids.MatchString(text) && v.Band() != intent.Act, retracts.MatchString(text):
		return unlessPlan(where, text)
	case request && v.Intent == wantsLibrary, request && build && where != atWork:
		return v.Intent
	case request && v.Intent == wantsUndo && where == atEnd,
		request && v.Intent == wantsStop && (where == atPlan || where == atWork):
		return v.Intent
	case where == atPlan && declines.MatchString(text):
		return wantsStop
	case request && (v.Intent == wantsUndo || v.Intent == wantsStop), question, greets.MatchString(text),
		looks.MatchString(text):
		return wantsAnswer
	case where == atPlan && agrees.MatchString(text) && v.Intent == "",
		where == atEnd && answerTo(text) != "" && v.Intent == "":
		return wantsAnswer
	}
	return wantsOffer
}

var (
	quoted = regexp.MustCompile(`"[^"]*"|“[^”]*”|„[^“]*“`)
	// elsewhere is what the stand-in doesn't build as it is asked for: in another language, or not
	// now.
	elsewhere = regexp.MustCompile(`(?i)\b(?:in (?:python|javascript|typescript|java|rust|ruby|php|c|perl|bash|shell|kotlin|swift|haskell)|` +
		`c\+\+|(?:and|or|also|plus|und|auch) (?:\S+ ){0,3}(?:lines|characters|letters|bytes|sentences|zeilen|zeichen)|maybe|perhaps|tomorrow|later|some day|someday|vielleicht|später)\b`)
	declines = regexp.MustCompile(`(?i)^\W*(?:no|nope|nein|no thanks|no thank you|reject(?:ed)?|not good)\W*$`)
	// looks asks to be shown what is there.
	looks   = regexp.MustCompile(`(?i)^\W*(?:please )?(?:look at|list|show)(?: me)? (?:\S+ ){0,3}(?:files|directory|folder)\W*$`)
	fillers = regexp.MustCompile(` (?:please|pls|plz|bitte|a|an|the|my|our|some|just|simple|small|little|tool|program|command|cli|` +
		`package|library|lib|generator|maker|thing|app|utility|converter|in go|in golang|for (?:me|us|(?:my|the|our) \S+)|` +
		`now|titles|from titles|how about|what about|let's have|with tests) `)
)

// named reports whether a text has the words of a project, spelled as they are.
func named(text string) bool {
	return slices.ContainsFunc(words.Intents, func(w wish) bool {
		return w.Verbs && regexp.MustCompile(` (?:`+w.Objects+`) `).MatchString(plain(text))
	})
}

// bare reports whether a text names a project, and says nothing else about it.
func bare(text string) bool {
	text = plain(text)
	for _, w := range words.Intents {
		if w.Verbs {
			text = regexp.MustCompile(` (?:`+w.Objects+`) `).ReplaceAllString(text, " ")
		}
	}
	for before := ""; before != text; { // neighbors share a space
		before, text = text, fillers.ReplaceAllString(text, " ")
	}
	return strings.TrimSpace(text) == ""
}

// dropsPlan is a text that takes back the plan that waits.
var dropsPlan = regexp.MustCompile(`(?i)never ?mind|forget (?:it|about it|the plan)|drop|vergiss`)

func unlessPlan(where, text string) string {
	if where == atPlan && dropsPlan.MatchString(text) && !strings.Contains(strings.ToLower(text), "don't") {
		return wantsStop
	}
	return wantsNothing
}

// plain returns a text in small letters, with a space before, between and after its words.
func plain(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return strings.ContainsRune(" \t\n.,;:!?\"()-", r)
	}), " ") + " "
}

// several reports whether a text is about more than one project.
func several(text string) bool {
	n := 0
	for _, w := range words.Intents {
		if w.Verbs && regexp.MustCompile(` (?:`+w.Objects+`) `).MatchString(plain(text)) {
			n++
		}
	}
	return n > 1
}

// answerTo returns what the stand-in knows about something; empty if it knows nothing.
func answerTo(text string) string {
	text = plain(text)
	for _, a := range words.Answers {
		if regexp.MustCompile(` (?:` + a.About + `) `).MatchString(text) {
			return a.Say
		}
	}
	return ""
}
