package model

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/pawlkit/pawl/memory/index"
)

// A form is one kind of wish: a verb, what it is about, and the call that it takes. Inputs name the
// values of an operation, such as $page; empty ones are left out. Texts are templates of package
// text/template over these values and the result.
type form struct {
	Verb, Of, Where  string
	Needs, May       string // values of the wish
	Say              string // how a person can say it; {page} and others are replaced
	Tool             string
	Input            map[string]any
	Reads            bool
	Doing, Reply, De string // Doing is as in "I couldn't …"
	Instead          string // what is proposed if a person rejects it and wants something else
}

//go:embed forms.json
var formFile []byte

// table has the forms, the names that a field may have in a section's definition, how questions
// are answered, and the texts that have no form, in English and German.
var table = func() (v struct {
	Forms     []*form
	Slots     map[string]string
	Questions []inquiry
	Ways      []way
	Texts     map[string][]string
}) {
	if err := json.Unmarshal(formFile, &v); err != nil {
		panic(err) // a test reads it
	}
	return v
}()

// A way is one of several plans to a page with a section.
type way struct {
	Title, Why string
	Nodes      []struct {
		ID, Tool string
		After    []string
		Input    map[string]any
	}
}

// words returns the reply.
func (f *form) words(german bool) string {
	if german && f.De != "" {
		return f.De
	}
	return f.Reply
}

// An operation is a form with its values.
type operation struct {
	form   *form
	slots  map[string]any
	input  map[string]any
	from   int // the number of the operation that makes its page, from 1; 0: none
	result string
}

func (o *operation) tool() string { return o.form.Tool }

// fill fills a template with the values.
func (o *operation) fill(text string) string {
	var b strings.Builder
	if err := template.Must(template.New("").Funcs(functions).Parse(text)).Execute(&b, o.slots); err != nil {
		return "I can't say what came of it: " + err.Error()
	}
	return b.String()
}

// functions are those of the templates.
var functions = template.FuncMap{
	"found": foundIn,
	"lower": func(v any) string { return strings.ToLower(fmt.Sprint(v)) },
	"q":     func(v any) string { return fmt.Sprintf("%q", v) },
	"path":  func(slug any) string { return strings.TrimSuffix(fmt.Sprint("/", slug), "home") },
	"plain": func(v any) any {
		if m, ok := v.(map[string]any); ok {
			for _, key := range []string{"url", "href", "targetId", "entryId", "collectionId", "id"} {
				if m[key] != nil {
					return m[key]
				}
			}
		}
		return v
	},
}

// value returns an input with the values for their names; nil if it is empty.
func (o *operation) value(v any) any {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "$"); ok {
			if s, ok := o.slots[name].(string); ok && s == "" {
				return nil
			}
			return o.slots[name]
		}
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, o.value(item))
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for key, item := range v {
			if item = o.value(item); item != nil {
				m[key] = item
			}
		}
		return m
	}
	return v
}

var gap = regexp.MustCompile(`\{\w+\}`)

// filled returns how a person can say a form, with what is known; an ellipsis stands for the rest.
func (o *operation) filled(say string) string {
	return gap.ReplaceAllStringFunc(say, func(name string) string {
		v, _ := o.slots[strings.Trim(name, "{}")].(string)
		if v = strings.Map(func(r rune) rune {
			if r == '`' || r < ' ' {
				return -1
			}
			return r
		}, v); v == "" || len(v) > 80 {
			return "…"
		}
		return v
	})
}

// note says what a name was taken to mean, if that isn't obvious.
func (o *operation) note(german bool) string {
	what, match := fmt.Sprint(o.slots["query"]), o.slots["match"]
	switch said := fmt.Sprintf("I took %q to mean the %s %q", what, o.slots["found"], o.slots["title"]); {
	case match == nil || (strings.EqualFold(what, fmt.Sprint(o.slots["title"])) || slugged(what) == o.slots["page"]):
		return ""
	case german:
		return fmt.Sprintf("Mit %q ist wohl %q gemeint. ", what, o.slots["title"])
	case match == index.MatchUnsure:
		return said + ", and am not sure of that. "
	default:
		return said + ". "
	}
}

// A problem is why a wish can't be carried out, and what a person may have wanted.
type problem struct {
	text   string
	offers []string
}

func (p *problem) String() string {
	text := p.text
	for i, offer := range p.offers {
		text += map[bool]string{true: "\n"}[i == 0] + "\n- `" + offer + "`"
	}
	return text
}

// unknown is the problem of a wish that isn't understood: the three nearest forms.
func (t *turn) unknown(w *wish) *problem {
	o := &operation{slots: map[string]any{"page": w.ref.text, "entry": w.ref.text, "kind": w.kind,
		"field": strings.TrimPrefix(w.field, "page."),
		"name":  w.values["name"].text, "value": w.values[""].text, "media": w.media}}
	if o.slots["name"] == "" && w.ref.text != "" && w.verb == "make" {
		o.slots["name"] = w.ref.text
	}
	score := func(f *form) (n int) {
		if f.Say == "" {
			return -1
		}
		if f.Verb == w.verb {
			n += 5
		}
		if f.Of == w.of() {
			n += 2
		}
		for name, v := range o.slots {
			if v != "" && strings.Contains(f.Say, "{"+name+"}") {
				n++
			}
		}
		return n
	}
	near := slices.Clone(table.Forms)
	slices.SortStableFunc(near, func(a, b *form) int { return score(b) - score(a) })
	p := &problem{text: t.say("unknown").text}
	for _, f := range near {
		if said := o.filled(f.Say); len(p.offers) < 3 && !slices.Contains(p.offers, said) {
			p.offers = append(p.offers, said)
		}
	}
	return p
}

// say returns a text of the table.
func (t *turn) say(name string) move {
	texts := table.Texts[name]
	if t.german {
		return move{text: texts[1]}
	}
	return move{text: texts[0]}
}

// help returns what a person can say.
func help() string {
	p := problem{text: table.Texts["help"][0]}
	for _, f := range table.Forms {
		if f.Say != "" && !slices.Contains(p.offers, f.Say) {
			p.offers = append(p.offers, (&operation{slots: map[string]any{"kind": "hero",
				"field": "title"}}).filled(f.Say))
		}
	}
	return p.String() + "\n\nPut names and texts in quotes if they hold words such as \"with\", \"to\" or \"and\"."
}

// Help returns the requests that the model understands.
func Help() string { return help() }

// A found is a result of a look-up.
type found struct{ Kind, Slug, Name, Match, Why string }

// foundIn returns the results of a look-up.
func foundIn(text string) (all []found) {
	for _, l := range index.Lines(text) {
		if len(l.Aliases) > 0 {
			all = append(all, found{l.Kind, l.Aliases[0], l.Name, l.Match, l.Why})
		}
	}
	return all
}

// slotsOf returns the slots of a kind of sections; false if they have to be read first.
func (t *turn) slotsOf(kind string) (slots []slot, ok bool) {
	listed, ok := t.read("cms.listSections", map[string]any{})
	var sections struct {
		Items []struct {
			Key      string
			Elements struct{ Rows []struct{ Slots []slot } } `json:"elements_structure"`
		}
	}
	_ = json.Unmarshal([]byte(listed), &sections) // without it, the tool says what is wrong
	for _, d := range sections.Items {
		if d.Key == kind {
			for _, row := range d.Elements.Rows {
				slots = append(slots, row.Slots...)
			}
		}
	}
	return slots, ok
}

// content returns the values of a wish by the slots of its section. A new section gets all that are
// required.
func (w *wish) content(slots []slot, title string) (map[string]any, *problem) {
	content := map[string]any{}
	pick := func(fits func(s *slot) bool) *slot {
		for i := range slots {
			if content[slots[i].Key] == nil && fits(&slots[i]) {
				return &slots[i]
			}
		}
		return nil
	}
	required := func(s *slot) bool { return s.Rules.Required && s.words() }
	spare := ""
	for _, field := range slices.Backward(slices.Sorted(maps.Keys(w.values))) { // "", the text, is last
		v, as := w.values[field], cmp.Or(field, w.field)
		if v.text == "" || field == "status" {
			continue
		}
		spare = cmp.Or(v.text, spare)
		if as == "name" {
			as = "title"
		}
		s := pick(func(s *slot) bool { return slices.Contains(strings.Fields(table.Slots[as]), s.Key) })
		if s == nil && (as == "" || field == "name" || as == "body") {
			s = cmp.Or(pick(required), pick((*slot).words))
		}
		switch {
		case s != nil:
			content[s.Key] = s.value(v.text)
		case len(slots) > 0:
			return nil, &problem{text: fmt.Sprintf("A %s section has no %s.", w.kind, cmp.Or(as, "other text"))}
		default:
			content[cmp.Or(as, "title")] = v.text // the tool says what is wrong
		}
	}
	for i := range slots {
		if s := &slots[i]; w.verb == "add" && s.Rules.Required && content[s.Key] == nil {
			content[s.Key] = s.value(cmp.Or(spare, title))
		}
	}
	return content, nil
}

// A slot is a value of a section's definition.
type slot struct {
	Key, Type string
	Rules     struct{ Required, Multiple bool } `json:"dataRules"`
}

func (s *slot) words() bool { return s.Type == "text" || s.Type == "richText" }

// value returns a text as a value of the slot.
func (s *slot) value(text string) any {
	switch s.Type {
	case "link":
		return map[string]any{"type": "url", "href": text}
	case "collectionRef":
		return map[string]any{"collectionId": "col_blog"}
	}
	return text
}
