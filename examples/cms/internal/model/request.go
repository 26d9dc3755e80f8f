package model

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pawlkit/pawl/examples/internal/forms"
)

// A request is a form with the values of a sentence.
type request struct {
	*form
	values map[string]string
	with   func(page string) string // the sentence with the name of another page
}

var scenario = regexp.MustCompile(`(?i)^\W*(?:please )?(?:run|start) (?:the )?scenario "?([\w ]+?)"?\.?$`)

// read returns the requests of a text, which are joined by "then". If it doesn't know all of them,
// it returns none.
func read(said string) (all []*request) {
	if m := scenario.FindStringSubmatch(said); m != nil {
		said = scenarios[strings.ToLower(m[1])]
	}
	for _, r := range sentences.Read(said) {
		all = append(all, &request{&known[r.Form], r.Values,
			func(page string) string { return r.With("page", page) }})
	}
	return all
}

// fit makes the values of a sentence what they are, and reports whether it is a request.
func fit(_ int, values map[string]string, quoted map[string]bool) bool {
	for name, v := range values {
		switch {
		case v == "" || quoted[name]:
		case strings.Contains(" page name text list ", " "+name+" ") && !plain(v, name == "list"):
			return false
		case name == "text" && unicode.IsLower([]rune(v)[0]): // "something nicer" is no text
			return false
		case name == "name":
			begin := []rune(v)
			begin[0] = unicode.ToUpper(begin[0])
			values[name] = string(begin)
		case name == "kind" || name == "field":
			values[name] = strings.ToLower(v)
		}
	}
	values["to"] = strings.TrimLeft(strings.ToLower(values["to"]), "/")
	text, says := values["text"]
	return !says || text != "" || slots[values["kind"]] == "" // else nothing says what the section says
}

// plain reports whether a value without quotation marks can be nothing but a name or a text.
func plain(v string, list bool) bool {
	words := strings.Fields(strings.ToLower(v))
	return forms.Plain(v, list) && !slices.Contains(words, "new") && !slices.Contains(words, "page") &&
		!slices.Contains(words, "pages")
}

// fill returns a value of an input with the values of the request.
func (r *request) fill(v any) any {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "$"); ok {
			return r.values[name]
		}
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, r.fill(item))
		}
		return list
	case values:
		m := values{}
		for key, item := range v {
			m[r.fill(key).(string)] = r.fill(item)
		}
		return m
	}
	return v
}

// text returns a text with the values of the request.
func (r *request) text(s string) string {
	var pairs []string
	for name, v := range r.values {
		pairs = append(pairs, "{"+name+"}", v)
	}
	return strings.NewReplacer(pairs...).Replace(s)
}
