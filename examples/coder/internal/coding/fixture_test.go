package coding_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/provider/providertest"
)

type m = map[string]any

// cmd calls the tool that runs a command.
func cmd(words ...string) providertest.Step {
	tool := "run"
	if len(words) > 1 && slices.Contains(strings.Fields("doc list version status diff log show"), words[1]) {
		tool = "look"
	}
	return providertest.Call(tool, m{"program": words[0], "args": words[1:]})
}

// project makes a folder with a small module.
func project(t testing.TB) (dir, db string) {
	t.Helper()
	at, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	dir = filepath.Join(at, "project")
	for name, text := range map[string]string{"go.mod": "module shop\n\ngo 1.24\n", "cart.go": "package shop\n",
		".env": "KEY=secret\n", "AGENTS.md": "Write tests first.\n"} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir, filepath.Join(at, "db", "runs.db")
}

func open(t *testing.T, cfg coding.Config) *coding.Coder {
	t.Helper()
	c, err := coding.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// do runs an input, and returns its result and what it waits for.
func do(t *testing.T, c *coding.Coder, in agent.Work) (*agent.Result, []agent.Pause) {
	t.Helper()
	res, err := c.Hub.Agent().Run(t.Context(), in)
	if paused := new(agent.PausedError); errors.As(err, &paused) {
		return res, paused.Pending
	}
	require.NoError(t, err)
	return res, nil
}

// results returns what the calls of a run came to.
func results(res *agent.Result) (list []string) {
	for _, msg := range res.Messages {
		for _, p := range msg.Parts {
			if p.Result != nil {
				list = append(list, p.Result.Text())
			}
		}
	}
	return list
}
