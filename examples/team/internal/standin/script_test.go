package standin

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// script returns the lines of testdata/script.txt below a heading.
func script(t *testing.T, heading string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/script.txt")
	require.NoError(t, err)
	below := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "# Requests"), strings.HasPrefix(line, "# Sentences"):
			below = line[2:]
		case line != "" && line[0] != '#' && strings.HasPrefix(below, heading):
			lines = append(lines, line)
		}
	}
	return lines
}

// answers returns what the guide answers to a text, and what comes of it, as script.txt names it;
// "list": it says what it knows. Nothing but that is offered or submitted then.
func answers(t *testing.T, where, text string) (said, did string) {
	t.Helper()
	guide, _, _, _ := Models(0)
	plan := draftOf(&projects[0], 0)
	input, err := json.Marshal(plan)
	require.NoError(t, err)
	tools := map[string][]string{atWork: {toolStart, toolState, toolStop}}[where]
	if tools == nil {
		tools = []string{toolAsk, toolLook, toolSubmit, toolToPlan, toolStart, toolState, toolStop, toolUndo,
			"file.list"}
	}
	req := &provider.Request{}
	for _, name := range tools {
		req.Tools = append(req.Tools, provider.Tool{Name: name})
	}
	result := map[string]string{atPlan: "The call wasn't run: nobody decided on it.", atEnd: "status: completed"}[where]
	if result != "" {
		call := provider.Part{Kind: provider.PartToolCall,
			Call: &provider.ToolCall{ID: "1", Name: toolSubmit, Input: input}}
		req.Messages = []provider.Message{provider.User("Build a command that counts words"),
			{Role: provider.RoleAssistant, Parts: []provider.Part{call}},
			{Role: provider.RoleTool, Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: "1",
				Name: toolSubmit, Parts: []provider.Part{provider.TextPart(result)}})}}}
		if where == atEnd {
			req.Messages = append(req.Messages, provider.Assistant("It is done."))
		}
	}
	req.Messages = append(req.Messages, provider.User(text))
	res, err := provider.Generate(context.Background(), guide, req)
	require.NoError(t, err)
	message := res.Message()
	said = message.Text()
	for _, c := range message.Calls() {
		did = strings.TrimSpace(did + " " + c.Name)
		for i := range projects {
			if c.Name == toolAsk && strings.Contains(string(c.Input), projects[i].Question) {
				did = projects[i].Key
			}
		}
		if c.Name != toolSubmit {
			continue
		}
		did = "say" // and the plan waits again
		for _, how := range []string{wantsReadme, wantsPackages, wantsOne, wantsOnce} {
			changed := draftOf(&projects[0], 0)
			changed.change(how)
			if text, _ := json.Marshal(changed); string(text) == string(c.Input) {
				did = how
			}
		}
		require.True(t, did != "say" || string(input) == string(c.Input), "%s", c.Input)
	}
	switch {
	case strings.HasPrefix(said, unknown) && (did == "" || did == "say" || did == toolAsk):
		did = "list"
	case did == "" && strings.HasPrefix(said, "The plan is dropped"):
		did = "drop"
	case did == "":
		did = "say"
	}
	return said, did
}

func TestTheScriptDoesWhatItKnows(t *testing.T) {
	lines := script(t, "Requests")
	require.Len(t, lines, 48)
	for _, line := range lines {
		where, said, _ := strings.Cut(line, " | ")
		said, want, _ := strings.Cut(said, " => ")
		text, did := answers(t, where, said)
		require.Equal(t, want, did, "%s: %s", line, text)
	}
}

func TestWhatIsNoRequestDoesNothing(t *testing.T) {
	lines := script(t, "Sentences")
	require.GreaterOrEqual(t, len(lines), 200)
	for _, line := range lines {
		for _, where := range []string{atStart, atPlan, atWork, atEnd} {
			_, did := answers(t, where, line)
			require.Equal(t, "list", did, "%s: %s", where, line)
		}
	}
}

// wrapped returns what makes a request one no more.
func wrapped(said string) []string {
	low, bare := strings.ToLower(said[:1])+said[1:], strings.TrimRight(said, ".?!")
	return []string{"don't " + low, "Please don't " + low, "never " + low, "Should I " + low, "Why would you " + low,
		"If I say yes, " + low, "My boss said: " + low, "I'm not asking you to " + low, "I'd rather you didn't " + low,
		"no, don't " + low, "Nicht: " + low, "don't say hello and " + low, bare + " - no wait, don't",
		bare + ". Actually no.", bare + ", or maybe not", bare + "? Not yet.", bare + ". stop, forget it",
		bare + " (just kidding)", bare + ", but only if I say so", bare + " tomorrow", bare + " and then delete it",
		bare + " if it is good", bare + " when you can", bare + ", unless it is late", bare + " instead",
		"maybe " + low, "then " + low, low + ", then don't", "I " + low, "they " + low, "you " + low, "how do I " + low}
}

func TestWhatIsMoreThanARequestIsNone(t *testing.T) {
	for _, line := range script(t, "Requests") {
		where, said, _ := strings.Cut(line, " | ")
		said, _, _ = strings.Cut(said, " => ")
		for _, text := range wrapped(said) {
			require.Equal(t, wantsList, want(where, text).wants, text)
		}
	}
}

// TestEachLineOfTheListIsARequest: and each request has a line somewhere, but for a yes.
func TestEachLineOfTheListIsARequest(t *testing.T) {
	listed := map[string]bool{wantsYes: true}
	for _, where := range []string{atStart, atPlan, atWork, atEnd} {
		said, _ := answers(t, where, "what else?")
		lines := regexp.MustCompile("(?m)^- `(.*)`$").FindAllStringSubmatch(said, -1)
		require.NotEmpty(t, lines)
		for _, m := range lines {
			text, did := answers(t, where, m[1])
			require.NotEqual(t, "list", did, "%s: %s: %s", where, m[1], text)
			listed[want(where, m[1]).wants] = true
		}
	}
	for _, f := range known {
		require.True(t, listed[f.wants], f.wants)
	}
	for i, text := range Examples() { // the buttons
		_, did := answers(t, atStart, text)
		require.Equal(t, projects[i].Key, did)
	}
}

// suggested returns what the guide says to the result of a plan, and the steps of the plan that it
// submits.
func suggested(t *testing.T, result string) (said string, steps int) {
	t.Helper()
	input, err := json.Marshal(draftOf(&projects[0], 0))
	require.NoError(t, err)
	d := deed{name: toolSubmit, failed: true, input: input, result: result}
	step := afterPlan(&turn{req: &provider.Request{}, did: []deed{d}}, &d)
	message := step.Response().Message()
	for _, c := range message.Calls() {
		var in draft
		require.NoError(t, json.Unmarshal(c.Input, &in))
		steps = len(in.Nodes)
	}
	return message.Text(), steps
}

// TestASuggestionChangesThePlan: and a reason for a rejection doesn't.
func TestASuggestionChangesThePlan(t *testing.T) {
	const instead = "A person rejected this call and suggests instead: "
	for result, want := range map[string]int{"A person rejected this call. I suggest never: add a README": 0,
		instead + "Add a README": 5, instead + "Don't do this: add a README": 4, instead + "Why two engineers?": 4,
		instead + "Only the packages": 3} {
		_, steps := suggested(t, result)
		require.Equal(t, want, steps, result)
	}
	said, _ := suggested(t, instead+"use three engineers")
	require.Contains(t, said, unknown)
	lines := regexp.MustCompile("(?m)^- `(.*)`$").FindAllStringSubmatch(said, -1)
	require.Greater(t, len(lines), 5)
	for _, m := range lines {
		said, _ := suggested(t, instead+m[1])
		require.NotContains(t, said, unknown, m[1])
	}
}

// TestTheReadmeSaysWhatIsKnown reads what it has people say.
func TestTheReadmeSaysWhatIsKnown(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	known, unknown := 0, 0
	for _, row := range regexp.MustCompile(`(?m)^\| (.*say “.*?) \| (.*) \|$`).FindAllStringSubmatch(string(text), -1) {
		for _, m := range regexp.MustCompile(`“(.*?)”`).FindAllStringSubmatch(row[1], -1) {
			lists := 0
			for _, where := range []string{atStart, atPlan, atWork, atEnd} {
				if _, did := answers(t, where, m[1]); did == "list" {
					lists++
				}
			}
			if strings.Contains(row[2], "doesn't know") {
				unknown++
				require.Equal(t, 4, lists, m[1])
			} else {
				known++
				require.Less(t, lists, 4, m[1])
			}
		}
	}
	require.Equal(t, []int{8, 2}, []int{known, unknown})
}
