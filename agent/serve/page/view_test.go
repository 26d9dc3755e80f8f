package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestANoticeHasTheWordsOfAFailure(t *testing.T) {
	for want, end := range map[string]*agent.RunEnded{
		"Gemini didn't answer in time. Try again; if it happens often, use another model (GEMINI_MODEL).": {
			Status: agent.Failed, Code: machine.CodeProvider, Reason: "stream: late",
			Problem: &provider.Problem{Kind: provider.ProblemTimeout, Provider: "gemini"}},
		"The model couldn't be reached, or couldn't answer.": {
			Status: agent.Failed, Code: machine.CodeProvider, Reason: "a word of a server"},
	} {
		patches := page.NewView(page.ViewConfig{}).Event(end)
		require.Equal(t, want, patches[len(patches)-1].Item.Text)
	}
	for code, quiet := range map[string]bool{machine.CodeLeg: true, machine.CodeQueued: true,
		machine.CodeCanceled: true, machine.CodeForked: true, machine.CodeUnproven: false, machine.CodeLimit: false} {
		patches := page.NewView(page.ViewConfig{}).Event(&agent.RunEnded{Status: agent.Paused, Code: code})
		item := patches[len(patches)-1].Item
		require.NotEmpty(t, item.Text, code)
		require.Equal(t, quiet, item.Quiet, code)
	}
}

// The page offers to go on where the words of the end say so.
func TestAfterALimitOfOneRequestTheWorkCanGoOn(t *testing.T) {
	goesOn := 0
	for _, limit := range []string{"", machine.LimitSteps, machine.LimitStepsPerPhase, machine.LimitTokens,
		machine.LimitCost, machine.LimitDuration, machine.LimitSubagentCalls, machine.LimitPromptBytes,
		machine.LimitMediaBytes, machine.LimitRepeats, machine.LimitFailures, machine.LimitReplyBytes,
		machine.LimitRequirePrices} {
		end := &agent.RunEnded{Status: agent.Stopped, Code: machine.CodeLimit, Limit: limit}
		patches := page.NewView(page.ViewConfig{}).Event(end)
		item := patches[len(patches)-1].Item
		require.Equal(t, strings.Contains(item.Text, "Write “go on”"), item.GoOn, limit)
		if item.GoOn {
			goesOn++
		}
	}
	require.Equal(t, 6, goesOn)
}

type input struct {
	Page string `json:"page"`
}

// recorded returns the events of a run with text, reasoning, parallel calls, a failure, a retried
// model call and a pause that is approved.
func recorded(t *testing.T) (events []agent.Event) {
	t.Helper()
	sample, err := os.ReadFile("testdata/sample.md")
	require.NoError(t, err)
	model := providertest.Script(
		providertest.Reply(providertest.Think("First *look*."), providertest.Say(string(sample)),
			providertest.Calls(providertest.CallSpec{Tool: "look", Input: input{"home"}},
				providertest.CallSpec{Tool: "look", Input: input{"missing"}})),
		providertest.FailAfter(4, providertest.Say("this is withdrawn\n\n"+string(sample)), fault.Transient),
		providertest.Reply(providertest.Source(provider.Source{URL: "https://example.org", Title: "Example"}),
			providertest.Call("delete", input{"home"})),
		providertest.Say("Done.\n\nAll of it."),
	)
	a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "look", Description: "Look.", ReadOnly: true, NoRetries: true},
			func(_ context.Context, p input) (string, error) {
				if p.Page == "missing" {
					return "", errors.New("no such page")
				}
				return `{"title":"Home"}`, nil
			}),
		tools.New(tools.Spec{Name: "delete", Description: "Delete a page.", Risk: tools.High},
			func(context.Context, input) (string, error) { return "deleted", nil }),
	}})
	require.NoError(t, err)
	take := func(in agent.Work) {
		for ev, err := range a.Stream(t.Context(), in) {
			var paused *agent.PausedError
			if err != nil && !errors.As(err, &paused) {
				t.Fatal(err)
			}
			if ev != nil {
				events = append(events, ev)
			}
		}
	}
	take(agent.Input{Session: "s-1", Prompt: "Do it", Interactive: true})
	pending, err := a.Session("s-1").Pending(t.Context())
	require.NoError(t, err)
	require.Len(t, pending, 1)
	take(agent.Resume("s-1", agent.Approve(pending[0].ID).By("ann")))
	return events
}

func isFact(ev agent.Event) bool { return ev.Envelope().Seq > 0 }

// shown returns what a page shows that gets all these events, with text flushed now and then.
func shown(s *screen, events []agent.Event, flush func() bool) *screen {
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	for _, ev := range events {
		s.apply(v.Event(ev)...)
		if flush() {
			s.apply(v.Flush()...)
		}
	}
	s.apply(v.Flush()...)
	return s
}

func never() bool     { return false }
func sometimes() bool { return rand.IntN(3) == 0 } //nolint:gosec // any times will do

func TestTheNotesChangeNothingThatStays(t *testing.T) {
	events := recorded(t)
	var facts []agent.Event
	notes := 0
	for _, ev := range events {
		if isFact(ev) {
			facts = append(facts, ev)
		} else {
			notes++
		}
	}
	require.Greater(t, notes, 50)
	want := shown(newScreen(), facts, never)
	require.Contains(t, strings.Join(want.blocks[textOf(t, want, "Setext")], ""), "<table>")
	for range 20 {
		require.Equal(t, want, shown(newScreen(), events, sometimes))
	}
	whole := strings.Join(flat(want), "")
	require.NotContains(t, whole, "withdrawn")
	require.Contains(t, whole, "no such page")
}

// textOf returns the id of the text that contains something.
func textOf(t *testing.T, s *screen, part string) string {
	t.Helper()
	for id, blocks := range s.blocks {
		if strings.Contains(strings.Join(blocks, ""), part) {
			return id
		}
	}
	t.Fatalf("no text contains %q", part)
	return ""
}

func flat(s *screen) (out []string) {
	for _, b := range s.blocks {
		out = append(out, b...)
	}
	for _, it := range s.items {
		raw, _ := json.Marshal(it) //nolint:errchkjson // maps of JSON
		out = append(out, string(raw))
	}
	return out
}

var every = flag.Int("every", 4, "a page is cut off at one of so many events, from a random one on; 1: at each")

func TestAPageThatWasDisconnectedShowsTheSame(t *testing.T) {
	events := recorded(t)
	want := shown(newScreen(), events, never)
	for cut := rand.IntN(*every); cut < len(events); cut += *every {
		s := shown(newScreen(), events[:cut], sometimes)
		// The server begins after the last fact that the page has read, with the reply so far.
		from := cut
		for from > 0 && !isFact(events[from-1]) {
			from--
		}
		require.Equal(t, want, shown(s, events[from:], sometimes), "disconnected after %d events", cut)
	}
}

func TestALaggingPageShowsTheSame(t *testing.T) {
	events := recorded(t)
	want := shown(newScreen(), events, never)
	for at := rand.IntN(*every); at < len(events); at += *every {
		var lagged []agent.Event
		lagged = append(lagged, events[:at]...)
		lagged = append(lagged,
			&agent.Lagged{NoteMeta: agent.NoteMeta{Origin: &machine.Origin{Session: "s-1"}}, Notes: 1})
		rest := events[at:]
		for len(rest) > 0 && !isFact(rest[0]) {
			rest = rest[1:]
		}
		require.Equal(t, want, shown(newScreen(), append(lagged, rest...), sometimes))
	}
}

func TestTheSplitOfATextChangesNothing(t *testing.T) {
	sample, err := os.ReadFile("testdata/sample.md")
	require.NoError(t, err)
	reply := &agent.Replied{Meta: meta(2), Message: provider.Message{Role: provider.RoleAssistant,
		Parts: []provider.Part{provider.TextPart(string(sample))}}}
	want := shown(newScreen(), []agent.Event{reply}, never)
	for range 50 {
		var events []agent.Event
		for rest := string(sample); rest != ""; {
			n := min(1+rand.IntN(40), len(rest)) //nolint:gosec // any splits will do
			events = append(events, &agent.TextDelta{NoteMeta: noteMeta(), Text: rest[:n]})
			rest = rest[n:]
		}
		require.Equal(t, want.blocks, shown(newScreen(), append(events, reply), sometimes).blocks)
	}
}

func meta(seq uint64) agent.Meta {
	return agent.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: seq, Step: 1}
}

func noteMeta() agent.NoteMeta {
	return agent.NoteMeta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Step: 1}
}

func TestTheRecordedReplyWins(t *testing.T) {
	s := shown(newScreen(), []agent.Event{
		&agent.TextDelta{NoteMeta: noteMeta(), Text: "one\n\ntwo"},
		&agent.TextDelta{NoteMeta: noteMeta(), Index: 1, Text: "a hook takes this away"},
		&agent.Replied{Meta: meta(2), Message: provider.Message{Role: provider.RoleAssistant,
			Parts: []provider.Part{provider.TextPart("one\n\nthree")}}},
	}, func() bool { return true })
	require.Len(t, s.blocks, 1)
	require.Equal(t, []string{"<p>one</p>\n", "<p>three</p>\n"}, s.blocks["r-1.1/0"])
	require.Len(t, s.items, 1)
}

func TestEventsOfOtherSessionsAreLeftOut(t *testing.T) {
	v := page.NewView(page.ViewConfig{Session: "s-2"})
	for _, ev := range recorded(t) {
		require.Empty(t, v.Event(ev))
	}
}

func TestWhatIsApprovedIsShownWhole(t *testing.T) {
	long := `{"page":"` + strings.Repeat("x", 100<<10) + `"}`
	call := provider.ToolCall{ID: "r-1.1.0", Name: "delete", Input: json.RawMessage(long)}
	v := page.NewView(page.ViewConfig{Session: "s-1", Tool: func(string) page.Tool {
		return page.Tool{Description: "Delete a page."}
	}})
	patches := v.Event(&agent.Suspended{Meta: meta(3),
		Pause: agent.Pause{ID: "p-1", Kind: machine.PauseApproval, Call: call, Title: "Delete page “x”",
			Risk: "high", IdempotencyKey: "k-1"}})
	pause := patches[len(patches)-1].Item.Pause
	require.Equal(t, "k-1", pause.Key)
	require.Greater(t, len(pause.Input), 100<<10)
	require.Equal(t, "Delete a page.", pause.About)
	require.Equal(t, "Delete page “x”", pause.Title)
}

func TestAPauseThatReplacesAnotherEndsIt(t *testing.T) {
	call := provider.ToolCall{ID: "r-1.1.0", Name: "delete"}
	first := agent.Pause{ID: "p-1", Kind: machine.PauseApproval, Call: call}
	second := first
	second.ID, second.Replaces, second.Refused = "p-2", []string{"p-1"}, "it doesn't fit"
	s := shown(newScreen(), []agent.Event{&agent.Suspended{Meta: meta(3), Pause: first},
		&agent.Suspended{Meta: meta(4), Pause: second}}, never)
	require.Equal(t, "replaced", s.items["p-1"]["decision"].(map[string]any)["kind"])
	require.Nil(t, s.items["p-2"]["decision"])
}

func TestAStartWithoutACallShowsNothing(t *testing.T) {
	v := page.NewView(page.ViewConfig{})
	v.Event(&agent.TextDelta{})
	require.Empty(t, v.Event(&agent.ToolStarted{}))
}

func TestAPauseSaysWhoAnswersIt(t *testing.T) {
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	patches := v.Event(&agent.Suspended{Meta: meta(3), Pause: agent.Pause{ID: "p-1", Kind: "consultation",
		For: "lawyer", Call: provider.ToolCall{ID: "r-1.1.0", Name: "ask"}}})
	require.Equal(t, "lawyer", patches[len(patches)-1].Item.Pause.For)
}

func TestARunThatReplacesOthersSaysFromWhereOn(t *testing.T) {
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	first := &agent.RunStarted{Meta: meta(5), Message: provider.User("Hello")}
	again := &agent.RunStarted{Meta: meta(9), Message: provider.User("Good morning"),
		Replaces: &machine.Replaced{Start: 5}}
	patches := v.Event(first)
	require.Equal(t, uint64(5), patches[len(patches)-1].Item.Fact)
	patches = v.Event(again)
	require.Equal(t, page.Patch{Replaced: 5}, patches[0])
	patches, _ = page.NewView(page.ViewConfig{Session: "s-1"}).Newest(page.Past{Facts: []agent.Fact{again}}, 10)
	for _, p := range patches {
		require.Zero(t, p.Replaced, "it isn't shown")
	}
}

func TestACallSaysWhetherItCanBeUndone(t *testing.T) {
	v := page.NewView(page.ViewConfig{Session: "s-1", Tool: func(name string) page.Tool {
		return page.Tool{Undo: name != "mail" && name != plan.ToolChoose, UndoFailed: name == "order"}
	}})
	for tool, want := range map[string]map[tools.Status]bool{
		"mail":   {tools.OK: false, tools.Failed: false},
		"create": {tools.OK: true, tools.Unverified: true, tools.Failed: false, tools.Rejected: false},
		"order":  {tools.OK: true, tools.Failed: true, tools.Rejected: false},
		// the steps of the plan that somebody has chosen
		plan.ToolChoose: {tools.OK: true, tools.Failed: false},
	} {
		for status, undoable := range want {
			patches := v.Event(&agent.ToolFinished{Meta: meta(4), Call: &provider.ToolCall{ID: "r-1.1.0", Name: tool},
				Result: &machine.ToolResult{Status: status}})
			require.Equal(t, undoable, patches[len(patches)-1].Item.Undoable, "%s %s", tool, status)
		}
	}
}

// TestAProgramThatHasFailedIsShownWithItsLastLines: all of its output is in the result.
func TestAProgramThatHasFailedIsShownWithItsLastLines(t *testing.T) {
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	for _, exit := range []tools.Exit{{Code: 1}, {Code: 1, Answer: true}, {}} {
		res := &machine.ToolResult{Status: tools.OK, Exit: &exit}
		res.Parts = []provider.Part{provider.TextPart(exit.String() + strings.Repeat("\nok", 20) + "\nFAIL\n")}
		patches := v.Event(&agent.ToolFinished{Meta: meta(4), Call: &provider.ToolCall{ID: "r-1.1.0", Name: "run"},
			Result: res})
		c := patches[len(patches)-1].Item.Call
		require.Equal(t, "ok", c.Status)
		require.Equal(t, res.Text(), c.Result)
		if !exit.Failed() {
			require.Empty(t, c.Exit+c.Last)
			continue
		}
		require.Equal(t, "exit code 1", c.Exit)
		require.Equal(t, strings.Repeat("ok\n", 9)+"FAIL", c.Last)
	}
}

func TestWhatTheHostTellsPeopleIsANotice(t *testing.T) {
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	meta := agent.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 7}
	tell := func(value string) []page.Patch {
		return v.Event(&machine.Emitted{Meta: meta, Kind: agent.NoticeKind, Value: json.RawMessage(value)})
	}
	out := tell(`"books is completed"`)
	item := out[len(out)-1].Item
	require.Equal(t, "n7", item.ID)
	require.Equal(t, "notice", item.Code)
	require.Equal(t, "books is completed", item.Text)
	require.Empty(t, tell(`{"text":"no string"}`))
}
