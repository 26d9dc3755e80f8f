package script

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/internal/forms"
)

// A Place is where a message is said.
type Place struct {
	Artifacts []portfolio.Artifact // of the user
	Open      string               // the id of the one on the screen
	About     string               // the id of the one that the conversation is about
}

// A Request is what a message wants.
type Request struct {
	Intent   Intent
	Artifact string // its id; empty: none is meant, or Among has those that may be
	Among    []portfolio.Artifact
	Unknown  string // the name that no artifact has

	Title, Type, Tone string
	Status            string   // of a list
	Focus             string   // what ideas are about
	Count             int      // of ideas; 0: it isn't said
	Tags              []string // AddTags keeps those that the artifact has
	AddTags           bool
	Steps             []string // of Work and Create, in their order
	Bare              bool     // no images are made
	Instruction       string   // of an edit, in the words of the user
	Section           string   // of an edit: "introduction", "conclusion", a heading, or a number; "": the whole text
	Remove, Again     bool     // the section
	Number            int      // of a picture or a version, from 1; -1: the last; 0: none is named
}

var (
	suffix  = regexp.MustCompile(`(?i)\s*\(artifact ([0-9a-f-]{36})\)`)
	byID    = regexp.MustCompile(`(?i)\bartifact ([0-9a-f-]{36})\b(?:: .*)?`)
	here    = regexp.MustCompile(`(?i)^(?:(?:the|this|that|my|whole|entire) )*(?:it|this|that|article|text|draft|post|blog post|social post|content|topic|showcase)$`)
	word    = regexp.MustCompile(`[\pL\pN]+`)
	section = regexp.MustCompile(`(?i)^section | section$`)
)

// Read returns what a message wants. What it says several requests of, joined by "then", are steps
// of one artifact, or the message isn't known.
func Read(message string, at Place) Request {
	id := ""
	for _, re := range []*regexp.Regexp{suffix, byID} {
		if m := re.FindStringSubmatch(message); m != nil && id == "" {
			id = m[1]
			with := ""
			if re == byID {
				with = "this"
			}
			message = message[:strings.Index(message, m[0])] + with + message[strings.Index(message, m[0])+len(m[0]):]
		}
	}
	var r Request
	for i, said := range sentences.Read(message) {
		next := read(said, message, at, id)
		switch {
		case i == 0:
			r = next
		case r.Intent != Work || next.Intent != Work || r.Artifact != next.Artifact:
			return Request{}
		default:
			r.Steps, r.Bare = append(r.Steps, next.Steps...), r.Bare || next.Bare
		}
	}
	slices.SortFunc(r.Steps, func(a, b string) int { return slices.Index(steps, a) - slices.Index(steps, b) })
	r.Steps = slices.Compact(r.Steps)
	return r
}

// read returns what a sentence wants; id is that of the artifact that the message names.
func read(said *forms.Request, message string, at Place, id string) Request {
	v, f := said.Values, &known[said.Form]
	r := Request{Intent: f.intent, Title: cmp.Or(v["title"], v["quoted"]), Type: kind(v["type"]), Tone: v["tone"],
		Status: strings.TrimSuffix(v["status"], "s"), Focus: v["focus"], Count: number(v["count"]),
		AddTags: v["add"] != "", Bare: v["bare"] != "", Remove: v["remove"] != "", Again: v["again"] != "",
		Number: cmp.Or(number(v["nth"]), number(v["version"]))}
	for tag := range strings.SplitSeq(strings.ReplaceAll(v["tags"], " and ", ","), ",") {
		if tag = strings.Trim(tag, " #"); tag != "" {
			r.Tags = append(r.Tags, tag)
		}
	}
	switch f.intent {
	case Create:
		begin := []rune(r.Title)
		begin[0] = unicode.ToUpper(begin[0])
		r.Title, r.Type = string(begin), cmp.Or(r.Type, portfolio.Blog)
		r.Steps = steps
		if f.steps != nil {
			r.Steps = f.steps
		}
		return r
	case Help, Topics, List:
		return r
	}
	if r.target(v["article"], v["loose"] != "", at, id); r.Artifact == "" {
		return r
	}
	i := slices.IndexFunc(at.Artifacts, func(a portfolio.Artifact) bool { return a.ID == r.Artifact })
	switch f.intent {
	case Work:
		status := portfolio.Status("")
		if i >= 0 {
			status = at.Artifacts[i].Status
		}
		r.work(f.steps, status)
	case Edit:
		r.Instruction = strings.TrimSpace(message)
		if part := strings.ToLower(v["part"]); part == "intro" {
			r.Section = "introduction"
		} else if part == "ending" {
			r.Section = "conclusion"
		} else if n := number(strings.TrimSuffix(part, " section")); n != 0 {
			r.Section = strconv.Itoa(n)
		} else {
			r.Section = section.ReplaceAllString(v["part"], "")
		}
	}
	return r
}

// done is how many steps are done at a status.
var done = map[portfolio.Status]int{portfolio.Research: 1, portfolio.Skeleton: 2, portfolio.Writing: 2,
	portfolio.CreatingVisuals: 4}

// work sets the steps that are wanted, with those before them that an outline or a text needs. None
// are wanted: all of them, or nothing but that images are left out.
func (r *Request) work(wanted []string, status portfolio.Status) {
	from, last := done[status], len(steps)-1
	if wanted != nil {
		if from == 0 && status != portfolio.Draft {
			from = len(steps) // nothing is missing
		}
		last = -1
		if len(wanted) > 0 {
			last = slices.Index(steps, wanted[0])
		}
	}
	for i, step := range steps {
		missing := i >= from && (wanted == nil || last <= 2 && i < last)
		if i == last || missing {
			r.Steps = append(r.Steps, step)
		}
	}
}

// target sets the artifact that a name means, or else the one of the conversation or the screen. A
// loose name must be a whole title.
func (r *Request) target(name string, loose bool, at Place, id string) {
	if id != "" || name == "" || here.MatchString(name) {
		if r.Artifact = cmp.Or(id, at.About, at.Open); r.Artifact == "" && r.Intent != Stop {
			r.Among = at.Artifacts
		}
		return
	}
	spaced := func(s string) string {
		return " " + strings.Join(word.FindAllString(strings.ToLower(s), -1), " ") + " "
	}
	for _, a := range at.Artifacts {
		if strings.EqualFold(a.Title, name) {
			r.Artifact, r.Among = a.ID, nil
			return
		}
		if !loose && strings.Contains(spaced(a.Title), spaced(name)) {
			r.Among = append(r.Among, a)
		}
	}
	switch {
	case len(r.Among) == 0 && (loose || len(strings.Fields(name)) > 3): // what isn't a request may read like one
		*r = Request{}
	case len(r.Among) == 0:
		r.Among, r.Unknown = at.Artifacts, name
	case len(r.Among) == 1:
		r.Artifact, r.Among = r.Among[0].ID, nil
	}
}

// kind returns the type of an artifact that a word means.
func kind(word string) string {
	word = strings.ToLower(word)
	switch {
	case word == "":
		return ""
	case strings.HasPrefix(word, "social"), strings.HasPrefix(word, "linkedin"):
		return portfolio.SocialPost
	case strings.HasPrefix(word, "showcase"), strings.HasPrefix(word, "case"):
		return portfolio.Showcase
	}
	return portfolio.Blog
}

// numbers are words for numbers.
var numbers = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
	"nine": 9, "ten": 10, "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "last": -1}

// number returns the number that a word means; 0: none.
func number(word string) int {
	if n, ok := numbers[strings.ToLower(word)]; ok {
		return n
	}
	n, _ := strconv.Atoi(word)
	return n
}

// fit reports whether the values of a sentence can be what they stand for. A name of an artifact
// may have any words, if there is one of this name.
func fit(_ int, values map[string]string, quoted map[string]bool) bool {
	for _, name := range []string{"title", "focus", "tags"} {
		v := strings.ReplaceAll(values[name], " to ", " of ") // as in "Moving a shop to Rust"
		if v != "" && !quoted[name] && !forms.Plain(v, name == "tags") {
			return false
		}
	}
	if v := values["article"]; v != "" && !quoted["article"] && !here.MatchString(v) && !forms.Plain(v, false) {
		values["loose"] = "yes" // it must be a whole title
	}
	return true
}
