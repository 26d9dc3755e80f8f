package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// A request is one thing that a person asked for. A request that isn't understood has no scenario.
type request struct {
	text     string
	scenario *scenario
	slots    map[string]any
}

const verbs = `(?:create|make|build|add|write|list|show|preview|find|rename|change|set|describe|delete|remove|hide|publish)`

var (
	quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "’", "'")
	single = regexp.MustCompile(`'([^']*)'([ .,]|$)`)
	splits = regexp.MustCompile(`(?i)"[^"]*"|[.;!?]+(?:\s+|$)|,?\s*\bthen\b|(?:,\s*and|,|\band)\s+` + verbs + `\b`)
	verb   = regexp.MustCompile(`(?i)` + verbs + `$`)
	polite = regexp.MustCompile(
		`(?i)^(?:(?:please|now|also|and|(?:can|could) you|i want to)[ ,]+)+|(?:[ ,]+(?:please|now|instead|and|for me))*[ ,]*$|^[ ,]+`)
	locale = regexp.MustCompile(`(?i) in (german|english)$`)
	owned  = regexp.MustCompile(`(?i)^(?:(?:the|a|an|my|our|me|this|new|page)\s+)+|\s+page$|^(?:it|this|that)$|^/`)
	// in a name without quotes it begins something that isn't understood
	meddle = regexp.MustCompile(`(?i)^(?:[^"]* )?(?:with|titled|called|saying)(?: |$)|^(?-i:a|an|the)$`)
	taken  = regexp.MustCompile(`^slug "([^"]+)" exists already .*such as "([^"]+)"`)
)

// patterns are the patterns of the scenarios.
var patterns = func() (all []*regexp.Regexp) {
	for i := range scenarios {
		var alternatives []string
		for says := range strings.SplitSeq(scenarios[i].says, "\n") {
			says = regexp.MustCompile(`\bthe `).ReplaceAllString(says, `(?:(?:the|a|an|my|our|me|us|all|new) )*`)
			alternatives = append(alternatives,
				regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(says, `(?P<$1>(?:"[^"]*"|[^"])+?)`))
		}
		all = append(all, regexp.MustCompile(`(?i)^(?:`+strings.Join(alternatives, "|")+`)$`))
	}
	return all
}()

// requests splits a message into requests: at the ends of sentences, at "then", and at "and" or a
// comma before a verb.
func requests(message string) (all []request) {
	message = single.ReplaceAllString(strings.Join(strings.Fields(quotes.Replace(message)), " "), `"$1"$2`)
	message = splits.ReplaceAllStringFunc(message, func(s string) string {
		if s[0] == '"' {
			return s
		}
		return "\n" + verb.FindString(s)
	})
	for text := range strings.SplitSeq(message, "\n") {
		if text = strings.TrimSpace(polite.ReplaceAllString(text, "")); text != "" {
			all = append(all, understand(text))
		}
	}
	return all
}

// understand finds the scenario of a request.
func understand(text string) request {
	said, slots := text, map[string]any{}
	if m := locale.FindStringSubmatch(said); m != nil {
		said = said[:len(said)-len(m[0])]
		slots["locale"] = map[bool]string{true: "de", false: "en"}[strings.EqualFold(m[1], "german")]
	}
next:
	for i, p := range patterns {
		m := p.FindStringSubmatch(said)
		if m == nil {
			continue
		}
		for j, name := range p.SubexpNames() {
			value := strings.TrimRight(m[j], ",")
			if name == "" || value == "" && slots[name] != nil {
				continue
			}
			if meddle.MatchString(value) {
				continue next
			}
			if name == "page" || name == "entry" || name == "what" {
				value = owned.ReplaceAllString(value, "")
			}
			if value = strings.Trim(value, `"`); name == "name" && value != "" {
				_, n := utf8.DecodeRuneInString(value)
				value = strings.ToUpper(value[:n]) + value[n:]
			}
			slots[name] = value
		}
		return request{text, &scenarios[i], slots}
	}
	return request{text: text}
}

// fill fills a template with the slots.
func (r request) fill(text string) string {
	var b strings.Builder
	if err := template.Must(template.New("").Funcs(functions).Parse(text)).Execute(&b, r.slots); err != nil {
		return "I can't say what came of it: " + err.Error()
	}
	return b.String()
}

// input returns the input of a call without empty values.
func (r request) input(s *step) map[string]any {
	var in map[string]any
	_ = json.Unmarshal([]byte(r.fill(s.input)), &in) // a mistake in the table makes an empty input
	prune(in)
	return in
}

// prune deletes empty values.
func prune(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			prune(item)
		}
	case map[string]any:
		for key, item := range v {
			if prune(item); item == nil || item == "" || fmt.Sprint(item) == "map[]" {
				delete(v, key)
			}
		}
	}
}

// functions are those of the templates.
var functions = template.FuncMap{
	"found": func(text string) []found { return foundIn(text, "") },
	"lower": strings.ToLower,
	"q":     func(v any) string { return fmt.Sprintf("%q", v) },
	"json":  func(v any) (string, error) { raw, err := json.Marshal(v); return string(raw), err },
	"path":  func(slug any) string { return strings.TrimSuffix(fmt.Sprint("/", slug), "home") },
	"parts": func(sections any, key string) []any { // of a page: the sections of a kind
		all, _ := sections.([]any)
		return slices.DeleteFunc(slices.Clone(all), func(s any) bool { return s.(map[string]any)["section"] != key })
	},
	"plain": func(v any) any {
		if m, ok := v.(map[string]any); ok {
			return cmp.Or(m["url"], m["href"], m["targetId"], m["entryId"])
		}
		return v
	},
}

// text returns a result without the notes at its end.
func text(r *provider.ToolResult) string {
	if len(r.Parts) == 0 {
		return ""
	}
	return strings.TrimSpace(r.Parts[0].Text)
}

// decoded returns a result that is an object.
func decoded(r *provider.ToolResult) (out map[string]any) {
	_ = json.Unmarshal([]byte(text(r)), &out)
	return out
}

// The beginnings of results of calls that a person or a rule kept from running.
const (
	suggestion = "A person rejected this call and suggests instead:"
	rejection  = "A person rejected this call."
	notRun     = "The call wasn't run: "
)

// failed describes a failed call; doing is as in "I couldn't delete the page".
func failed(doing, text string) string {
	text, _, _ = strings.Cut(text, "\n{") // the observation of a conflict says the same
	if why, rejected := strings.CutPrefix(text, rejection); rejected {
		if why != "" {
			why = " (" + strings.Trim(why, " .") + ")"
		}
		return fmt.Sprintf("I didn't %s, because you rejected it%s. Nothing was changed.", doing, why)
	}
	if strings.Contains(text, "rejected: expired") {
		return fmt.Sprintf("I didn't %s: nobody approved it in time. Nothing was changed.", doing)
	}
	return fmt.Sprintf("I couldn't %s: %s.", doing, strings.TrimRight(strings.TrimPrefix(text, notRun), ". "))
}
