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
// values of an operation, such as $page; empty ones are left out, and an object of the key json
// becomes its text. Texts are templates of package text/template over these values and the result.
type form struct {
	Verb, Of, Where  string
	Has              string // words of a question that it answers; separated by |
	Needs, May       string // values of the wish
	Say              string // how a person can say it; {page} and others are replaced
	Tool             string
	Input            map[string]any
	Undo             map[string]map[string]any // by tool, the call that takes it back, over the result
	Reads            bool
	Doing, Reply, De string // Doing is as in "I couldn't …"
	Instead          string // what is proposed if a person rejects it and wants something else
}

//go:embed forms.json
var formFile []byte

// table has the forms, the slots that a field may be in a section's definition, and the texts that
// have no form, in English and German.
var table = func() (v struct {
	Forms, Questions []*form
	Slots            map[string]string
	Texts            map[string][2]string
}) {
	if err := json.Unmarshal(formFile, &v); err != nil {
		panic(err) // a test reads it
	}
	return v
}()

// An operation is a form with its values.
type operation struct {
	*form
	slots map[string]any
	input map[string]any
	from  int // the number of the operation that makes its page, from 1; 0: none
}

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
	"found":   foundIn,
	"lower":   func(v any) string { return strings.ToLower(fmt.Sprint(v)) },
	"q":       func(v any) string { return fmt.Sprintf("%q", v) },
	"path":    func(slug any) string { return strings.TrimSuffix(fmt.Sprint("/", slug), "home") },
	"line":    line,
	"created": func(text string) any { return object(line("create answered: ", text))["slug"] },
	"plain": func(v any) any {
		m, _ := v.(map[string]any)
		return cmp.Or(m["url"], m["href"], m["targetId"], m["collectionId"], v)
	},
}

// line returns the rest of the first line that begins so, or to a quote if it begins with one.
func line(begin, text string) string {
	_, rest, _ := strings.Cut("\n"+text, "\n"+begin)
	rest, _, _ = strings.Cut(rest, "\n")
	if strings.HasSuffix(begin, `"`) {
		rest, _, _ = strings.Cut(rest, `"`)
	}
	return rest
}

// value returns an input with the values for their names; nil if it is empty.
func (o *operation) value(v any) any {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "$"); ok && o.slots[name] != "" {
			return o.slots[name]
		} else if ok {
			return nil
		}
		return o.fill(v)
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, o.value(item))
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for key, item := range v {
			if item = o.value(item); key == "json" {
				text, _ := json.Marshal(item) // it is made of texts and numbers
				return string(text)
			} else if item != nil {
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
		if v == "" || len(v) > 80 || strings.ContainsFunc(v, func(r rune) bool { return r == '`' || r < ' ' }) {
			return "…"
		}
		return v
	})
}

// answer returns what a finished operation is answered with, and what a name was taken to mean if
// that isn't obvious.
func (o *operation) answer(german bool) string {
	text := o.fill(o.Reply)
	if german && o.De != "" {
		text = o.fill(o.De)
	}
	what, title, match := fmt.Sprint(o.slots["query"]), fmt.Sprint(o.slots["title"]), o.slots["match"]
	switch {
	case match == nil || strings.EqualFold(what, title) || slugged(what) == o.slots["page"]:
		return text
	case match == index.MatchUnsure:
		return fmt.Sprintf("I took %q to mean the %s %q, and am not sure of that. %s", what, o.slots["found"],
			title, text)
	}
	return fmt.Sprintf("I took %q to mean the %s %q. %s", what, o.slots["found"], title, text)
}

// say returns a text of the table, and what a person may say next: a page shows these as buttons.
func (t *turn) say(name string, offers ...string) string {
	text := cmp.Or(table.Texts[name], [2]string{name, name})[map[bool]int{true: 1}[t.german]]
	for i, offer := range offers {
		text += strings.Repeat("\n", 1+min(1, max(0, 1-i))) + "- `" + offer + "`"
	}
	return text
}

// unknown says that a wish isn't understood, and offers the three nearest forms.
func (t *turn) unknown(w *wish, text string) string {
	o := &operation{slots: map[string]any{"page": "", "entry": "", "kind": w.kind, "media": w.media, "field": w.field,
		"name": w.values["name"].text, "value": w.values[""].text}}
	if w.ref.text != "" { // only what exists is offered to be changed
		for _, f := range slices.Backward(foundIn(t.read("cms.findResource", map[string]any{"query": w.ref.text}))) {
			o.slots["page"], o.slots["entry"] = "", ""
			o.slots[f.Kind] = f.Slug
		}
	}
	score := func(f *form) (n int) {
		for name, v := range o.slots {
			n += map[bool]int{true: 1}[v != "" && strings.Contains(f.Say, "{"+name+"}")]
		}
		return n + map[bool]int{true: 5}[f.Verb == w.verb] + map[bool]int{true: 2}[f.Of == w.of()]
	}
	near := slices.Clone(table.Forms)
	slices.SortStableFunc(near, func(a, b *form) int { return score(b) - score(a) })
	return t.say(text, o.sayings(near, 3)...)
}

// sayings returns how a person can say forms, n at most.
func (o *operation) sayings(forms []*form, n int) (all []string) {
	for _, f := range forms {
		if said := o.filled(f.Say); said != "" && len(all) < n && !slices.Contains(all, said) {
			all = append(all, said)
		}
	}
	return all
}

// Help returns the requests that the model understands.
func Help() string {
	o := &operation{slots: map[string]any{"kind": "hero", "field": "title"}}
	return (&turn{}).say("help", o.sayings(table.Forms, len(table.Forms))...) + "\n\n" + table.Texts["quotes"][0]
}

// A slot is a value of a section's definition.
type slot struct {
	Key, Type string
	Rules     struct{ Required bool } `json:"dataRules"`
}

func (s *slot) value(text string) any {
	switch s.Type {
	case "link":
		return map[string]any{"type": "url", "href": text}
	case "collectionRef":
		return map[string]any{"collectionId": "col_blog"}
	}
	return text
}

// slotsOf returns the slots of a kind of sections; nothing if they have to be read first.
func (t *turn) slotsOf(kind string) (slots []slot) {
	var sections struct {
		Items []struct {
			Key      string
			Elements struct{ Rows []struct{ Slots []slot } } `json:"elements_structure"`
		}
	}
	_ = json.Unmarshal([]byte(t.read("cms.listSections", map[string]any{})), &sections)
	for _, d := range sections.Items {
		for _, row := range d.Elements.Rows {
			if d.Key == kind {
				slots = append(slots, row.Slots...)
			}
		}
	}
	return slots
}

// content returns the values of a wish by the slots of its section, and why it can't have one of
// them. A new section gets all that are required.
func (w *wish) content(slots []slot) (map[string]any, string) {
	content, spare := map[string]any{}, ""
	pick := func(fits func(s *slot) bool) *slot {
		if i := slices.IndexFunc(slots, func(s slot) bool { return content[s.Key] == nil && fits(&s) }); i >= 0 {
			return &slots[i]
		}
		return nil
	}
	words := func(s *slot) bool { return strings.HasSuffix(strings.ToLower(s.Type), "text") }
	for _, field := range slices.Backward(slices.Sorted(maps.Keys(w.values))) { // "", the text, is last
		v, as := w.values[field].text, cmp.Or(map[string]string{"name": "title"}[field], field, w.field)
		s := pick(func(s *slot) bool { return slices.Contains(strings.Fields(table.Slots[as]), s.Key) })
		if s == nil && (as == "" || field == "name" || as == "body") {
			s = cmp.Or(pick(func(s *slot) bool { return s.Rules.Required && words(s) }), pick(words))
		}
		switch {
		case v == "" || field == "status":
		case s != nil:
			spare, content[s.Key] = v, s.value(v)
		case len(slots) > 0:
			return nil, fmt.Sprintf("A %s section has no %s.", w.kind, cmp.Or(as, "other text"))
		default:
			content[cmp.Or(as, "title")] = v // the tool says what is wrong
		}
	}
	for i := range slots {
		if s := &slots[i]; w.verb == "add" && s.Rules.Required && content[s.Key] == nil {
			if words(s) && spare == "" {
				return nil, "needs"
			}
			content[s.Key] = s.value(spare)
		}
	}
	return content, ""
}

// slugged returns the address that a name gets.
func slugged(name any) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(fmt.Sprint(name)),
		func(r rune) bool { return r == ' ' || r == '/' }), "-")
}
