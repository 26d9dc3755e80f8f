package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/humanity"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// Notice is what a program says about the model.
const Notice = "stand-in model (a table of scenarios in plain Go; not a language model)"

// Model returns the stand-in for the language model.
func Model() provider.Provider { return providertest.Func(answer) }

// scenarios are the answers by the purpose of the request, which is its label Kind. All others are
// turns of the chat.
var scenarios = map[string]func(prompt string) string{
	"insights": insights, "topics": topics, "skeleton": skeleton, "writer": section, "humanizer": revise,
}

func answer(_ context.Context, req *provider.Request) (*provider.Response, error) {
	prompt := req.LastUserText()
	if f, ok := scenarios[req.Labels.Kind]; ok {
		return providertest.Say(f(prompt)).Response(), nil
	}
	return turn(req), nil
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

func insights(prompt string) string {
	topic := field(prompt, "Topic")
	return value([]string{
		"People who write about " + topic + " begin with a small trial.",
		"The cost is mostly time, and it falls after the first month.",
		"What fails is seldom the method; nobody had the task.", "Two of five sources measured the result.",
	})
}

var angles = []struct{ title, angle, level string }{
	{"What a week of %s really costs", "one calendar, hour by hour", "low"},
	{"The first mistake everybody makes with %s", "told by somebody who made it", "medium"},
	{"%s for teams that have no time", "a list that fits on a card", "high"},
	{"How I explain %s to a client", "a conversation", "low"},
	{"Five questions about %s before you begin", "a form to print", "medium"},
	{"%s after the first year", "figures from one team", "low"},
	{"When %s is the wrong answer", "three cases", "low"}, {"A day without %s", "a diary", "medium"},
	{"%s and the person who said no", "an interview", "high"},
	{"The smallest version of %s", "a trial of two weeks", "medium"},
}

func topics(prompt string) string {
	focus, _, _ := strings.Cut(field(prompt, "Focus"), ",")
	var all []map[string]any
	for i, a := range angles {
		title := fmt.Sprintf(a.title, focus)
		if strings.Contains(strings.ToLower(prompt), "- "+strings.ToLower(title)+"\n") {
			continue
		}
		all = append(all, map[string]any{"title": upper(title), "description": "A text about " + focus +
			", from practice.", "rationale": "It fits your goals, and no title of yours covers it.",
			"trendingScore": 0.9 - float64(i)*0.04, "competitionLevel": a.level, "suggestedAngle": a.angle})
	}
	return value(all)
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func skeleton(prompt string) string {
	topic := field(prompt, "Topic")
	_, list, _ := strings.Cut(prompt, "Sections:\n")
	var all []map[string]string
	for l := range strings.Lines(list) {
		heading, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "- "), " (")
		all = append(all, map[string]string{"heading": heading, "placeholder": "what " + strings.ToLower(heading) +
			" means for " + topic, "image": heading + ": " + topic})
	}
	return value(all)
}

// section writes a paragraph with a few patterns of machines, so that revising it changes
// something.
func section(prompt string) string {
	title, heading := field(prompt, "Title"), field(prompt, "Section")
	heading, kind, _ := strings.Cut(heading, " (")
	if strings.HasPrefix(heading, "Hashtags") {
		return "#" + strings.Join(strings.FieldsFunc(title, func(r rune) bool { return r == ' ' || r == '-' }), " #") +
			" #work"
	}
	if strings.Contains(prompt, "Type: social_post") {
		return "In order to get " + title + " right, we stopped one thing a week. " + heading + ": it took a month."
	}
	source := ""
	if m := cited.FindStringSubmatch(prompt); m != nil && strings.HasPrefix(kind, "body") {
		source = " One account of it is " + m[1] + "."
	}
	return fmt.Sprintf(
		"%s is where most texts about %s begin. In order to see what changes, we asked two teams to try it for a "+
			"month. One team kept it, and the other went back after nine days.%s\n\n"+
			"It is important to note that nobody had more time than before. The team that kept it had one page that "+
			"everybody could edit — and one person who read it each morning — so nothing was lost. "+
			"Due to the fact that the page was short, it was read. If you try it, begin with one team, write down "+
			"what you expect, and look again after two weeks.", upper(heading), title, source)
}

var cited = regexp.MustCompile(`from="([^"]+)"`)

func revise(prompt string) string {
	_, text, _ := strings.Cut(prompt, "\n\n")
	return humanity.Revise(text)
}
