package intent

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
)

// An Intent is something that requests want.
type Intent struct {
	Name        string // for programs; unique
	Description string // in plain words, for the model and for the person who chooses; empty: the Name
	Patterns    []Pattern
}

// A Pattern is a sign of an intent. It is matched with whole words of a text in lower case, in
// which anything but letters, digits and apostrophes is one space.
type Pattern struct {
	Text   string  // a regular expression as in package regexp, in lower case
	Weight float64 // the confidence if it matches: more than 0, at most 1; 1 is certain
}

// Config is the configuration of a [Detector].
type Config struct {
	Intents []Intent // at least one
	// Model makes the model call of Detect: agent.Generate inside a tool, or a function that calls
	// provider.Generate. nil: rules alone decide.
	Model func(context.Context, *provider.Request) (*provider.Response, error)
}

// A Detector finds the intent of texts. It is safe for concurrent use if its Model is.
type Detector struct {
	intents []Intent
	rules   []rule
	// vocabulary are the words that patterns name, known are these in order, and things are the
	// words that strong patterns name last, as a verb names its object.
	vocabulary, things map[string]bool
	known              []string
	model              func(context.Context, *provider.Request) (*provider.Response, error)
	request            provider.Request // without messages
	answers            *schema.Schema   // of its output
}

// A rule is a Pattern.
type rule struct {
	intent  int
	pattern *regexp.Regexp
	words   string // that the pattern names
	weight  float64
}

// What New finds letters in upper case with: they are, outside of escapes, a mistake.
var (
	escape = regexp.MustCompile(`\\[pP](?:\{[^}]*\}|.)|\\.`)
	upper  = regexp.MustCompile(`\p{Lu}`)
)

// New compiles the patterns. It returns an error that names what is wrong with an intent.
func New(cfg Config) (*Detector, error) {
	wrong := func(format string, args ...any) (*Detector, error) {
		return nil, fault.Errorf(fault.Invalid, "intent: "+format, args...)
	}
	if len(cfg.Intents) == 0 {
		return wrong("Config.Intents is empty: list at least one intent")
	}
	d := &Detector{model: cfg.Model, vocabulary: make(map[string]bool), things: make(map[string]bool)}
	seen := make(map[string]bool)
	for i, in := range cfg.Intents {
		if in.Name == "" || seen[in.Name] || in.Name == noneOfThem {
			return wrong("Config.Intents[%d] is named %q: use a name that isn't empty, used twice or %q", i, in.Name,
				noneOfThem)
		}
		seen[in.Name] = true
		if in.Description == "" {
			in.Description = in.Name
		}
		for _, p := range in.Patterns {
			if !(p.Weight > 0 && p.Weight <= 1) {
				return wrong("the pattern %q of %s has the weight %v: use more than 0 and at most 1", p.Text, in.Name, p.Weight)
			}
			if upper.MatchString(escape.ReplaceAllString(p.Text, "")) {
				return wrong("the pattern %q of %s has letters in upper case, which never match: use lower case", p.Text, in.Name)
			}
			_, err := regexp.Compile(p.Text)
			// The spaces make it match whole words, and let regexp skip from word to word, which is
			// ten times as fast as \b.
			compiled, failed := regexp.Compile(" (?:" + p.Text + ") ")
			if err = cmp.Or(err, failed); err != nil {
				return wrong("the pattern %q of %s: %w", p.Text, in.Name, err)
			}
			d.learn(p.Text)
			d.rules = append(d.rules, rule{intent: i, pattern: compiled,
				words: strings.Join(expandText(p.Text), " "), weight: p.Weight})
		}
		in.Patterns = nil
		d.intents = append(d.intents, in)
	}
	d.known = slices.Sorted(maps.Keys(d.vocabulary))
	return d, d.prepare()
}

// A Band says what to do with a verdict.
type Band string

// The bands.
const (
	Act     Band = "act"     // from 0.9: do it
	Confirm Band = "confirm" // from 0.7: do it after a confirmation
	Offer   Band = "offer"   // from 0.5: offer it and the alternatives
	Ask     Band = "ask"     // below: ask what is wanted
)

// The parties that a verdict can come from.
const (
	FromRules  = "rules"
	fromModel  = "model"
	fromBoth   = "both"
	FromPerson = "person"
)

// A Choice is an intent with its confidence, from 0 to 1.
type Choice struct {
	Intent     string  `json:"intent"`
	Confidence float64 `json:"confidence"`
}

// A Verdict is what a text wants.
type Verdict struct {
	Intent       string   `json:"intent"`     // empty: none of them
	Confidence   float64  `json:"confidence"` // from 0 to 1, with two decimals
	Alternatives []Choice `json:"alternatives,omitempty"`
	From         string   `json:"from"` // rules, model, both or person
}

// Band returns what to do.
func (v Verdict) Band() Band {
	switch {
	case v.Intent == "" || v.Confidence < 0.5:
		return Ask
	case v.Confidence < 0.7:
		return Offer
	case v.Confidence < 0.9:
		return Confirm
	}
	return Act
}

// maxAlternatives is how many alternatives a verdict has at most.
const maxAlternatives = 3

// verdict makes a Verdict of the confidence of each intent. Of equal ones, the first that is listed
// is first.
func (d *Detector) verdict(confidence []float64, from string) Verdict {
	var all []Choice
	for i, c := range confidence {
		if c > 0 {
			all = append(all, Choice{Intent: d.intents[i].Name, Confidence: c})
		}
	}
	slices.SortStableFunc(all, func(a, b Choice) int { return cmp.Compare(b.Confidence, a.Confidence) })
	for i := range all {
		all[i].Confidence = round(all[i].Confidence)
	}
	if len(all) == 0 {
		return Verdict{From: from}
	}
	rest := append([]Choice(nil), all[1:min(len(all), 1+maxAlternatives)]...)
	return Verdict{Intent: all[0].Intent, Confidence: all[0].Confidence, Alternatives: rest, From: from}
}

// round rounds to two decimals, so that sums of weights reach the limits of bands exactly.
func round(c float64) float64 { return math.Round(min(c, 1)*100) / 100 }

// enum returns the JSON schema of one of these texts.
func enum(names []string) json.RawMessage {
	text, _ := json.Marshal(map[string]any{"type": "string", "enum": names})
	return text
}
