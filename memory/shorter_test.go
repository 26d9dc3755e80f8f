package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// TestACutThatSavesNothingIsNotMade has texts that are shorter than what would stand in their
// place.
func TestACutThatSavesNothingIsNotMade(t *testing.T) {
	short := "a few words that say where the keys are and who has them"
	messages := talk("go", step("a", "x", "{}", strings.Repeat("word ", 2_000)), step("b", "y", "{}", short))
	out := compact(t, memory.Config{Store: &memory.MapStore{}}, 0, messages,
		memory.Step{Strategy: memory.CutResults{Over: 10, To: 5}})
	require.Equal(t, short, results(out.Messages)["b"])
	require.Equal(t, 1, out.Report.Steps[0].Cut)

	// for want of room: many short texts, none of which gets shorter
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 2_600, Reserve: 1_000}, Store: &memory.MapStore{}})
	require.NoError(t, err)
	reply := provider.Message{Role: provider.RoleAssistant}
	tool := provider.Message{Role: provider.RoleTool}
	for i := range 30 {
		id := fmt.Sprint("c", i)
		reply.Parts = append(reply.Parts,
			provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: "x"}})
		tool.Parts = append(tool.Parts,
			provider.ResultPart(provider.ToolResult{CallID: id, Name: "x",
				Parts: []provider.Part{provider.TextPart(strings.Repeat("word ", 37+i%2))}}))
	}
	before := c.Meter().Count(&provider.Request{Messages: []provider.Message{provider.User("go"), reply, tool}}).Total
	_, err = c.Prepare(t.Context(), &provider.Request{Messages: []provider.Message{provider.User("go"), reply, tool}},
		memory.Context{})
	var large *memory.ContextTooLargeError
	require.ErrorAs(t, err, &large)
	require.LessOrEqual(t, large.Total, before, "the least that it could be brought to")
}

func TestASubgoalWhoseNoteWouldBeLongerStays(t *testing.T) {
	messages := talk("go", step("a", "x", "{}", "ok"), step("b", "x", `{"b":1}`, strings.Repeat("ok ", 300)))
	find := func(groups []memory.Group) (all []memory.Subgoal) {
		for i := range groups {
			for id := range results(groups[i].Messages) {
				if id == "a" || id == "b" {
					all = append(all,
						memory.Subgoal{Name: id, From: i, To: i + 1, Summary: strings.Repeat("so it was ", 20)})
				}
			}
		}
		return all
	}
	out := compact(t, memory.Config{Subgoals: find}, 0, messages, memory.Step{Strategy: memory.Subgoals{}})
	require.NotContains(t, results(out.Messages), "b")
	require.Contains(t, results(out.Messages), "a")
}

func TestACallsArgumentsAreInTheTextOfItsGroup(t *testing.T) {
	var texts []string
	look := strategy{"look", func(v *memory.View) ([]memory.Edit, error) {
		for i := range v.Groups {
			texts = append(texts, v.Groups[i].Text(0), v.Groups[i].Text(25))
		}
		return nil, nil
	}}
	compact(t, memory.Config{}, 0, talk("go", step("a", "cms.create", `{"title":"Team"}`, "page 42")),
		memory.Step{Strategy: look})
	require.Contains(t, texts[2], `cms.create {"title":"Team"}`)
	require.Contains(t, texts[2], "page 42")
	require.LessOrEqual(t, len(texts[3]), 25)
	require.Contains(t, texts[3], `cms.create {"title"`)
}

// TestANoteThatCannotBeTakenIsRefused has notes without a text, and of kinds that mean something
// else.
func TestANoteThatCannotBeTakenIsRefused(t *testing.T) {
	for what, n := range map[string]memory.Note{
		"without text": {Kind: "summary", Text: " \n"}, `kind ""`: {Text: "x"}, `kind "cut"`: {Kind: "cut", Text: "x"},
		`kind "gap"`: {Kind: "gap", Text: "x"},
	} {
		s := strategy{"notes", func(v *memory.View) ([]memory.Edit, error) {
			return []memory.Edit{{Group: 1, Drop: true, Note: &n}}, nil
		}}
		out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: s})
		require.Contains(t, strings.Join(out.Warnings, ""), what)
		require.False(t, out.Report.Changed())
	}
}

// TestNotesSurviveAJournal are of bytes that are no text.
func TestNotesSurviveAJournal(t *testing.T) {
	s := strategy{"notes", func(v *memory.View) ([]memory.Edit, error) {
		return []memory.Edit{{Group: 1, Drop: true,
			Note: &memory.Note{Kind: "summary", Text: "a\xffb", Facts: []string{"\xfe"}}},
			{Group: 2,
				Results: []memory.NewResult{{Message: 1, Part: 0,
					Parts: []provider.Part{provider.TextPart("c\xffd")}}}}}, nil
	}}
	out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: s})
	require.True(t, out.Report.Changed())
	require.True(t, utf8.ValidString(out.Messages[1].Text()))
	require.True(t, utf8.ValidString(results(out.Messages)["b"]))
	require.Equal(t, asJSON(t, out.Messages), asJSON(t, deepCopy(t, out.Messages)))
}

// TestAStrategysSliceIsItsOwn has it write to what it gave.
func TestAStrategysSliceIsItsOwn(t *testing.T) {
	parts := []provider.Part{provider.TextPart("short")}
	s := strategy{"again", func(v *memory.View) ([]memory.Edit, error) {
		return []memory.Edit{{Group: 1, Results: []memory.NewResult{{Message: 1, Part: 0, Parts: parts}}}}, nil
	}}
	out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: s})
	parts[0].Text = "changed"
	require.Equal(t, "short", results(out.Messages)["a"])
}

// TestAPauseThatGoesOnTwiceIsOneGroup is a reply in three messages, each with the result of the
// call before.
func TestAPauseThatGoesOnTwiceIsOneGroup(t *testing.T) {
	call := func(id string) provider.Part {
		return provider.Part{Kind: provider.PartProviderCall, Call: &provider.ToolCall{ID: id, Name: "web"}}
	}
	result := func(id string) provider.Part {
		return provider.Part{Kind: provider.PartProviderResult, Result: &provider.ToolResult{CallID: id}}
	}
	reply := func(parts ...provider.Part) provider.Message {
		return provider.Message{Role: provider.RoleAssistant, Parts: parts}
	}
	messages := talk("go", []provider.Message{reply(call("1")), reply(result("1"), call("2")),
		reply(result("2"), provider.TextPart("found")), provider.User("thanks")})
	c, err := memory.New(memory.Config{})
	require.NoError(t, err)
	look := strategy{"look", func(v *memory.View) ([]memory.Edit, error) {
		require.Len(t, v.Groups[1].Messages, 3)
		require.Len(t, v.Groups[2].Messages, 1)
		return nil, nil
	}}
	_, err = c.Compact(t.Context(), &provider.Request{Messages: messages}, memory.Context{}, 0,
		[]memory.Step{{Strategy: look}})
	require.NoError(t, err)
}

// TestATextThatIsCutToLittleKeepsItsBeginning has a window in which each text has room for some 50
// tokens.
func TestATextThatIsCutToLittleKeepsItsBeginning(t *testing.T) {
	store := &memory.MapStore{}
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 1_310, Reserve: 1_000}, Store: store})
	require.NoError(t, err)
	goal := "Find the members page. " + strings.Repeat("word ", 500)
	messages := []provider.Message{provider.User(goal)}
	reply, tool := provider.Message{Role: provider.RoleAssistant}, provider.Message{Role: provider.RoleTool}
	for i := range 3 {
		id := fmt.Sprint("c", i)
		reply.Parts = append(reply.Parts,
			provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: "x"}})
		tool.Parts = append(tool.Parts,
			provider.ResultPart(provider.ToolResult{CallID: id, Name: "x",
				Parts: []provider.Part{provider.TextPart(fmt.Sprintf("Result %d. ", i) +
					strings.Repeat("word ", 300))}}))
	}
	out, err := c.Prepare(t.Context(), &provider.Request{Messages: append(messages, reply, tool)}, memory.Context{})
	require.NoError(t, err)
	require.Contains(t, out.Messages[0].Text(), "Find the members page.")
	require.Contains(t, out.Messages[0].Text(), memory.HandleOf(goal))
	for i := range 3 {
		require.Contains(t, results(out.Messages)[fmt.Sprint("c", i)], fmt.Sprintf("Result %d.", i))
	}
}

// TestAHugeResultCostsItsOwnTextAndNotTheHistory has one that is larger than the window, after a
// history that isn't.
func TestAHugeResultCostsItsOwnTextAndNotTheHistory(t *testing.T) {
	var history [][]provider.Message
	for i := range 10 {
		history = append(history,
			step(fmt.Sprint(i), "look", fmt.Sprint(i), fmt.Sprintf("fact %d ", i)+strings.Repeat("word ", 150)))
	}
	huge := step("huge", "fs.read", "{}", "BEGIN "+strings.Repeat("word ", 60_000))
	messages := append(talk("go", history...), huge...)
	s := summarise(t, memory.Summary{Provider: says("all the facts")})
	for name, steps := range map[string][]memory.Step{"summary": memory.DefaultSteps(s), "none": {}} {
		c, err := memory.New(memory.Config{Window: memory.Window{Size: 24_096}, Steps: steps})
		require.NoError(t, err)
		out, err := c.Prepare(t.Context(), &provider.Request{Messages: messages}, memory.Context{})
		require.NoError(t, err)
		allowed(t, out.Messages)
		require.Contains(t, results(out.Messages)["huge"], "BEGIN")
		require.Greater(t, out.Count.Total, 15_000, "the room is used")
		if name == "none" {
			require.Contains(t, results(out.Messages), "0")
			require.Contains(t, results(out.Messages), "9")
			continue
		}
		require.Contains(t, asJSON(t, out.Messages), "all the facts", "a note is small and says much")
	}
}
