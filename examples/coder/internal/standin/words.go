package standin

import (
	"embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/intent"
)

//go:embed data
var data embed.FS

// load reads a table of the program, which tests read, too.
func load[T any](name string) (v T) {
	text, err := data.ReadFile("data/" + name)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		panic("standin: " + name + ": " + err.Error())
	}
	return v
}

// What a text asks for. Other acts are the names of the intents in words.json.
const (
	doesAnswer = "answer" // say something; do nothing
	doesOffer  = "offer"  // it isn't known, or isn't plain: offer what is
	doesGoOn   = "go on"
	doesRefuse = "no" // what the stand-in doesn't do
)

// A limit is something that a request forbids.
const (
	noWrite  = "write"
	noCommit = "commit"
	noRun    = "run"
	keepName = "name"
)

// A wish is what a text asks for.
type wish struct {
	act    string
	then   string          // the act that a proposal is about
	text   string          // of the person
	rest   string          // of the text, without the limits
	limits map[string]bool // what is forbidden
}

func (w *wish) without(limits ...string) bool {
	return slices.ContainsFunc(limits, func(l string) bool { return w.limits[l] })
}

type lexicon struct {
	Limits  map[string]string `json:"limits"` // regular expressions of whole words, as all of these
	Intents []struct {
		Name, Description string
		Patterns          []string
	} `json:"intents"`
	Looks string `json:"looks"` // what is only to be looked at
	Talks string `json:"talks"` // begins what is said to a person, and asks for nothing
	Asks  string `json:"asks"`  // begins questions
}

var (
	words    = load[lexicon]("words.json")
	detector = newDetector()
	limits   = compileLimits()
	talks    = regexp.MustCompile(`^\W*(?:(?:please|bitte|no|ok|and|well|oh|und|also)\W+)*(?:` + words.Talks + `)(?:\W|$)`)
	asks     = regexp.MustCompile(`^\W*(?:(?:please|hey|hi|ok|so|and|but|und)\W+)*(?:` + words.Asks + `)\W`)
	// able begins a question about what can be done, which is a request if it is about something
	// definite.
	able     = regexp.MustCompile(`^\W*(?:\w+\W+)?(?:can|could|would|kannst|könntest|würdest) (?:you|du)\b`)
	future   = regexp.MustCompile(`^\W*(?:\w+\W+)?will you\b`)
	looks    = regexp.MustCompile(`\b(?:` + words.Looks + `)\b`)
	definite = regexp.MustCompile(`\b(?:the|this|that|it|them|please|den|die|das|bitte)\b`)
	fillers  = regexp.MustCompile(`\b(?:please|bitte|ok|okay|but|and|just|only|aber|und|yet|actually|no)\b|[^\pL\d]`)
	quoted   = regexp.MustCompile(`"[^"]*"|“[^”]*”`)
)

func newDetector() *intent.Detector {
	var cfg intent.Config
	for _, in := range words.Intents {
		one := intent.Intent{Name: in.Name, Description: in.Description}
		for _, p := range in.Patterns {
			one.Patterns = append(one.Patterns, intent.Pattern{Text: p, Weight: 0.95})
		}
		cfg.Intents = append(cfg.Intents, one)
	}
	d, err := intent.New(cfg)
	if err != nil {
		panic("standin: " + err.Error()) // the table is part of the program
	}
	return d
}

func compileLimits() map[string]*regexp.Regexp {
	all := make(map[string]*regexp.Regexp)
	for name, text := range words.Limits {
		all[name] = regexp.MustCompile(`(?i)[,;.]?(?: (?:but|and|aber|und))?(?:^|[^\pL\d'])(?:` + text +
			`)(?:$|[^\pL\d'])`)
	}
	return all
}

// understand returns what a text asks for. Whether something may be done is decided by what
// remains of the text without its limits ("fix it without committing").
func understand(text string) wish {
	w := wish{act: doesOffer, text: text, limits: make(map[string]bool)}
	rest := strings.NewReplacer("`", `"`, "’", "'").Replace(text)
	said := quoted.FindAllString(rest, -1)
	rest = quoted.ReplaceAllString(rest, `""`) // what is cited forbids nothing
	for _, name := range []string{"push", "tests", noCommit, noRun, keepName, noWrite} {
		if limits[name].MatchString(rest) {
			w.limits[name], rest = true, limits[name].ReplaceAllString(rest, ", ")
		}
	}
	for _, s := range said {
		rest = strings.Replace(rest, `""`, s, 1)
	}
	w.rest = rest
	lower := strings.ToLower(text)
	if looks.MatchString(lower) {
		w.limits[noWrite] = true
	}
	v := detector.Match(rest)
	refused := v.Intent == doesRefuse && v.Confidence > 0.5 || slices.ContainsFunc(v.Alternatives,
		func(c intent.Choice) bool { return c.Intent == doesRefuse && c.Confidence > 0.5 })
	plain := (!able.MatchString(lower) || definite.MatchString(lower)) && !future.MatchString(lower)
	switch {
	case len(w.limits) > 0 && intentless(rest):
		w.act = doesAnswer
	case refused:
		w.act = doesRefuse
	case v.Band() == intent.Act,
		v.Band() == intent.Confirm && (reads(v.Intent) || plain && intent.Plain(rest)),
		v.Intent == "find" && asks.MatchString(lower):
		w.act = v.Intent
		if w.edits() && w.limits[noWrite] {
			w.act, w.then = "propose", w.act
		}
	case talks.MatchString(lower), asks.MatchString(lower), v.Confidence > 0.5 && !intent.Plain(rest):
		w.act = doesAnswer
	}
	return w
}

// reads reports whether an act changes nothing.
func reads(act string) bool {
	return slices.Contains([]string{"find", "check", "review", "propose"}, act)
}

// edits reports whether an act changes files.
func (w *wish) edits() bool { return slices.Contains([]string{"mend", "add", "edit"}, w.act) }

// intentless reports whether nothing but filling words is left of a text.
func intentless(text string) bool { return fillers.ReplaceAllString(strings.ToLower(text), "") == "" }
