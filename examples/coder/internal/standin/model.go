package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// About is what programs say about the stand-in.
const About = "A stand-in answers: a script, and no language model. The files, go and git are real."

// Requests are examples of what the stand-in knows.
var Requests = []string{"Fix the failing test", "Add a function with a test", "Where is Lines defined?",
	"Run the tests and say what fails", "Review what changed and commit it"}

// name is that of the model.
const name = "stand-in"

type model struct{ provider.Func }

// Info says that it is free of charge.
func (model) Info() provider.ModelInfo {
	return provider.ModelInfo{ID: name, Prices: new(provider.Prices)}
}

// New returns the stand-in. It writes a word in each pace; 0: everything at once. It keeps nothing
// between calls: all it knows is in the request.
func New(pace time.Duration) provider.Provider {
	return model{func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		step := providertest.WithIDs(newTurn(req).reply(), "") // the agent makes ids
		script := providertest.Script(providertest.Slow(pace, step)).Stream(ctx, req)
		return func(yield func(provider.Chunk, error) bool) {
			for chunk, err := range script {
				if chunk.Kind == provider.KindStart {
					chunk.Name = name
				}
				if !yield(chunk, err) {
					return
				}
			}
		}
	}}
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
	name string
	in   struct {
		Path, Old, Program string
		Args               []string
	}
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
			t.earlier = append(t.earlier, t.prompt)
			t.prompt, t.midway = text, i > 0 && req.Messages[i-1].Role == provider.RoleTool
			t.before, t.did = append(t.before, t.did...), nil
		}
		for _, p := range m.Parts {
			if r := p.Result; r != nil && calls[r.CallID] != nil {
				d := deed{name: r.Name, result: r.Text(), failed: r.Error}
				_ = json.Unmarshal(calls[r.CallID].Input, &d.in) // it was validated
				t.did = append(t.did, d)
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
	last := t.begun()
	switch {
	case last == nil:
		return w
	case w.act == doesYes && last.act == doesPropose:
		last.act = doesMend
	case w.act == doesGoOn, w.act == doesLimit && t.midway:
	default:
		return w
	}
	maps.Copy(last.limits, w.limits)
	return *last
}

// begun returns what was asked for before the message; nil: nothing.
func (t *turn) begun() *wish {
	for _, text := range slices.Backward(t.earlier) {
		if e := understand(text); reads(e.act) || edits(e.act) || e.act == doesCommit {
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
	if edits(t.wish.act) && t.planning() {
		return t.plan()
	}
	return acts[t.wish.act](t)
}

var acts = map[string]func(*turn) providertest.Step{
	doesMend: (*turn).mend, doesPropose: (*turn).propose, doesAdd: (*turn).add, doesComment: (*turn).edit,
	doesRename: (*turn).edit, doesAppend: (*turn).edit, doesReplace: (*turn).edit, doesFind: (*turn).find,
	doesCheck: (*turn).check, doesReview: (*turn).review, doesCommit: (*turn).review, doesOffer: (*turn).offer,
	doesHelp: (*turn).answer, doesGoOn: (*turn).answer, doesYes: (*turn).answer, doesNo: (*turn).answer,
	doesLimit: (*turn).answer, doesUndo: (*turn).answer,
}

// rejected begins the reason for a rejection.
var rejected = regexp.MustCompile(`A person rejected this call(?: and suggests instead:|\.)`)

// trouble returns why the stand-in can't go on; empty: it can. What a person forbids in the reason
// of a rejection ("keep the name", "don't commit") holds from then on.
func (t *turn) trouble() string {
	times, last := 0, len(t.did)-1
	for i := range t.did {
		d := &t.did[i]
		at := rejected.FindStringIndex(d.result)
		if at == nil || !d.failed || d.name == "ask" || d.name == "plan.submit" {
			continue
		}
		times++
		reason := strings.TrimSpace(d.result[at[1]:])
		said := understand(reason).limits
		maps.Copy(t.wish.limits, said)
		if i == last && (len(said) == 0 || times > 2) {
			return "Then I leave it as it is. " + reason + "\n\nSay “go on”, and maybe: keep the names, don't commit."
		}
	}
	if last > 0 && t.did[last].failed && t.did[last-1].failed && times == 0 {
		return "I stop here: " + clip(t.did[last].result, 1)
	}
	return ""
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

// ran returns the newest run of a command that nothing was changed after; nil if there is none.
func (t *turn) ran(program, command string) *deed {
	for i := len(t.did) - 1; i >= 0 && !t.did[i].changed(""); i-- {
		d := &t.did[i]
		if d.ran(program, command) && strings.HasPrefix(d.result, "exit code") {
			return d
		}
	}
	return nil
}

func (d *deed) ran(program, command string) bool {
	return d.in.Program == program && len(d.in.Args) > 0 && d.in.Args[0] == command
}

// changed reports whether a deed has changed a file; any for "".
func (d *deed) changed(file string) bool {
	return (d.name == "file.edit" || d.name == "file.write") && !d.failed && (file == "" || d.in.Path == file)
}

// passed reports whether a program ended with 0.
func (d *deed) passed() bool { return strings.HasPrefix(d.result, "exit code 0") }

// body returns a result without its first line, which is about the rest.
func (d *deed) body() string {
	_, text, _ := strings.Cut(d.result, "\n")
	return text
}

// planning reports whether the mode is that of package policy in which nothing is changed or run.
func (t *turn) planning() bool { return strings.Contains(t.req.System, "The mode is plan:") }

// offered reports whether the model may call a tool whose schema has a word.
func (t *turn) offered(name, word string) bool {
	return slices.ContainsFunc(t.req.Tools, func(tool provider.Tool) bool {
		return tool.Name == name && bytes.Contains(tool.Schema, []byte(word))
	})
}

type object map[string]any

// call calls a tool after a text, which may be empty.
func call(text, tool string, input object) providertest.Step {
	if text == "" {
		return providertest.Call(tool, input)
	}
	return providertest.Reply(providertest.Say(text), providertest.Call(tool, input))
}

func (t *turn) run(text, program string, args ...string) providertest.Step {
	tool := map[bool]string{true: "look", false: "run"}[args[0] == "status" || args[0] == "diff"]
	switch {
	case tool == "run" && t.planning():
		return providertest.Say("The mode is plan, in which I run nothing. Switch it with /mode, and say “go on”.")
	case !t.offered(tool, `"`+program+`"`):
		return providertest.Say("I can't run " + program + " here. The files are as I left them.")
	}
	return call(text, tool, object{"program": program, "args": args})
}
