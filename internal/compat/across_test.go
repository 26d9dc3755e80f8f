package compat

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

var (
	acrossWrite = flag.String("across-write", "", "leave random sessions in this file, for another release of Go")
	acrossRead  = flag.String("across-read", "", "go on with the sessions that -across-write has left in this file")
	acrossN     = flag.Int("sessions", 20, "how many random sessions")
	acrossSeed  = flag.Uint64("seed", 1, "the seed of the random sessions")
)

// TestWhatOneReleaseOfGoLeavesTheOtherContinues leaves random sessions, and then decides on them
// and goes on. With -across-write or -across-read it does one of the two, so that programs of two
// releases of Go can share the work.
func TestWhatOneReleaseOfGoLeavesTheOtherContinues(t *testing.T) {
	path := *acrossWrite + *acrossRead
	if path == "" {
		path = filepath.Join(t.TempDir(), "across.db")
	}
	for _, reads := range []bool{false, true} {
		if reads && *acrossWrite != "" || !reads && *acrossRead != "" {
			continue
		}
		store, err := sqlite.Open(path, sqlite.Config{})
		require.NoError(t, err)
		x := newAcross(t, store)
		for i := range *acrossN {
			c := randomCase(*acrossSeed, uint64(i))
			name := fmt.Sprintf("%s, seed %d, %s", c.name, *acrossSeed, runtime.Version())
			require.True(t, t.Run(name, func(t *testing.T) { x.work(t, c, reads) }), "%s: %s", name, c.kind.what)
		}
		require.NoError(t, store.Close())
		t.Logf("%s: %d sessions, read %v: %d calls ran", runtime.Version(), *acrossN, reads, x.all)
	}
}

// across is a process with agents that work on one case at a time.
type across struct {
	agent *agent.Agent
	plans *plan.Runner

	mu  sync.Mutex
	t   *testing.T
	c   *acrossCase
	ran []toolCall // of the case
	all int        // of all cases
}

// A toolCall is a tool and the input of its call.
type toolCall struct {
	tool  string
	input json.RawMessage
}

func newAcross(t *testing.T, store *sqlite.Store) *across {
	x := new(across)
	helper, err := agent.New(agent.Config{Name: "helper", Journal: store, Tools: x.tools(),
		Provider: x.model(func(c *acrossCase) []toolCall { return c.helper })})
	require.NoError(t, err)
	x.agent, err = agent.New(agent.Config{Name: "clerk", Journal: store,
		Tools:    append(x.tools(), agent.AsTool(helper, tools.Spec{Name: "help"})),
		Provider: x.model(func(c *acrossCase) []toolCall { return c.calls })})
	require.NoError(t, err)
	x.plans, err = plan.New(plan.Config{Agent: x.agent})
	require.NoError(t, err)
	return x
}

// work leaves a case, or goes on with it.
func (x *across) work(t *testing.T, c *acrossCase, reads bool) {
	x.t, x.c, x.ran = t, c, nil
	do, want := c.kind.leave, c.before
	if reads {
		do, want = c.kind.goOn, c.after
	}
	do(x, c)
	x.mu.Lock()
	defer x.mu.Unlock()
	require.Len(t, x.ran, len(want))
	for i := range want {
		require.Equal(t, want[i].tool, x.ran[i].tool)
		same(t, want[i].input, x.ran[i].input, "what a tool is given is what the model has sent")
	}
	x.all += len(x.ran)
}

// model returns a model that makes one call of the case in each reply, ends when the case has no
// more, and checks that it is sent the calls that it has made.
func (x *across) model(of func(*acrossCase) []toolCall) provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		x.mu.Lock()
		defer x.mu.Unlock()
		calls, made, replies := of(x.c), 0, 0
		for i := range req.Messages {
			m := &req.Messages[i]
			if m.Role != provider.RoleAssistant {
				continue
			}
			replies++
			for _, p := range m.Parts {
				if p.Call == nil || x.c.kind.others {
					continue
				}
				for calls[made].tool == "" {
					made++
				}
				same(x.t, calls[made].input, p.Call.Input, "what a model is sent is what it has sent")
				made++
			}
		}
		if replies >= len(calls) || calls[replies].tool == "" {
			return provider.TextResponse(x.c.reply), nil
		}
		next := calls[replies]
		return providertest.Calls(providertest.CallSpec{Tool: next.tool, Input: next.input}).Response(), nil
	})
}

// tools returns tools that note what they are given.
func (x *across) tools() []tools.Tool {
	raw := func(spec tools.Spec, suspend func() error) tools.Raw {
		spec.Description, spec.Schema = "A tool: "+odd, anySchema
		return tools.Raw{Spec: spec, Run: func(ctx context.Context, in json.RawMessage) (tools.Result, error) {
			x.mu.Lock()
			defer x.mu.Unlock()
			r, resumed := tools.Resumed(ctx)
			if suspend != nil && !resumed {
				return tools.Result{}, suspend()
			}
			if resumed {
				same(x.t, x.c.state, r.State, "the state of a tool")
				same(x.t, x.c.answer, r.Answer, "the answer of a person")
			}
			x.ran = append(x.ran, toolCall{spec.Name, in})
			return tools.Result{Parts: []provider.Part{provider.TextPart(x.c.reply)}, Data: x.c.data}, nil
		}}
	}
	always := raw(tools.Spec{Name: "always", Risk: tools.High, AllowAlways: true}, nil)
	always.Scope = func(json.RawMessage) string { return x.c.scope }
	drop := raw(tools.Spec{Name: "drop", Risk: tools.High}, nil)
	drop.Preview = func(_ context.Context, in json.RawMessage) (string, error) { return "It drops " + string(in), nil }
	return []tools.Tool{
		always, drop, raw(tools.Spec{Name: "save"}, nil),
		raw(tools.Spec{Name: "question"}, func() error {
			return tools.Suspend{Kind: "question", Prompt: x.c.text, Schema: answerSchema}
		}),
		raw(tools.Spec{Name: "again"}, func() error {
			return tools.Suspend{Kind: "question", Prompt: x.c.text, Schema: answerSchema, Again: true,
				State: x.c.state}
		}),
	}
}

// same requires that two texts are the same JSON, with the same digits.
func same(t *testing.T, want, got json.RawMessage, what string) {
	t.Helper()
	require.Equal(t, decoded(t, want), decoded(t, got), what)
}

// pause runs an input until a call waits.
func (x *across) pause(in agent.Work) {
	x.t.Helper()
	_, err := x.agent.Run(x.t.Context(), in)
	require.ErrorAs(x.t, err, new(*agent.PausedError))
}

// ask runs the prompt until a call waits.
func (x *across) ask(c *acrossCase) {
	x.t.Helper()
	x.pause(agent.Input{Session: c.name, Prompt: c.text})
}

// open returns the id of the only call that waits, which has the input that was sent.
func (x *across) open(c *acrossCase) string {
	x.t.Helper()
	list, err := x.agent.Session(c.name).Pending(x.t.Context())
	require.NoError(x.t, err)
	require.Len(x.t, list, 1)
	p := list[0].Flat()[0]
	same(x.t, c.waits, p.Call.Input, "what a person is shown is what the model has sent")
	return p.ID
}

// completes runs an input to its end.
func (x *across) completes(in agent.Work) {
	x.t.Helper()
	res, err := x.agent.Run(x.t.Context(), in)
	require.NoError(x.t, err)
	require.Equal(x.t, agent.Completed, res.Status)
	if !x.c.kind.host {
		require.Equal(x.t, x.c.reply, res.Text())
	}
}

// resume decides on the only call that waits, with which the run completes.
func (x *across) resume(c *acrossCase, decide func(id string) agent.Decision) {
	x.t.Helper()
	x.completes(agent.Resume(c.name, decide(x.open(c)).By("ann "+c.text)))
}
