package standin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// About is what programs say about the stand-in.
const About = "A stand-in answers: rules, and no language model. The files, go and git are real."

// Requests are examples of what the stand-in knows.
var Requests = []string{"Fix the failing test", "Add a function with a test", "Where is Lines defined?",
	"Run the tests and say what fails", "Review what changed and commit it"}

// NoneOfThese is the last choice where the stand-in offers its Requests.
const NoneOfThese = "None of these"

// New returns the stand-in. It writes a word in each pace; 0: everything at once. It keeps nothing
// between calls: all it knows is in the request.
func New(pace time.Duration) provider.Provider {
	whole := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		return newTurn(req).reply().Response(), nil
	})
	return provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			for chunk, err := range whole.Stream(ctx, req) {
				if pace > 0 && chunk.Kind == provider.KindText {
					select {
					case <-ctx.Done():
						yield(provider.Chunk{}, context.Cause(ctx))
						return
					case <-time.After(pace):
					}
				}
				if !yield(chunk, err) {
					return
				}
			}
		}
	})
}

// A turn is what the model is asked: the last message of a person, and what was done since.
type turn struct {
	req     *provider.Request
	prompt  string
	midway  bool     // the message came while something was being done
	earlier []string // messages of persons before that one
	did     []deed   // since that message
	before  []deed
	wish    wish
}

// A deed is a call with its result.
type deed struct {
	name   string
	input  json.RawMessage
	result string
	failed bool
}

func newTurn(req *provider.Request) *turn {
	t := &turn{req: req}
	calls := make(map[string]*provider.ToolCall)
	for i := range req.Messages {
		m := &req.Messages[i]
		for _, c := range m.Calls() {
			calls[c.ID] = c
		}
		if text := m.Text(); m.Role == provider.RoleUser && text != "" && !memory.IsHostMessage(m) {
			if t.prompt != "" {
				t.earlier = append(t.earlier, t.prompt)
			}
			t.prompt, t.midway = text, i > 0 && req.Messages[i-1].Role == provider.RoleTool
			t.before, t.did = append(t.before, t.did...), nil
		}
		for _, p := range m.Parts {
			if r := p.Result; r != nil && calls[r.CallID] != nil {
				t.did = append(t.did, deed{r.Name, calls[r.CallID].Input, r.Text(), r.Error})
			}
		}
	}
	t.wish = t.resolve()
	return t
}

// resolve returns what the message asks for, which may be what an earlier one did.
func (t *turn) resolve() wish {
	w := understand(t.prompt)
	if d := t.last("ask"); d != nil && !d.failed {
		return understand(d.result)
	}
	if last := t.begun(w.act); last != nil {
		limits := intentless(w.rest) && (w.limits[keepName] || t.midway && len(w.limits) > 0)
		agrees := last.act == "propose" && (intent.Yes(w.rest) || w.act == doesGoOn)
		if w.act == doesGoOn || limits || agrees {
			for l := range w.limits {
				last.limits[l] = true
			}
			if agrees {
				last.act = cmp.Or(last.then, "mend")
				delete(last.limits, noWrite)
			}
			return *last
		}
	}
	switch {
	case w.act == doesGoOn:
		w.act = doesAnswer
	case w.act == "add" && addition(w.text) == "":
		w.act = doesOffer
	case (w.act == "edit" || w.then == "edit") && parseEdit(w.rest) == nil:
		w.act = doesOffer
	}
	return w
}

// begun returns what was asked for before a message that only says how to go on; nil: nothing.
func (t *turn) begun(act string) *wish {
	for i := len(t.earlier) - 1; i >= 0 && (act == doesAnswer || act == doesGoOn); i-- {
		if e := understand(t.earlier[i]); reads(e.act) || e.edits() || e.act == "commit" {
			return &e
		}
	}
	return nil
}

// reply decides what to do next.
func (t *turn) reply() providertest.Step {
	if stop := t.trouble(); stop != "" {
		return providertest.Say(stop)
	}
	switch w := &t.wish; {
	case w.act == doesOffer:
		return t.offer()
	case w.edits() && t.planning():
		return t.plan()
	}
	switch t.wish.act {
	case "mend", "propose":
		if t.wish.then == "edit" || t.wish.then == "add" {
			return providertest.Say("I would do exactly that, and then run the tests. Say yes, and I do it.")
		}
		return t.mend()
	case "add":
		return t.add()
	case "edit":
		return t.edit()
	case "find":
		return t.find()
	case "check":
		return t.check()
	case "review":
		return t.review()
	case "commit":
		return t.commit(nil)
	}
	return providertest.Say(t.answer())
}

// last returns the newest call of a tool since the person's message; nil if there is none.
func (t *turn) last(name string) *deed {
	for i := len(t.did) - 1; i >= 0; i-- {
		if t.did[i].name == name {
			return &t.did[i]
		}
	}
	return nil
}

// ran returns the newest run of a program with these first arguments that nothing was changed
// after; nil if there is none.
func (t *turn) ran(program string, args ...string) *deed {
	for i := len(t.did) - 1; i >= 0; i-- {
		d := &t.did[i]
		if changes(d) && !d.failed {
			return nil
		}
		var in struct {
			Program string
			Args    []string
		}
		if d.name == "run" && json.Unmarshal(d.input, &in) == nil && in.Program == program &&
			strings.Contains(d.result, "exit code") && len(in.Args) >= len(args) &&
			slices.Equal(in.Args[:len(args)], args) {
			return d
		}
	}
	return nil
}

func changes(d *deed) bool { return d.name == "file.edit" || d.name == "file.write" }

// value returns a property of the input of a deed.
func (d *deed) value(name string) string {
	var in map[string]any
	_ = json.Unmarshal(d.input, &in) // it was validated
	text, _ := in[name].(string)
	return text
}

// passed reports whether a program ended with 0.
func (d *deed) passed() bool { return strings.HasPrefix(d.result, "exit code 0") }

// output returns what a program has written.
func (d *deed) output() string {
	_, text, _ := strings.Cut(d.result, "\n")
	return strings.TrimSpace(text)
}

// offered reports whether the model may call a tool, and whether its schema has a word.
func (t *turn) offered(name, word string) bool {
	return slices.ContainsFunc(t.req.Tools, func(tool provider.Tool) bool {
		return tool.Name == name && bytes.Contains(tool.Schema, []byte(word))
	})
}

type object map[string]any

// call calls a tool after a text, unless the person has rejected the same call, or it failed twice.
func (t *turn) call(text, tool string, input object) providertest.Step {
	wanted := raw(input)
	failed := 0
	for i := range t.did {
		if d := &t.did[i]; d.name == tool && d.failed && same(d.input, wanted) {
			failed++
			if _, rejected := d.rejected(); rejected || failed > 1 {
				return providertest.Say("I stop here: " + firstLine(d.result))
			}
		}
	}
	if text == "" {
		return providertest.Call(tool, input)
	}
	return providertest.Reply(providertest.Say(text), providertest.Call(tool, input))
}

func (t *turn) run(text, program string, args ...string) providertest.Step {
	if !t.offered("run", `"`+program+`"`) {
		return providertest.Say("I can't run " + program + " here.")
	}
	return t.call(text, "run", object{"program": program, "args": args})
}

func same(a, b json.RawMessage) bool {
	var x, y any
	_, _ = json.Unmarshal(a, &x), json.Unmarshal(b, &y)
	one, _ := json.Marshal(x)
	other, _ := json.Marshal(y)
	return bytes.Equal(one, other)
}

// firstLine returns the first line of a text that isn't empty.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
