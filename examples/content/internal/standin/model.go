package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/humanity"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// Notice is what a program says about the model.
const Notice = "A stand-in writes: a table of texts in plain Go, not a language model"

// Model returns the stand-in for the language model.
func Model() provider.Provider { return providertest.Func(answer) }

// scenarios are the answers by the purpose of the request, which is its label Kind. Turns of the
// chat aren't among them: package script reads what they want.
var scenarios = map[string]func(prompt string) string{
	"insights": insights, "topics": topics, "skeleton": skeleton, "writer": write, "humanizer": revise, "editor": edit,
}

func answer(_ context.Context, req *provider.Request) (*provider.Response, error) {
	_, prompt, _ := strings.Cut(req.LastUserText(), "\nTask:\n")
	if f, ok := scenarios[req.Labels.Kind]; ok {
		return providertest.Say(f(prompt)).Response(), nil
	}
	return providertest.Say("The stand-in can't answer that.").Response(), nil
}

// field returns the rest of the line that begins with a name.
func field(prompt, name string) string {
	_, rest, _ := strings.Cut("\n"+prompt, "\n"+name+": ")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}

// value returns a list as the answer to a request for one.
func value(list any) string {
	text, err := json.Marshal(map[string]any{"value": list})
	if err != nil {
		return ""
	}
	return string(text)
}

// insights are the first sentences of the excerpts, and not what a model would make of them.
func insights(prompt string) string {
	var all []string
	for _, m := range found.FindAllStringSubmatch(prompt, 5) {
		all = append(all, m[1])
	}
	return value(all)
}

var found = regexp.MustCompile(`(?m)^- ([^\n]+?[.?!])(?:\s|$)`)

var angles = []struct{ title, angle string }{
	{"What a week of %s really costs", "one calendar, hour by hour"},
	{"The first mistake with %s", "told from the end"}, {"%s without a budget", "a list that fits on a card"},
	{"How to explain %s to a client", "a conversation"}, {"Five questions about %s before you begin", "a form to print"},
	{"%s after the first year", "what stays and what goes"}, {"When %s is the wrong answer", "three cases"},
	{"A day without %s", "a diary"}, {"%s and the person who says no", "both sides of a table"},
	{"The smallest version of %s", "a trial of two weeks"},
}

// topics makes as many ideas as are asked for, about what is asked for.
func topics(prompt string) string {
	want, _ := strconv.Atoi(field(prompt, "Count")) // it is a number
	var all []map[string]any
	for focus := range strings.SplitSeq(field(prompt, "Focus"), ",") {
		for _, a := range angles {
			title := upper(fmt.Sprintf(a.title, strings.TrimSpace(focus)))
			if len(all) < want && !strings.Contains(strings.ToLower(prompt), "- "+strings.ToLower(title)+"\n") {
				all = append(all, map[string]any{"title": title, "description": "A text about " + focus + ".",
					"rationale": "You asked for it, and no title of yours covers it.", "suggestedAngle": a.angle,
					"audience":      "people who begin with " + strings.TrimSpace(focus),
					"trendingScore": 0.9 - float64(len(all))*0.04, "competitionLevel": "medium"})
			}
		}
	}
	return value(all)
}

func skeleton(prompt string) string {
	var all []map[string]string
	for _, s := range pieceFor(field(prompt, "Type"), field(prompt, "Topic")).sections {
		all = append(all, map[string]string{"heading": s.heading, "placeholder": s.point, "image": s.image})
	}
	return value(all)
}

// write writes a section. It has none for headings that aren't its own. A section of the body cites
// one source; one that is written again begins with its point, and is shorter.
func write(prompt string) string {
	heading, kind, _ := strings.Cut(field(prompt, "Section"), " (")
	point := field(prompt, "Point")
	for _, s := range pieceFor(field(prompt, "Type"), field(prompt, "Title")).sections {
		if s.heading != heading || s.point != point && field(prompt, "Again") == "" {
			continue
		}
		first, rest, more := strings.Cut(s.body, "\n\n")
		if field(prompt, "Again") != "" {
			first = upper(s.point) + ". " + shorten(first)
		}
		if all := numbered.FindAllStringSubmatch(prompt, -1); kind == "body)" && len(all) > 0 {
			first += " [" + all[len(heading)%len(all)][1] + "]"
		}
		if more {
			first += "\n\n" + rest
		}
		return first
	}
	return "The stand-in has no text for this section. Its point: " + point + "."
}

// numbered finds the sources that a section can cite.
var numbered = regexp.MustCompile(`from="source (\d+): `)

// fenced finds the text to be revised.
var fenced = regexp.MustCompile(`(?s)<data-\d+ name="text">\n(.*)\n</data-\d+>`)

func revise(prompt string) string {
	m := fenced.FindStringSubmatch(prompt)
	if m == nil {
		return ""
	}
	return humanity.Revise(m[1])
}
