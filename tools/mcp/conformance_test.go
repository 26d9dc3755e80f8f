package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// conformance returns the command of the protocol's own tool, without its arguments. It needs Node
// 22, which comes with it.
func conformance(t *testing.T) []string {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join("..", "..", "internal", "stock", "node_modules"))
	require.NoError(t, err)
	program := filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	node := filepath.Join(modules, "node", "bin", "node")
	if _, err := os.Stat(program); err != nil {
		t.Skip("the conformance tool isn't installed: npm --prefix internal/stock ci")
	}
	if exec.Command(node, "--version").Run() != nil {
		t.Skip("the conformance tool needs Node 22, which npm has not installed")
	}
	return []string{node, program}
}

// conform is the client that the tool starts: an agent that calls each tool of a server once, and
// answers its questions.
func conform(url string) error {
	s, err := mcp.New(mcp.Config{Name: "c", URL: url, Trusted: true})
	if err != nil {
		return err
	}
	defer s.Close()
	ctx := context.Background()
	found, err := s.List(ctx)
	if err != nil {
		return err
	}
	var calls []providertest.Step
	for _, t := range found {
		input := object{}
		if name := t.(*tools.Definition).Name(); name == "c.add_numbers" {
			input = object{"a": 5, "b": 3}
		}
		calls = append(calls, providertest.Call(t.(*tools.Definition).Name(), input))
	}
	a, err := agent.New(agent.Config{Provider: providertest.Script(append(calls, providertest.Say("Done."))...),
		Sources: []tools.Source{s}})
	if err != nil {
		return err
	}
	in := agent.Input{Session: "s", Prompt: "Call all."}
	for {
		res, err := a.Run(ctx, in)
		if paused := (*agent.PausedError)(nil); !errors.As(err, &paused) || !paused.Started {
			return err
		}
		var decisions []agent.Decision
		for _, p := range res.Pending {
			if p.Kind == agent.PauseApproval {
				decisions = append(decisions, agent.Approve(p.ID))
				continue
			}
			value, err := defaults(p.Schema)
			if err != nil {
				return err
			}
			decisions = append(decisions, agent.Answer(p.ID, value))
		}
		in = agent.Resume("s", decisions...)
	}
}

// defaults returns the answer of somebody who leaves a form as it is.
func defaults(schema json.RawMessage) (object, error) {
	var form struct {
		Properties map[string]struct {
			Default any `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema, &form); err != nil {
		return nil, err
	}
	out := object{}
	for name, p := range form.Properties {
		if p.Default == nil {
			return nil, errors.New("the field " + name + " has no default")
		}
		out[name] = p.Default
	}
	return out, nil
}

// The scenarios of the protocol's own tool for clients, without those for what the handler of the
// SDK does (auth).
//
// One check of them fails on purpose: it wants a question within a call to be accepted at once. A
// person may take days, so the server is told that the question was dismissed, and the call is made
// again with the answer, which the other checks of that scenario see.
func TestTheClientConforms(t *testing.T) {
	command := conformance(t)
	for _, scenario := range []string{"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"} {
		t.Run(scenario, func(t *testing.T) {
			cmd := exec.Command(command[0], append(command[1:], "client", "--command", os.Args[0], "--scenario",
				scenario, "--timeout", "20000", "-o", t.TempDir())...) //nolint:gosec // of this repository
			cmd.Env = append(os.Environ(), childEnv+"=conformance")
			out, err := cmd.CombinedOutput()
			if scenario == "elicitation-sep1034-client-defaults" {
				require.Contains(t, string(out), "Passed: 5/6, 1 failed", "%s", out)
				require.Contains(t, string(out), "Expected action 'accept', got 'cancel'", "%s", out)
				return
			}
			require.NoError(t, err, "%s", out)
			require.NotContains(t, string(out), "FAILURE")
		})
	}
}
