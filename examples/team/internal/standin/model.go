package standin

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// About is what programs say about the stand-in.
const About = "A stand-in answers. The files, go build and go test are real."

// Models returns the stand-ins for the roles of the team. They write a few words in each pace; 0:
// everything at once.
func Models(pace time.Duration) (guide, librarian, engineer, tester provider.Provider) {
	return typed(guideReply, pace), typed(librarianReply, pace), typed(engineerReply, pace), typed(testerReply, pace)
}

// typed returns a model that writes its replies in pieces.
func typed(reply func(*turn) providertest.Step, pace time.Duration) provider.Provider {
	whole := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		return reply(newTurn(req)).Response(), nil
	})
	if pace == 0 {
		return whole
	}
	return provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			for chunk, err := range whole.Stream(ctx, req) {
				size := 12
				if chunk.Kind == provider.KindToolDelta {
					size = 60
				} else if chunk.Kind != provider.KindText {
					size = len(chunk.Text) + 1
				}
				for text := []rune(chunk.Text); ; {
					n := min(size, len(text))
					chunk.Text, text = string(text[:n]), text[n:]
					if !yield(chunk, err) || err != nil {
						return
					}
					select {
					case <-ctx.Done():
						yield(provider.Chunk{}, context.Cause(ctx))
						return
					case <-time.After(pace):
					}
					if len(text) == 0 {
						break
					}
				}
			}
		}
	})
}

// A turn is what a model is asked: the last message of a person, and what was done since.
type turn struct {
	req    *provider.Request
	prompt string
	told   bool // no person has written the message: it is a report
	did    []deed
	before []deed // what was done before that message
	unsaid []deed // of that, what was done just before it: nothing was said about it yet
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
		if text := m.Text(); m.Role == provider.RoleUser && text != "" {
			t.prompt, t.told = text, memory.IsHostMessage(m) || strings.HasPrefix(text, reportBegins)
			t.unsaid = nil
			if i > 0 && req.Messages[i-1].Role == provider.RoleTool {
				t.unsaid = t.did
			}
			t.before, t.did = append(t.before, t.did...), nil
		}
		for _, p := range m.Parts {
			if r := p.Result; r != nil && calls[r.CallID] != nil {
				t.did = append(t.did, deed{r.Name, calls[r.CallID].Input, r.Text(), r.Error})
			}
		}
	}
	return t
}

// reportBegins begins the messages of agent/team.
const reportBegins = "The program says, not a person:"

// last returns the newest call of a tool since the person's message; nil if there is none.
func (t *turn) last(name string) *deed { return newest(t.did, name) }

func newest(list []deed, name string) *deed {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].name == name {
			return &list[i]
		}
	}
	return nil
}

// value returns a property of the input of a deed.
func (d *deed) value(name string) string {
	var in map[string]any
	_ = json.Unmarshal(d.input, &in) // it was validated
	text, _ := in[name].(string)
	return text
}

// offered reports whether the model may call a tool.
func (t *turn) offered(name string) bool {
	for i := range t.req.Tools {
		if t.req.Tools[i].Name == name {
			return true
		}
	}
	return false
}

type object map[string]any

func call(tool string, input object) providertest.Step { return providertest.Call(tool, input) }

// saying says something, and then makes calls.
func saying(text string, calls ...providertest.CallSpec) providertest.Step {
	if text == "" {
		return providertest.Calls(calls...)
	}
	return providertest.Reply(providertest.Say(text), providertest.Calls(calls...))
}

// firstLine returns the first line of a text that isn't empty.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
