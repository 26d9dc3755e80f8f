package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// fileOf returns a file as a part.
func fileOf(kind, name string, data []byte) provider.Part {
	return provider.MediaPart(provider.Media{Type: kind, Name: name, Data: data})
}

// pages returns a PDF with that many pages, as far as its size in tokens goes.
func pages(n int) []byte { return []byte("%PDF-1.7\n" + strings.Repeat("<< /Type /Page >>\n", n)) }

// imageOf returns an image; one of 2,500 pixels takes more than 4,000 tokens.
func imageOf(t *testing.T, side int) []byte {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))))
	return b.Bytes()
}

// A tooLong is an input, a message or a result with which a request is too long for a model that
// takes 4,000 tokens.
type tooLong struct {
	in     agent.Input
	result tools.Result // of the tool read, which the model calls if there is one
	steer  string       // what is sent to the run meanwhile
	system string       // the instructions of the first run
	// with Config.Memory: the input is refused before anything is recorded, or the run fails; else
	// it completes, and what was cut is marked
	refused, fails bool
}

func tooLongs(t *testing.T) map[string]tooLong {
	text := strings.Repeat("My order is late. ", 2_000)
	list := []byte(`[` + strings.Repeat(`{"order": 17, "status": "late"},`, 1_000) + `{}]`)
	var files []provider.Part
	for i := range 50 {
		files = append(files, fileOf("text/markdown", fmt.Sprintf("%d.md", i), []byte(text[:5_000])))
	}
	large := imageOf(t, 2_500)
	in := func(parts ...provider.Part) agent.Input { return agent.Input{Prompt: "see these", Parts: parts} }
	read := agent.Input{Prompt: "read it"}
	result := func(parts ...provider.Part) tools.Result { return tools.Result{Parts: parts} }
	png := fileOf("image/png", "order.png", large)
	return map[string]tooLong{
		"prompt":                  {in: agent.Input{Prompt: text}},
		"text part":               {in: in(provider.TextPart(text))},
		"text file":               {in: in(fileOf("text/plain", "order.txt", []byte(text)))},
		"JSON file":               {in: in(fileOf("application/json", "orders.json", list))},
		"image":                   {in: in(png), refused: true},
		"PDF":                     {in: in(fileOf("application/pdf", "order.pdf", pages(9))), refused: true},
		"many files":              {in: in(files...)},
		"an image among files":    {in: in(files[0], png, files[1]), refused: true},
		"an image beside a text":  {in: in(provider.TextPart(text), fileOf("image/png", "order.png", imageOf(t, 100)))},
		"result":                  {in: read, result: tools.Text(text)},
		"result with a text file": {in: read, result: result(fileOf("text/csv", "orders.csv", []byte(text)))},
		"result with an image":    {in: read, result: result(provider.TextPart("the order"), png)},
		"message to the run":      {in: read, result: tools.Text("a page"), steer: text},
		"instructions":            {in: agent.Input{Prompt: "good morning"}, system: text, fails: true},
	}
}

// memories returns Config.Memory in three forms.
func memories(t *testing.T) map[string]*agent.Memory {
	summarise, err := memory.NewSummarise(memory.Summary{MaxInput: 2_000, Provider: providertest.Func(
		func(context.Context, *provider.Request) (*provider.Response, error) {
			return providertest.Say("The user has an order.").Response(), nil
		})})
	require.NoError(t, err)
	with := func(steps ...memory.Step) *agent.Memory {
		return &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 8_000}, Steps: steps}}
	}
	return map[string]*agent.Memory{"off": nil, "slide": with(memory.Step{Strategy: memory.Slide{}}),
		"summary": with(memory.Step{Strategy: summarise}, memory.Step{Strategy: memory.Slide{}})}
}

// TestWhatCannotBeSentDoesNotStay brings in what makes a request too long. What is text is cut, and
// what isn't is refused before it is recorded; without Config.Memory the run fails. Whatever
// happens, the next message is answered.
func TestWhatCannotBeSentDoesNotStay(t *testing.T) {
	for kind, c := range tooLongs(t) {
		for name, mem := range memories(t) {
			t.Run(kind+", "+name, func(t *testing.T) {
				model := &strict{limit: 4_000, chars: 4}
				var last *provider.Request
				model.Provider = providertest.Func(
					func(_ context.Context, req *provider.Request) (*provider.Response, error) {
						last = req
						if len(c.result.Parts) > 0 && req.Messages[len(req.Messages)-1].Text() == "read it" {
							return call("read", 1).Response(), nil
						}
						return say("I see.").Response(), nil
					})
				var a *agent.Agent
				read := tools.Raw{Spec: tools.Spec{Name: "read", ReadOnly: true, Schema: []byte(`{"type":"object"}`)},
					Run: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
						if c.steer != "" {
							_, err := a.Session("s").Steer(ctx, c.steer)
							require.NoError(t, err)
						}
						return c.result, nil
					}}
				system := c.system
				a, err := agent.New(agent.Config{Provider: model, Memory: mem, Journal: &journal.MapStore{},
					Tools: []tools.Tool{read},
					Compose: func(context.Context, agent.ComposeInput) (string, error) {
						return "Help." + system, nil
					}})
				require.NoError(t, err)

				c.in.Session = "s"
				res, err := a.Run(t.Context(), c.in)
				facts, failed := a.Session("s").Facts(t.Context())
				require.NoError(t, failed)
				switch {
				case mem != nil && c.refused:
					var arg *agent.ArgError
					var large *memory.ContextTooLargeError
					require.ErrorAs(t, err, &arg)
					require.ErrorAs(t, err, &large)
					require.Equal(t, "Input.Parts", arg.Field)
					require.Contains(t, large.Biggest[0].What, "order.")
					require.Contains(t, err.Error(), fmt.Sprintf("has %d tokens or more, and there is room for %d",
						large.Total, large.Window-large.Reserve))
					require.Empty(t, facts)
				case mem == nil || c.fails:
					require.Error(t, err)
					require.Equal(t, machine.CodeContext, res.Code)
				default:
					require.NoError(t, err)
					require.Equal(t, agent.Completed, res.Status)
					require.Zero(t, model.refused)
					require.Regexp(t, `left out|\[… \d+ bytes …\]`, textOf(last), "the model is told")
					require.True(t, hasCompacted(facts), "and the caller")
				}

				system = ""
				for n := range 3 {
					all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "hello"}))
					require.NoError(t, err)
					require.Equal(t, agent.Completed, all[len(all)-1].(*agent.RunEnded).Status)
					require.Equal(t, "hello", last.LastUserText())
					if n == 0 && res != nil && res.Status == agent.Failed && kind != "instructions" {
						require.Len(t, of[*machine.Compacted](all), 1)
						require.Contains(t, textOf(last), "was left out here and wasn't answered")
					}
				}
				if mem != nil {
					require.Zero(t, model.refused)
				}
				said, err := a.Session("s").Messages(t.Context())
				require.NoError(t, err)
				if res != nil {
					require.Equal(t, c.in.Prompt, said[0].Parts[0].Text, "the log has the whole")
				}
			})
		}
	}
}

// textOf returns the texts of a request's messages, and of results in them.
func textOf(req *provider.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		b.WriteString(m.Text() + "\n")
		for _, p := range m.Parts {
			if p.Result != nil {
				b.WriteString(p.Result.Text() + "\n")
			}
		}
	}
	return b.String()
}

func hasCompacted(facts []agent.Fact) bool {
	for _, f := range facts {
		if _, ok := f.(*machine.Compacted); ok {
			return true
		}
	}
	return false
}

// TestASessionThatEarlierVersionsRefusedGoesOn imports what the code wrote before it left out what
// was too long: a file, a prompt or a result, and two messages that were refused because of it.
func TestASessionThatEarlierVersionsRefusedGoesOn(t *testing.T) {
	for _, name := range []string{"file", "prompt", "result"} {
		for with, mem := range map[string]*agent.Memory{"without memory": nil, "with memory": {
			Config: memory.Config{Window: memory.Window{Size: 1_000}}}} {
			t.Run(name+" "+with, func(t *testing.T) {
				log, err := os.ReadFile(filepath.Join("testdata", "toolong", name+".jsonl"))
				require.NoError(t, err)
				replies := providertest.Script(say("Hello."), say("Yes."), say("Bye."))
				model := &strict{limit: 500, chars: 4, Provider: replies}
				a, err := agent.New(agent.Config{Provider: model, Memory: mem, Tools: []tools.Tool{textTool("a page")}})
				require.NoError(t, err)
				require.NoError(t, a.Session("s").Import(t.Context(), bytes.NewReader(log)))
				past, err := a.Session("s").Messages(t.Context())
				require.NoError(t, err)
				for range 2 {
					_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "hello"})
					require.NoError(t, err)
				}
				require.Zero(t, model.refused)
				first := replies.Requests()[0]
				require.Less(t, len(textOf(first)), 2_000)
				require.Contains(t, textOf(first), "left out here")
				if name != "file" {
					require.Equal(t, "Good morning.", first.Messages[0].Text())
				}
				now, err := a.Session("s").Messages(t.Context())
				require.NoError(t, err)
				require.Equal(t, past, now[:len(past)], "what people see stays")

				// the last of the refused messages is sent again
				starts := startsOf(t, a, "s")
				_, err = a.Run(t.Context(),
					agent.Input{Session: "s", Prompt: "hello you", Replaces: starts[len(starts)-3]})
				require.NoError(t, err)
				require.Zero(t, model.refused)
			})
		}
	}
}

// startsOf returns the numbers of the facts that started the runs of a session.
func startsOf(t *testing.T, a *agent.Agent, session string) (starts []uint64) {
	facts, err := a.Session(session).Facts(t.Context())
	require.NoError(t, err)
	for _, f := range facts {
		if f, ok := f.(*agent.RunStarted); ok {
			starts = append(starts, f.Seq)
		}
	}
	return starts
}

// exact says how many tokens a request has.
type exact struct {
	provider.Provider
	tokens int
}

func (c exact) CountTokens(context.Context, *provider.Request) (int, error) { return c.tokens, nil }

// TestFilesAreRefusedOnlyIfTheProviderCountsThemAsTooLong has a PDF of which the estimate says that
// it doesn't fit.
func TestFilesAreRefusedOnlyIfTheProviderCountsThemAsTooLong(t *testing.T) {
	for tokens, fits := range map[int]bool{3_000: true, 30_000: false} {
		model := exact{providertest.Script(say("I see."), say("Hello.")), tokens}
		a, err := agent.New(agent.Config{Provider: model, Memory: &agent.Memory{
			Config: memory.Config{Window: memory.Window{Size: 8_000}}}})
		require.NoError(t, err)
		_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "see this", Parts: []provider.Part{
			fileOf("application/pdf", "order.pdf", pages(1))}})
		if fits {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, memory.ErrContextTooLarge)
		}
	}
}

// TestWhateverStartsTheNextRunLeavesOutWhatWasTooLong has a run that fails after a call that had an
// effect.
func TestWhateverStartsTheNextRunLeavesOutWhatWasTooLong(t *testing.T) {
	big := strings.Repeat("My order is late. ", 400)
	for name, failure := range map[string]*provider.Error{
		"refused for its tokens": {Class: fault.UserFixable, Status: 400, ContextLength: &provider.ContextLength{}},
		"refused for its bytes":  {Class: fault.Permanent, Status: 413, Message: "Request exceeds the maximum size"},
	} {
		for next, start := range map[string]func(*agent.Agent) error{
			"a message": func(*agent.Agent) error { return nil },
			"a call of the host": func(a *agent.Agent) error {
				_, err := a.Run(t.Context(), agent.CallTool("s", "look", Number{1}))
				return err
			},
			"a prune": func(a *agent.Agent) error {
				_, err := a.Session("s").Prune(t.Context())
				return err
			},
			"an undo": func(a *agent.Agent) error {
				_, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
				return err
			},
		} {
			t.Run(name+", "+next, func(t *testing.T) {
				model := providertest.Script(call("change", 7), providertest.FailWith(failure), say("Hello."),
					say("Bye."))
				change := tools.Func[Number, string]{Spec: tools.Spec{Name: "change"},
					Run:  func(context.Context, Number) (string, error) { return big, nil },
					Undo: func(context.Context, Number, string) error { return nil }}
				look := tools.New(tools.Spec{Name: "look", ReadOnly: true},
					func(context.Context, Number) (string, error) { return "seen", nil })
				a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{change, look}})
				require.NoError(t, err)
				_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "change it"})
				require.Error(t, err)
				require.NoError(t, start(a))
				for range 2 {
					_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "hello"})
					require.NoError(t, err)
				}
				last := model.Requests()[3]
				require.NotContains(t, textOf(last), big)
				require.Contains(t, textOf(last),
					"change it\nNote: the following was left out here and wasn't answered, because the request with it was "+
						"too long: the result of change (7200 bytes).")
				switch next {
				case "a message", "a prune":
					require.Contains(t, textOf(last), `change {"n":7} (ok)`, "the model knows of the effect")
				case "an undo":
					require.Contains(t, textOf(last), "Undone:\n- change")
				}
			})
		}
	}
}

// TestTheCallsOfWhatWasTooLongAreNamed has 15 payments in one reply, after which the request is too
// long. The note to the next run names each of them and repeats short results, also after a prune.
func TestTheCallsOfWhatWasTooLongAreNamed(t *testing.T) {
	for name, prune := range map[string]bool{"the whole log": false, "a snapshot": true} {
		t.Run(name, func(t *testing.T) {
			tooLong := &provider.Error{Class: fault.UserFixable, Status: 400, ContextLength: &provider.ContextLength{}}
			reason := strings.Repeat("because it is late ", 100)
			type payment struct {
				N     int    `json:"n"`
				Why   string `json:"why"`
				Order string `json:"order"`
			}
			var pays []providertest.CallSpec
			for n := 100; n < 115; n++ {
				pays = append(pays, providertest.CallSpec{Tool: "pay", Input: payment{n, reason, fmt.Sprint("o-", n)}})
			}
			model := providertest.Script(providertest.Calls(pays...), call("look", 1), providertest.FailWith(tooLong),
				say("Hello."))
			pay := tools.New(tools.Spec{Name: "pay"}, func(_ context.Context, p payment) (string, error) {
				return fmt.Sprintf("receipt %d", p.N*7), nil
			})
			look := tools.New(tools.Spec{Name: "look", ReadOnly: true},
				func(context.Context, Number) (string, error) { return "three are open", nil })
			a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{pay, look}})
			require.NoError(t, err)
			_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "pay them"})
			require.Error(t, err)
			if prune {
				_, err = a.Session("s").Prune(t.Context())
				require.NoError(t, err)
			}
			_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go on with the rest"})
			require.NoError(t, err)
			told := textOf(model.Requests()[3])
			for n := 100; n < 115; n++ {
				require.Regexp(t, fmt.Sprintf(`pay \{"n":%d,.*"order":"o-%d"\}: ok: receipt %d\n`, n, n, n*7), told)
			}
			require.Contains(t, told, "three are open")
			require.Contains(t, told, "Don't make them again without asking the user")
		})
	}
}

// TestALongInputIsSentToALargerModel has an input that is too long for the agent's model. The next
// run has a larger one.
func TestALongInputIsSentToALargerModel(t *testing.T) {
	long := strings.Repeat("My order is late. ", 400)
	for name, next := range map[string]agent.Input{"the model": {Model: "large"}, "the mode": {Mode: "thorough"},
		"neither": {}} {
		t.Run(name, func(t *testing.T) {
			var last *provider.Request
			model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
				if last = req; req.Model != "large" && len(textOf(req)) > 4_000 {
					return nil, &provider.Error{Class: fault.UserFixable, Status: 400,
						ContextLength: &provider.ContextLength{}}
				}
				return say("I see.").Response(), nil
			})
			a, err := agent.New(agent.Config{Provider: model, Params: agent.Params{Model: "small"},
				Modes: []agent.Mode{{Name: "quick"}, {Name: "thorough", Model: "large"}}})
			require.NoError(t, err)
			_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: long})
			require.Error(t, err)
			next.Session, next.Prompt = "s", "now"
			_, err = a.Run(t.Context(), next)
			require.NoError(t, err)
			require.Equal(t, name != "neither", strings.Contains(textOf(last), long))
		})
	}
}

// TestAShortInputStaysIfTheHistoryIsTooLong has a conversation that the provider refuses, until the
// agent has a Config.Memory.
func TestAShortInputStaysIfTheHistoryIsTooLong(t *testing.T) {
	store := &journal.MapStore{}
	history := []provider.Message{provider.User(strings.Repeat("My order is late. ", 2_000)),
		provider.Assistant("I see.")}
	replies := providertest.Script(say("Done."))
	model := &strict{limit: 4_000, chars: 4, Provider: replies}
	for i, mem := range []*agent.Memory{nil, nil, {Config: memory.Config{Window: memory.Window{Size: 4_000}}}} {
		a, err := agent.New(agent.Config{Provider: model, Journal: store, Memory: mem})
		require.NoError(t, err)
		_, err = a.Run(t.Context(), agent.Input{Session: "s", History: history,
			Prompt: fmt.Sprintf("please refund order %d", 7+i)})
		require.Equal(t, mem == nil, err != nil)
		history = nil
	}
	for n := 7; n < 10; n++ {
		require.Contains(t, textOf(replies.Requests()[0]), fmt.Sprint("please refund order ", n))
	}
}

// TestASubagentWhoseInputIsTooLongEndsNothing has a subagent without Config.Memory.
func TestASubagentWhoseInputIsTooLongEndsNothing(t *testing.T) {
	helper := &strict{limit: 500, chars: 4, Provider: providertest.Script(say("never"))}
	sub, err := agent.New(agent.Config{Name: "helper", Provider: helper})
	require.NoError(t, err)
	model := providertest.Script(task("helper", strings.Repeat("My order is late. ", 400)), say("It is too long."),
		say("Hello."))
	a, err := agent.New(agent.Config{Provider: model,
		Tools: []tools.Tool{agent.AsTool(sub, tools.Spec{Description: "helps"})}})
	require.NoError(t, err)
	for _, prompt := range []string{"have it read", "hello"} {
		_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: prompt})
		require.NoError(t, err)
	}
	require.Equal(t, 1, helper.refused)
	require.Contains(t, textOf(model.Requests()[1]), "refused the request for its length")
}
