package memory_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// wild is a conversation with everything that providers allow: parallel calls, results in several
// messages, empty ones, images, reasoning with signatures, calls of the provider's own over several
// messages, bytes that are no text. It goes on from what it was given.
type wild struct {
	r        *rand.Rand
	messages []provider.Message
	n        int // tags and ids
	begun    []string
}

func (w *wild) tag() string { w.n++; return fmt.Sprintf("#%d# ", w.n) }

func (w *wild) text() string {
	text := randomText(w.r, randomSize(w.r)/2)
	switch w.r.IntN(12) {
	case 0:
		return text + "\xff\xfe broken \xe4"
	case 1:
		return text + "</conversation> </context>"
	}
	return text
}

func (w *wild) image() provider.Part {
	if w.r.IntN(2) == 0 {
		return provider.MediaPart(*picture(uint32(1+w.r.IntN(900)), uint32(1+w.r.IntN(900))))
	}
	return provider.MediaPart(provider.Media{Type: "text/plain", Data: []byte(w.text()), Name: "notes.txt"})
}

func (w *wild) user() {
	m := provider.User(w.tag() + w.text())
	switch w.r.IntN(12) {
	case 0:
		m.Parts = append(m.Parts, w.image())
	case 1:
		m.Parts = append(m.Parts, provider.TextPart(w.text()))
	case 2:
		if w.n > 1 {
			m.Parts = nil
		}
	}
	w.messages = append(w.messages, m)
}

// reply begins a reply; a reply never follows a reply.
func (w *wild) reply() provider.Message {
	if len(w.messages) == 0 || w.messages[len(w.messages)-1].Role == provider.RoleAssistant {
		w.user()
	}
	m := provider.Message{Role: provider.RoleAssistant}
	if w.r.IntN(3) == 0 {
		m.Parts = append(m.Parts,
			provider.Part{Kind: provider.PartReasoning, Text: "hm", Opaque: &provider.Opaque{Provider: "anthropic",
				Kind: "signature", Data: strings.Repeat("sig", w.r.IntN(60))}})
	}
	m.Parts = append(m.Parts, provider.TextPart(w.tag()+randomText(w.r, w.r.IntN(60))))
	return m
}

func (w *wild) call() provider.Part {
	w.n++
	c := &provider.ToolCall{ID: fmt.Sprint("call-", w.n), Name: "fs.read",
		Input: json.RawMessage(fmt.Sprintf(`{"path": "f%d"}`, w.r.IntN(4)))}
	switch w.r.IntN(7) {
	case 0:
		c.Name, c.Input = "begin", json.RawMessage(fmt.Sprintf(`{"name":"g%d"}`, w.n))
		w.begun = append(w.begun, fmt.Sprint("g", w.n))
	case 1:
		c.Name, c.Input = "done", json.RawMessage(`{"status":"completed","summary":"it works","facts":["id is 42"]}`)
		if len(w.begun) > 0 && w.r.IntN(2) == 0 {
			c.Input = json.RawMessage(fmt.Sprintf(`{"name":%q,"facts":["id is \ufffd"]}`,
				w.begun[w.r.IntN(len(w.begun))]))
		}
	case 2:
		c.Input, c.Invalid = nil, `{"path":`
	}
	return provider.Part{Kind: provider.PartToolCall, Call: c}
}

func (w *wild) result(c *provider.ToolCall) provider.Part {
	res := provider.ToolResult{CallID: c.ID, Name: c.Name, Error: w.r.IntN(9) == 0,
		Parts: []provider.Part{provider.TextPart(w.text())}}
	switch w.r.IntN(10) {
	case 0:
		res.Parts = append(res.Parts, w.image())
	case 1:
		res.Parts = nil
	case 2:
		res.Parts = []provider.Part{provider.TextPart("")}
	}
	return provider.ResultPart(res)
}

// step is a reply with calls, and the results of the first done of them, in one message or in
// several.
func (w *wild) step(calls, done int) {
	m := w.reply()
	for range calls {
		m.Parts = append(m.Parts, w.call())
	}
	w.messages = append(w.messages, m)
	apart := w.r.IntN(2) == 0
	for i, c := range m.Calls()[:done] {
		if i == 0 || apart {
			w.messages = append(w.messages, provider.Message{Role: provider.RoleTool})
		}
		last := &w.messages[len(w.messages)-1]
		last.Parts = append(last.Parts, w.result(c))
	}
}

// pausing is a reply in several messages, with calls of the provider's own.
func (w *wild) pausing() {
	m := w.reply()
	open := ""
	for range 1 + w.r.IntN(3) {
		if open != "" {
			m = provider.Message{Role: provider.RoleAssistant,
				Parts: []provider.Part{{Kind: provider.PartProviderResult,
					Result: &provider.ToolResult{CallID: open, Name: "web",
						Parts: []provider.Part{provider.TextPart("found")}}}, provider.TextPart(w.tag())}}
		}
		w.n++
		open = fmt.Sprint("web-", w.n)
		m.Parts = append(m.Parts,
			provider.Part{Kind: provider.PartProviderCall, Call: &provider.ToolCall{ID: open, Name: "web"}})
		w.messages = append(w.messages, m)
	}
	w.messages = append(w.messages, provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
		{Kind: provider.PartProviderResult, Result: &provider.ToolResult{CallID: open, Name: "web"}},
		provider.TextPart(w.tag() + "so it is")}})
}

func (w *wild) grow(messages int) {
	w.messages = append([]provider.Message(nil), w.messages...)
	for end := len(w.messages) + messages; len(w.messages) < end || len(w.messages) == 0; {
		switch w.r.IntN(10) {
		case 0, 1:
			w.user()
		case 2:
			w.messages = append(w.messages, w.reply())
		case 3:
			w.pausing()
		default:
			n := 1 + w.r.IntN(4)
			w.step(n, n)
		}
	}
}

// pause ends it with calls that wait; pass ends that.
func (w *wild) pause() {
	n := 1 + w.r.IntN(4)
	w.step(n, w.r.IntN(n))
}

// allowed holds a conversation to the rules of Anthropic, OpenAI and Gemini, but for calls that
// wait at its end.
func allowed(t *testing.T, messages []provider.Message) {
	t.Helper()
	require.NotEmpty(t, messages)
	require.Equal(t, provider.RoleUser, messages[0].Role, "Anthropic, Gemini: the first message is the user's")
	open := map[string]int{} // calls of the reply before that have no result yet, by the order in which they came
	answered, web := 0, ""
	for i := range messages {
		m := &messages[i]
		if m.Role == provider.RoleTool {
			for _, p := range m.Parts {
				require.Equal(t, provider.PartToolResult, p.Kind)
				k, ok := open[p.Result.CallID]
				require.True(t, ok, "OpenAI: each result answers a call right before it: %s", p.Result.CallID)
				require.Equal(t, answered, k, "Gemini: results in the order of the calls")
				answered++
				delete(open, p.Result.CallID)
			}
			continue
		}
		require.Empty(t, open, "all: each call has its result before anything else is said, at %d", i)
		answered = 0
		if i > 0 && m.Role == provider.RoleAssistant && messages[i-1].Role == provider.RoleAssistant {
			require.NotEmpty(t, web, "Anthropic, Gemini: a reply doesn't follow a reply, but for one that goes on")
		}
		if m.Role == provider.RoleUser {
			require.Empty(t, web, "Anthropic: a call of the provider's own has its result in the same turn")
			if p := m.Parts; len(p) > 0 && p[0].Opaque != nil {
				require.NotEmpty(t, strings.TrimSpace(m.Text()), "Anthropic: no empty text")
			}
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case provider.PartProviderCall:
				require.Empty(t, web)
				web = p.Call.ID
			case provider.PartProviderResult:
				require.Equal(t, web, p.Result.CallID, "Anthropic: a result follows its call")
				web = ""
			}
		}
		for k, c := range m.Calls() {
			open[c.ID] = k
		}
	}
}

// openGoals returns the calls that began the subgoals that aren't finished.
func openGoals(messages []provider.Message) (open []string) {
	good := map[string]bool{}
	for i := range messages {
		for _, p := range messages[i].Parts {
			if p.Kind == provider.PartToolResult && !p.Result.Error {
				good[p.Result.CallID] = true
			}
		}
	}
	names := map[string]string{}
	open = []string{}
	for i := range messages {
		for _, c := range messages[i].Calls() {
			var in struct{ Name string }
			_ = json.Unmarshal(c.Input, &in)
			switch {
			case !good[c.ID]:
			case c.Name == "begin":
				open, names[c.ID] = append(open, c.ID), in.Name
			case c.Name == "done":
				for k := len(open) - 1; k >= 0; k-- {
					if in.Name == "" || in.Name == names[open[k]] {
						open = append(open[:k], open[k+1:]...)
						break
					}
				}
			}
		}
	}
	return open
}

// fate is a strategy that drops, replaces and cuts at random what it may.
type fate struct{ r *rand.Rand }

func (f fate) compact(v *memory.View) (edits []memory.Edit, _ error) {
	for i := range v.Groups {
		g := &v.Groups[i]
		switch {
		case g.Pinned != "":
		case f.r.IntN(3) == 0:
			e := memory.Edit{Group: i, Drop: true}
			if f.r.IntN(4) == 0 {
				e.Note = &memory.Note{Kind: "own", Text: "note \xff", Facts: []string{"f"}}
			}
			edits = append(edits, e)
		case f.r.IntN(3) == 0 && g.Kind == memory.KindReply:
			e := memory.Edit{Group: i}
			for m := range g.Messages {
				for p := range g.Messages[m].Parts {
					if g.Messages[m].Parts[p].Kind == provider.PartToolResult {
						e.Results = append(e.Results,
							memory.NewResult{Message: m, Part: p, Parts: []provider.Part{provider.TextPart("less")}})
					}
				}
			}
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// TestWhateverIsCompactedProvidersTakeIt compacts wild conversations again and again as they grow.
func TestWhateverIsCompactedProvidersTakeIt(t *testing.T) {
	rounds := 100 * *share / 100
	compacted, tooLarge := 0, 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 11))
		cfg := memory.Config{
			Window: memory.Window{Size: []int{5_000, 9_000, 20_000, 60_000}[r.IntN(4)], Reserve: 1_000},
			Counter: &memory.Estimator{Family: []memory.Family{memory.FamilyOpenAI, memory.FamilyGemini,
				memory.FamilyAnthropic}[r.IntN(3)], Model: "claude-sonnet-4"},
			Steps:    randomSteps(t, r),
			Rules:    [][]memory.Rule{nil, {}, {{When: memory.AtShare(.3)}, {When: memory.AtTokens(2_500)}}}[r.IntN(3)],
			Keep:     r.IntN(7),
			Subgoals: []memory.Finder{nil, subgoals}[r.IntN(2)],
			Store:    []memory.Store{nil, &memory.MapStore{}, brokenStore{}, panickingStore{}}[r.IntN(4)],
		}
		if r.IntN(3) == 0 {
			cfg.Steps = []memory.Step{{Strategy: strategy{"fate", fate{r}.compact}}}
		}
		c, err := memory.New(cfg)
		require.NoError(t, err)
		w := &wild{r: r}
		system := []string{"", "be good"}[r.IntN(2)]
		for range 4 {
			w.grow(1 + r.IntN(25))
			if r.IntN(5) == 0 {
				w.pause()
			}
			in := w.messages
			allowed(t, in) // what the test is about
			before := asJSON(t, in)
			req := &provider.Request{System: system, Messages: in}
			var out *memory.Prepared
			if r.IntN(3) == 0 {
				out, err = c.Compact(t.Context(), req, memory.Context{}, r.IntN(2)*2_000, nil)
			} else {
				more := memory.Context{Screen: randomText(r, r.IntN(30))}
				for range r.IntN(3) {
					more.Fetched = append(more.Fetched, memory.Fetched{Name: "doc", Text: randomText(r, r.IntN(500))})
				}
				out, err = c.Prepare(t.Context(), req, more)
			}
			require.True(t, before == asJSON(t, in), "seed %d: what was given is as it was", seed)
			if err != nil {
				require.ErrorIs(t, err, memory.ErrContextTooLarge, "seed %d", seed)
				tooLarge++
				break
			}
			if out.Report != nil && out.Report.Changed() {
				compacted++
				require.Less(t, out.Report.After, out.Report.Before, "seed %d: %s", seed, out.Report)
			}
			require.LessOrEqual(t, out.Count.Total, out.Budget, "seed %d", seed)
			require.Equal(t, memory.CountRequest(cfg.Counter, out.Request).Total, out.Count.Total, "seed %d", seed)
			allowed(t, out.Messages)
			allowed(t, out.Request.Messages)
			same(t, in, out.Messages)
			if cfg.Subgoals != nil {
				require.Equal(t, openGoals(in), openGoals(out.Messages),
					"seed %d: open subgoals stay, and no finished one opens", seed)
			}
			w.messages = out.Messages
			if last := out.Messages[len(out.Messages)-1]; last.Role == provider.RoleTool || len(last.Calls()) > 0 {
				w.resume()
			}
		}
	}
	require.Greater(t, compacted, rounds, "the test compacts")
	require.Less(t, tooLarge, rounds/4, "the test is about what fits")
}

// resume gives the calls that wait their results.
func (w *wild) resume() {
	reply := len(w.messages) - 1
	has := 0
	for ; w.messages[reply].Role == provider.RoleTool; reply-- {
		has += len(w.messages[reply].Parts)
	}
	calls := w.messages[reply].Calls()
	if has == len(calls) {
		return
	}
	m := provider.Message{Role: provider.RoleTool}
	for _, c := range calls[has:] {
		m.Parts = append(m.Parts, w.result(c))
	}
	w.messages = append(w.messages[:len(w.messages):len(w.messages)], m)
}

// same holds what is left of a conversation to what it was, and that what must stay is left.
func same(t *testing.T, in, out []provider.Message) {
	t.Helper()
	name := func(m *provider.Message) string {
		if len(m.Parts) > 0 && m.Parts[0].Opaque != nil && m.Parts[0].Opaque.Kind != "cut" &&
			m.Role == provider.RoleUser {
			return "note " + m.Text()
		}
		if text := m.Text(); strings.Contains(text, "#") && m.Role != provider.RoleTool {
			return text[strings.Index(text, "#"):][:strings.Index(text[strings.Index(text, "#")+1:], "#")+2]
		}
		return tagOf(m)
	}
	at := map[string]int{}
	for i := range in {
		at[name(&in[i])] = i
	}
	left := map[string]bool{}
	last := -1
	for i := range out {
		k, ok := at[name(&out[i])]
		if strings.HasPrefix(name(&out[i]), "note ") || len(out[i].Parts) == 0 {
			continue
		}
		require.True(t, ok, "%q is not of this conversation", name(&out[i]))
		require.Greater(t, k, last, "the order is kept")
		last = k
		left[name(&in[k])] = true
		require.Equal(t, in[k].Role, out[i].Role)
		require.Len(t, out[i].Parts, len(in[k].Parts))
		if in[k].Role == provider.RoleAssistant {
			require.Equal(t, in[k], out[i], "a reply stays as it was, signatures too")
		}
	}
	goal, newest, reply := -1, -1, -1
	for i := range in {
		note := strings.HasPrefix(name(&in[i]), "note ")
		switch {
		case in[i].Role == provider.RoleUser && !note && goal < 0:
			goal, newest = i, i
		case in[i].Role == provider.RoleUser && !note:
			newest = i
		case in[i].Role == provider.RoleAssistant:
			reply = i
		}
	}
	for _, i := range []int{goal, newest} {
		require.True(t, len(in[i].Parts) == 0 || left[name(&in[i])], "the goal and the newest message of the user stay")
	}
	if reply < 0 || len(in[reply].Calls()) == 0 {
		return
	}
	results := 0
	for i := reply; i < len(in) && (i == reply || in[i].Role == provider.RoleTool); i++ {
		require.True(t, left[name(&in[i])], "the open step stays")
		if i > reply {
			results += len(in[i].Parts)
		}
	}
	if results < len(in[reply].Calls()) { // a pause
		n := len(in) - reply
		require.Equal(t, in[reply:], out[len(out)-n:], "nothing of an open pause is touched")
	}
}
