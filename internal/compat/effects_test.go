package compat

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// page is the input of each tool.
type page struct {
	Page string `json:"page"`
}

// An effects has what tools did, one line each: begun or done, the tool, and the idempotency key.
type effects struct {
	interrupt func() // ends the process in the middle of the tool publish; nil: it succeeds

	mu    sync.Mutex
	lines []string
}

func (e *effects) add(what, tool, key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, what+" "+tool+" "+key)
}

// tool returns a tool that notes what it does.
func (e *effects) tool(spec tools.Spec) tools.Tool {
	return tools.New(spec, func(ctx context.Context, _ page) (string, error) {
		e.add("begun", spec.Name, tools.IdempotencyKey(ctx))
		if e.interrupt != nil && spec.Name == "publish" {
			e.interrupt()
			<-ctx.Done()
			return "", ctx.Err()
		}
		e.add("done", spec.Name, tools.IdempotencyKey(ctx))
		return "ok", nil
	})
}

func (e *effects) save(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(e.lines, "\n")+"\n"), 0o600))
}

func load(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// newAgent returns the agent that every version has: a name, four tools, and a model that says what
// script says.
func newAgent(t *testing.T, store journal.Store, e *effects, script ...providertest.Step) *agent.Agent {
	t.Helper()
	a, err := agent.New(agent.Config{
		Name:     "clerk",
		Journal:  store,
		Provider: providertest.Script(script...),
		Tools: []tools.Tool{
			e.tool(tools.Spec{Name: "record"}),
			e.tool(tools.Spec{Name: "remove", Risk: tools.High}),
			e.tool(tools.Spec{Name: "publish", Idempotent: true}),
			e.tool(tools.Spec{Name: "announce"}),
		},
	})
	require.NoError(t, err)
	return a
}
