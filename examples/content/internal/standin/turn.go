package standin

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A scenario is a turn of the chat: when the message has one of these words, the tool is called,
// and then the turn is ended.
type scenario struct {
	when *regexp.Regexp
	tool string
	say  string
}

var turns = []scenario{
	{regexp.MustCompile(`(?i)\b(?:idea|ideas|topics|what should i write)\b`), "topicsResearch",
		"Here are topics that fit your goals."},
	{regexp.MustCompile(`(?i)\b(?:status|where are we|progress|look at)\b`), "fetchArtifact",
		"This is where it stands."},
	{regexp.MustCompile(`(?i)\b(?:sources|findings)\b`), "fetchResearch", "These are the sources."},
	{regexp.MustCompile(`(?i)\bdrafts\b`), "listDraftArtifacts", "These are your drafts."},
	{regexp.MustCompile(`(?i)\b(?:artifacts|portfolio)\b`), "fetchArtifactTopics", "These are your artifacts."},
}

var artifactLine = regexp.MustCompile(`(?m)^Artifact: ([A-Za-z0-9-]+)`)

// turn makes the next move of a turn: the tool of the scenario, then structuredResponse.
func turn(req *provider.Request) *provider.Response {
	prompt := req.LastUserText() // with the screen
	message, _, _ := strings.Cut(prompt, "\nPage: ")
	for _, s := range turns {
		if !s.when.MatchString(message) {
			continue
		}
		if out, called := result(req, s.tool); called {
			return end(s.say, out)
		}
		in := map[string]any{}
		switch s.tool {
		case "topicsResearch":
			in["contentType"] = kindOf(message)
			if m := number.FindStringSubmatch(message); m != nil {
				in["count"] = slices.Index(numbers, strings.ToLower(m[1])) + 1
			}
			if m := about.FindStringSubmatch(message); m != nil {
				in["focusArea"] = m[1]
			}
		case "fetchArtifact", "fetchResearch":
			m := artifactLine.FindStringSubmatch(prompt)
			if m == nil {
				return ask()
			}
			in["artifactId"] = m[1]
		}
		return providertest.Call(s.tool, in).Response()
	}
	return ask()
}

var (
	numbers = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	number  = regexp.MustCompile(`(?i)\b(` + strings.Join(numbers, "|") + `)\b`)
	about   = regexp.MustCompile(`(?im)\b(?:about|on|around) (.+?)(?:,? (?:for|on) (?:linkedin|(?:a |my |the )?(?:blog|post|showcase)).*)?[.?!]*$`)
)

func kindOf(message string) string {
	switch m := strings.ToLower(message); {
	case strings.Contains(m, "linkedin"), strings.Contains(m, "post") && !strings.Contains(m, "blog"):
		return "social_post"
	case strings.Contains(m, "showcase"):
		return "showcase"
	}
	return "blog"
}

// result returns what a tool has answered since the last message of the user.
func result(req *provider.Request, tool string) (data any, ok bool) {
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != provider.RoleUser; i-- {
		for _, p := range req.Messages[i].Parts {
			if p.Result != nil && p.Result.Name == tool {
				var e struct {
					Data  any
					Error any
				}
				if json.Unmarshal([]byte(p.Result.Text()), &e) != nil {
					return p.Result.Text(), true
				}
				if e.Error != nil {
					return e.Error, true
				}
				return e.Data, true
			}
		}
	}
	return nil, false
}

func end(say string, data any) *provider.Response {
	in := map[string]any{"message": say}
	if m, ok := data.(map[string]any); ok {
		in["data"] = m
		if m["count"] == 0.0 {
			in["message"] = "There are none at the moment. Begin with a new draft, or ask for topic ideas."
		}
	}
	return providertest.Reply(providertest.Say("Done, here it is."),
		providertest.Call("structuredResponse", in)).Response()
}

func ask() *provider.Response {
	return providertest.Reply(providertest.Say("One question first."),
		providertest.Call("structuredResponse", map[string]any{
			"message": "What would you like to do?", "clarificationNeeded": true,
			"options": []string{"Topic ideas", "Create content", "Show my drafts"}})).Response()
}
