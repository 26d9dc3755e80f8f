package standin

import (
	"embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent/intent"
)

//go:embed data
var data embed.FS

// must returns a value that is part of the program, which tests read, too.
func must[T any](v T, err error) T {
	if err != nil {
		panic("standin: " + err.Error())
	}
	return v
}

func load[T any](name string) *T {
	v := new(T)
	return must(v, json.Unmarshal(must(data.ReadFile("data/"+name)), v))
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

// reads reports whether an act changes nothing.
func reads(act string) bool {
	return slices.Contains([]string{"find", "check", "review", "propose"}, act)
}

// edits reports whether an act changes files.
func edits(act string) bool { return slices.Contains([]string{"mend", "add", "edit"}, act) }

// A lexicon has regular expressions.
type lexicon struct {
	Limits []struct {
		Name string
		Text *regexp.Regexp
	}
	Intents []intent.Intent
	Text    map[string]*regexp.Regexp
}

// They are made at the first use, because programs with another model need none of them.
var (
	words    = sync.OnceValue(func() *lexicon { return load[lexicon]("words.json") })
	detector = sync.OnceValue(func() *intent.Detector {
		return must(intent.New(intent.Config{Intents: words().Intents}))
	})
)

func has(text, name string) bool { return words().Text[name].MatchString(text) }

// filling reports whether nothing but filling words is left of a text.
func filling(text string) bool { return words().Text["fillers"].ReplaceAllString(text, "") == "" }

// understand returns what a text asks for. Whether something may be done is decided by what
// remains of the text without its limits ("fix it without committing").
func understand(text string) wish {
	w := wish{act: doesOffer, then: "mend", text: text, limits: make(map[string]bool)}
	w.rest = strings.NewReplacer("`", `"`, "’", "'").Replace(text)
	w.rest = words().Text["checks"].ReplaceAllString(w.rest, "$1 that") // no condition
	for _, l := range words().Limits {
		if l.Text.MatchString(w.rest) {
			w.limits[l.Name], w.rest = true, l.Text.ReplaceAllString(w.rest, "$1⊘$2")
		}
	}
	// A clause goes on forbidding: "don't fix the test and commit it".
	w.rest = words().Text["forbidden"].ReplaceAllString(w.rest, "$1")
	if has(text, "looks") {
		w.limits[noWrite] = true
	}
	v := detector().Match(w.rest)
	plain := intent.Plain(w.rest) && !has(text, "future") && (!has(text, "able") || has(text, "definite")) ||
		v.Intent == "propose" || reads(v.Intent) && intent.Plain(strings.Trim(w.rest, "?")) // "do the tests pass?"
	switch {
	case len(w.limits) > 0 && filling(w.rest), has(text, "postpones"):
		w.act = doesAnswer
	case v.Intent == doesRefuse:
		w.act = doesRefuse
	case v.Band() == intent.Act, v.Band() == intent.Confirm && plain, v.Intent == "find" && has(text, "asks"):
		w.act = v.Intent
		unknown := has(text, "described") && !has(text, "functions")
		file := words().Text["file"].FindString(text)
		switch {
		case w.act == "add" && unknown, w.act == "mend" && file != "" && !strings.HasPrefix(file, "wrap"),
			(edits(w.act) || w.act == "commit") && w.act != "edit" && has(text, "ways"),
			w.act == "edit" && parseEdit(w.rest) == nil:
			w.act = doesOffer
		case edits(w.act) && w.limits[noWrite]:
			w.act, w.then = "propose", w.act
		}
	case has(text, "talks"), has(text, "asks"), v.Confidence > 0.5 && !intent.Plain(w.rest):
		w.act = doesAnswer
	}
	return w
}
