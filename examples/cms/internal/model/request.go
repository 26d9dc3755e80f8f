package model

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A request is a form with the values of a sentence.
type request struct {
	*form
	values        map[string]string
	before, after string // the sentence before and after the name of its page
}

var (
	quoted = regexp.MustCompile(`"([^"]+)"|[“„]([^“”„"]+)[”“]|(?:^|\s)['‘]([^'’]+(?:['’]\pL[^'’]*)*)['’]`)
	marks  = regexp.MustCompile(`“(\d+)”`)
	polite = regexp.MustCompile(`(?i)^(?:please,? )?((?:can|could) you (?:please )?|(?:would|will) you please )?` +
		`(?:i'd like (?:you )?to )?`)
	thanks   = regexp.MustCompile(`(?i)(?:,? (?:please|for me|thanks|thank you))+$`)
	follows  = regexp.MustCompile(`(?i),? (?:and )?then `)
	scenario = regexp.MustCompile(`(?i)^\W*(?:please )?(?:run|start) (?:the )?scenario "?([\w ]+?)"?\.?$`)
)

// read returns the requests of a text, which are joined by "then". If it doesn't know all of them,
// it returns none.
func read(said string) (all []*request) {
	if m := scenario.FindStringSubmatch(said); m != nil {
		said = scenarios[strings.ToLower(m[1])]
	}
	var texts []string
	said = quoted.ReplaceAllStringFunc(said, func(s string) string {
		m := quoted.FindStringSubmatch(s)
		texts = append(texts, m[1]+m[2]+m[3])
		return strings.Repeat(" ", strings.Count(s[:1], " ")) + "“" + strconv.Itoa(len(texts)-1) + "”"
	})
	said = strings.TrimRight(strings.TrimSpace(strings.ReplaceAll(said, "’", "'")), ".! ")
	if asked := polite.FindStringSubmatch(said); asked[1] != "" {
		said = strings.TrimRight(said, "? ")
	}
	for _, text := range follows.Split(said, -1) {
		text = thanks.ReplaceAllString(strings.TrimSpace(text[len(polite.FindString(text)):]), "")
		var r *request
		for i := range forms {
			for _, re := range forms[i].fits {
				if r == nil {
					r = forms[i].request(re, text, texts)
				}
			}
		}
		if r == nil {
			return nil
		}
		all = append(all, r)
	}
	return all
}

// request returns what a sentence asks for, or nil if it isn't said so.
func (f *form) request(says *regexp.Regexp, text string, texts []string) *request {
	m := says.FindStringSubmatchIndex(text)
	if m == nil {
		return nil
	}
	full := func(s, mark string) string {
		return marks.ReplaceAllStringFunc(s, func(s string) string {
			n, _ := strconv.Atoi(strings.Trim(s, "“”"))
			return mark + texts[min(n, len(texts)-1)] + mark
		})
	}
	r := &request{form: f, values: map[string]string{}}
	for i, name := range says.SubexpNames() {
		if name == "" || m[2*i] < 0 {
			continue
		}
		v := text[m[2*i]:m[2*i+1]]
		if name == "page" {
			r.before, r.after = full(text[:m[2*i]], `"`), full(text[m[2*i+1]:], `"`)
		}
		switch {
		case marks.MatchString(v):
			v = strings.TrimSpace(full(v, ""))
		case strings.Contains(" page name text list ", " "+name+" ") && !plain(v, name == "list"):
			return nil
		case name == "text" && unicode.IsLower([]rune(v)[0]): // "something nicer" is no text
			return nil
		case name == "name":
			begin := []rune(v)
			begin[0] = unicode.ToUpper(begin[0])
			v = string(begin)
		case name == "kind" || name == "field":
			v = strings.ToLower(v)
		}
		if name == "to" {
			v = strings.TrimLeft(strings.ToLower(v), "/")
		}
		if r.values[name] = v; v == "" {
			return nil
		}
	}
	if slots[r.values["kind"]] != "" && r.values["text"] == "" && slices.Contains(says.SubexpNames(), "text") {
		return nil // nothing says what it says
	}
	return r
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

// loose are words that a value without quotation marks doesn't have: they begin a condition, a
// retraction, or another request.
var loose = strings.Fields(`if when unless until till before after once while because so but or nor not no never
	none nothing nobody don't dont can't won't actually wait instead except without assuming only later tomorrow
	today tonight soon now yet it them this that everything anything all every either to with under below above into
	new page pages`)

// plain reports whether a value without quotation marks can be nothing but a name or a text. A list
// may have commas.
func plain(v string, list bool) bool {
	if strings.ContainsAny(v, "?!;:…–—") || strings.Contains(v, " - ") || strings.Contains(v, ". ") ||
		strings.Contains(v, "..") || !list && strings.Contains(v, ",") {
		return false
	}
	all := strings.Fields(v)
	for i, word := range all {
		joins := !list && word == "and" && i+1 < len(all) && unicode.IsLower([]rune(all[i+1])[0])
		if joins || slices.Contains(loose, strings.ToLower(strings.Trim(word, ",.()"))) {
			return false
		}
	}
	return true
}
