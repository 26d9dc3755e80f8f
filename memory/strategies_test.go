package memory_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// step is a reply with one call, and its result.
func step(id, name, input, result string) []provider.Message {
	return []provider.Message{
		{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartToolCall,
			Call: &provider.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}}}},
		{Role: provider.RoleTool, Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: id, Name: name,
			Parts: []provider.Part{provider.TextPart(result)}})}},
	}
}

// talk is a conversation: a goal, steps, and five small ones behind them that stay.
func talk(goal string, steps ...[]provider.Message) []provider.Message {
	out := []provider.Message{provider.User(goal)}
	for _, s := range steps {
		out = append(out, s...)
	}
	for i := range 5 {
		out = append(out, step(fmt.Sprintf("last-%d", i), "wait", "{}", "ok")...)
	}
	return out
}

func compact(t *testing.T, cfg memory.Config, target int, messages []provider.Message,
	steps ...memory.Step) *memory.Prepared {
	t.Helper()
	c, err := memory.New(cfg)
	require.NoError(t, err)
	out, err := c.Compact(t.Context(), &provider.Request{Messages: messages}, memory.Context{}, target, steps)
	require.NoError(t, err)
	sound(t, out.Messages)
	return out
}

func results(messages []provider.Message) map[string]string {
	out := map[string]string{}
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Result != nil {
				out[p.Result.CallID] = p.Result.Text()
			}
		}
	}
	return out
}

func TestABigResultIsCutAndCanBeReadBack(t *testing.T) {
	big := "first line\n" + strings.Repeat("größer und größer ", 3_000) + "\nlast line"
	store := &memory.MapStore{}
	out := compact(t, memory.Config{Store: store}, 0, talk("go", step("a", "fs.read", "{}", big),
		step("b", "fs.read", "{}", "small")), memory.Step{Strategy: memory.CutResults{}})
	got := results(out.Messages)
	handle := memory.HandleOf(big)
	require.Contains(t, got["a"], handle)
	require.True(t, strings.HasPrefix(got["a"], "first line") && strings.HasSuffix(got["a"], "last line"))
	require.Less(t, len(got["a"]), 4_000)
	require.Equal(t, "small", got["b"])
	require.Equal(t, 1, out.Report.Steps[0].Cut)

	read, offset := "", 0
	for offset < len(big) {
		page, err := memory.ReadBack(t.Context(), store,
			json.RawMessage(fmt.Sprintf(`{"handle":%q,"offset":%d}`, handle, offset)))
		require.NoError(t, err)
		text, _, more := strings.Cut(page, "\n[bytes ")
		read += text
		if offset = len(read); !more {
			break
		}
	}
	require.Equal(t, big, read)
}

func TestReadBackAnswersForAModel(t *testing.T) {
	s := &memory.MapStore{}
	require.NoError(t, s.Put(t.Context(), "m-1", "größe"))
	for input, class := range map[string]fault.Class{
		`{"handle":"m-2"}`: fault.NotFound, `{}`: fault.Invalid, `[`: fault.Invalid,
		`{"handle":"m-1","offset":-1}`: fault.Invalid,
	} {
		_, err := memory.ReadBack(t.Context(), s, json.RawMessage(input))
		require.Equal(t, class, fault.Of(err), input)
	}
	_, err := memory.ReadBack(t.Context(), nil, json.RawMessage(`{"handle":"m-1"}`))
	require.Equal(t, fault.NotFound, fault.Of(err))
	for input, want := range map[string]string{
		`{"handle":"m-1"}`:                        "größe",
		`{"handle":"m-1","offset":3,"limit":400}`: "ße",
		`{"handle":"m-1","offset":99}`:            "[the text ends at byte 7]",
		`{"handle":"m-1","limit":1}`:              "grö\n[bytes 0 to 4 of 7; read on with offset 4]",
	} {
		got, err := memory.ReadBack(t.Context(), s, json.RawMessage(input))
		require.NoError(t, err)
		require.Equal(t, want, got, input)
	}
	require.True(t, json.Valid(memory.ReadTool().Schema))
}

func TestAStoreInMemoryForgetsTheOldest(t *testing.T) {
	s := &memory.MapStore{MaxBytes: 10}
	for i := range 5 {
		require.NoError(t, s.Put(t.Context(), fmt.Sprint(i), "1234"))
		require.NoError(t, s.Put(t.Context(), fmt.Sprint(i), "1234"), "again")
	}
	require.Equal(t, 2, s.Len())
	_, err := s.Get(t.Context(), "4")
	require.NoError(t, err)
	_, err = s.Get(t.Context(), "1")
	require.Equal(t, fault.NotFound, fault.Of(err))
	require.NoError(t, s.Put(t.Context(), "3", "1234"), "what is put again is the newest")
	require.NoError(t, s.Put(t.Context(), "5", "1234"))
	_, err = s.Get(t.Context(), "3")
	require.NoError(t, err)
	_, err = s.Get(t.Context(), "4")
	require.Error(t, err)
	require.Error(t, s.Put(t.Context(), "big", strings.Repeat("x", 11)))
}

func TestOnlyTheNewestOfTheSameReadsStays(t *testing.T) {
	text := strings.Repeat("line of a file\n", 50)
	failed := step("c", "fs.read", `{"path":"y"}`, "no such file")
	failed[1].Parts[0].Result.Error = true
	out := compact(t, memory.Config{}, 0, talk("go",
		step("e", "fs.size", `{}`, "12 bytes"), step("f", "fs.size", `{}`, "13 bytes"),
		step("a", "fs.read", `{"path":"x"}`, text), step("b", "fs.read", `{"path":"y"}`, text),
		step("d", "fs.read", `{ "path": "x" }`, text+"changed"), failed),
		memory.Step{Strategy: memory.DropSuperseded{}})
	got := results(out.Messages)
	require.Contains(t, got["a"], "left out")
	require.Equal(t, text, got["b"], "what failed supersedes nothing")
	require.Equal(t, text+"changed", got["d"])
	require.Equal(t, "12 bytes", got["e"], "what is short stays")
}

func TestTheLeastImportantGoesFirst(t *testing.T) {
	plain := step("plain", "fs.list", "{}", strings.Repeat("a file. ", 100))
	failed := step("failed", "fs.read", "{}", strings.Repeat("an error. ", 100))
	failed[1].Parts[0].Result.Error = true
	messages := talk("go", failed, plain)
	total := memory.CountRequest(nil, &provider.Request{Messages: messages}).Total
	out := compact(t, memory.Config{}, total-100, messages, memory.Step{Strategy: memory.Importance{}})
	got := results(out.Messages)
	require.NotContains(t, got, "plain")
	require.Contains(t, got, "failed")
}

func TestAGroupIsAsImportantAsWhatItHas(t *testing.T) {
	long := strings.Repeat("about it ", 10)
	failed := step("a", "fs.read", "{}", long)
	failed[1].Parts[0].Result.Error = true
	for _, c := range []struct {
		kind     memory.Kind
		messages []provider.Message
		want     float64
	}{
		{memory.KindReply, []provider.Message{provider.Assistant(long)}, .3},
		{memory.KindReply, []provider.Message{provider.Assistant("short")}, .1},
		{memory.KindReply, []provider.Message{provider.Assistant(long + "The Plan.")}, .5},
		{memory.KindReply, []provider.Message{provider.Assistant(strings.Repeat(long, 50) + "the plan")}, .3},
		{memory.KindReply, step("a", "fs.read", "{}", "ok"), .5},
		{memory.KindReply, failed, .7},
		{memory.KindUser, []provider.Message{provider.User("short")}, .7},
	} {
		require.InDelta(t, c.want, memory.ImportanceOf(&memory.Group{Kind: c.kind, Messages: c.messages}), 1e-9)
	}
}

func TestWhatTheQuestionIsAboutStays(t *testing.T) {
	filler := strings.Repeat(" and so on and so on", 60)
	messages := talk("go", step("weather", "look", "{}", "the weather in Oslo is cold"+filler),
		step("prices", "look", "{}", "the prices of flights to Lisbon"+filler),
		step("会员", "look", "{}", "团队会员的页面"+filler))
	for question, stays := range map[string]string{"How cold was it in Oslo?": "weather",
		"flights and their PRICES": "prices", "会员在哪里": "会员"} {
		asked := append(append([]provider.Message(nil), messages...), provider.User(question))
		total := memory.CountRequest(nil, &provider.Request{Messages: asked}).Total
		out := compact(t, memory.Config{}, total-600, asked, memory.Step{Strategy: memory.Relevance{}})
		for _, id := range []string{"weather", "prices", "会员"} {
			_, here := results(out.Messages)[id]
			require.Equal(t, id == stays, here, "%s: %s", question, id)
		}
	}
}

func TestAHugeGroupKeepsOutNothingElse(t *testing.T) { // the most relevant one doesn't fit
	messages := talk("go", step("huge", "look", "{}", strings.Repeat("lisbon ", 4_000)),
		step("small", "look", "{}", "lisbon is nice"))
	messages = append(messages, provider.User("what about lisbon?"))
	out := compact(t, memory.Config{Window: memory.Window{Size: 6_000}}, 0, messages,
		memory.Step{Strategy: memory.CutResults{}},
		memory.Step{Strategy: memory.Relevance{}})
	require.Equal(t, "what about lisbon?", provider.LastUserText(out.Messages))
}

func TestWhatIsMovedOutCanBeReadBack(t *testing.T) {
	store := &memory.MapStore{}
	out := compact(t, memory.Config{Store: store}, 0,
		talk("go", step("a", "cms.create", `{"title":"Team"}`, "created page 42"+strings.Repeat(" and so on", 50))),
		memory.Step{Strategy: memory.Offload{}})
	require.Len(t, results(out.Messages), 5)
	note := out.Messages[1].Text()
	handle := note[strings.Index(note, "m-"):][:18]
	text, err := store.Get(t.Context(), handle)
	require.NoError(t, err)
	require.Contains(t, text, `call cms.create {"title":"Team"}`)
	require.Contains(t, text, "created page 42")
}

func TestAFinishedSubgoalBecomesANoteAndAnOpenOneStays(t *testing.T) {
	work := func(id string) []provider.Message {
		return step(id, "cms.search", "{}", strings.Repeat("found a page. ", 100))
	}
	messages := talk("build the site",
		step("b1", "begin", `{"name":"hero"}`, "ok"), work("w1"),
		step("b2", "begin", `{"name":"image"}`, "ok"), work("w2"),
		step("d2", "done", `{"name":"image","facts":["image id is 7"]}`, "ok"),
		step("d1", "done",
			`{"name":"hero","status":"completed","summary":"the hero stands","facts":["section id is 9"]}`, "ok"),
		step("b3", "begin", `{"name":"footer"}`, "ok"), work("w3"))
	cfg := memory.Config{Subgoals: memory.SubgoalCalls("begin", "done"),
		Rules: []memory.Rule{{When: memory.OnSubgoal()}}}
	c, err := memory.New(cfg)
	require.NoError(t, err)
	req := &provider.Request{Messages: messages}
	out, err := c.Prepare(t.Context(), req, memory.Context{})
	require.NoError(t, err)
	require.Nil(t, out.Report, "nothing is due")
	out, err = c.Prepare(t.Context(), req, memory.Context{}, memory.SubgoalDone)
	require.NoError(t, err)
	require.Equal(t, "subgoal", out.Report.Trigger)
	sound(t, out.Messages)
	note := out.Messages[1].Text()
	require.Contains(t, note, "hero")
	require.Contains(t, note, "the hero stands")
	require.Contains(t, note, "section id is 9")
	require.Contains(t, note, "image id is 7", "the facts of a subgoal within")
	require.NotContains(t, results(out.Messages), "w1")
	require.Contains(t, results(out.Messages), "b3", "the open one")

	slid, err := c.Compact(t.Context(), &provider.Request{Messages: out.Messages}, memory.Context{}, 0,
		[]memory.Step{{Strategy: memory.Slide{}}})
	require.NoError(t, err)
	require.Contains(t, results(slid.Messages), "b3", "the beginning of an open subgoal stays")
	require.NotContains(t, results(slid.Messages), "w3")
	require.Equal(t, note, slid.Messages[1].Text(), "so do notes")
}

// TestNoEndOfASubgoalIsLeftAlone drops one end; the other would be taken for another subgoal's.
func TestNoEndOfASubgoalIsLeftAlone(t *testing.T) {
	messages := talk("go", step("b", "begin", `{"name":"x"}`, "ok"), step("w", "look", "{}", "found"),
		step("d", "done", `{}`, "ok"))
	for _, end := range []int{1, 3} {
		one := strategy{"one", func(v *memory.View) ([]memory.Edit, error) {
			if len(v.Groups) < 9 {
				return nil, nil
			}
			return []memory.Edit{{Group: end, Drop: true, Note: &memory.Note{Kind: "summary", Text: "x"}}}, nil
		}}
		out := compact(t, memory.Config{Subgoals: subgoals}, 0, messages, memory.Step{Strategy: one})
		require.NotContains(t, results(out.Messages), "b", "group %d", end)
		require.NotContains(t, results(out.Messages), "d", "group %d", end)
		require.Contains(t, results(out.Messages), "w", "group %d", end)
	}
}

func TestASubgoalWithoutASummaryHasTheModelsLastWords(t *testing.T) {
	messages := talk("go", step("b", "begin", `{"name":"x"}`, "ok"),
		step("w", "look", "{}", strings.Repeat("found it. ", 100)), step("d", "done", `{}`, "ok"))
	out := compact(t, memory.Config{Subgoals: subgoals}, 0, messages, memory.Step{Strategy: memory.Subgoals{}})
	require.Contains(t, out.Messages[1].Text(), "found it.")
}

func TestANoteOfASubgoalHasAtMost400Tokens(t *testing.T) {
	var facts []string
	for i := range 300 {
		facts = append(facts, fmt.Sprintf("page %d is done", i))
	}
	done, err := json.Marshal(map[string]any{"summary": "all pages", "facts": facts})
	require.NoError(t, err)
	messages := talk("go", step("b", "begin", `{"name":"x"}`, "ok"), step("w", "look", "{}", "found"),
		step("d", "done", string(done), "ok"))
	out := compact(t, memory.Config{Subgoals: subgoals}, 0, messages, memory.Step{Strategy: memory.Subgoals{}})
	note := out.Messages[1].Text()
	require.Contains(t, note, "all pages")
	require.LessOrEqual(t, new(memory.Estimator).CountText(note), 400)
}
