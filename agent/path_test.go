package agent_test

import (
	"context"
	"iter"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
)

type tracedModel struct{ seen map[string]bool }

func (m *tracedModel) EndsWithContext() bool { return true }

func (m *tracedModel) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		callers(m.seen)
		for _, c := range []provider.Chunk{provider.Start("m"), provider.Text("Hi."),
			provider.End(provider.StopDone, provider.Usage{})} {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// callers adds the functions of package agent on the stack, in the form "driver.step".
func callers(seen map[string]bool) {
	var pcs [100]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if name, ok := strings.CutPrefix(f.Function, "github.com/pawlkit/pawl/agent."); ok {
			name = strings.NewReplacer("(*", "", ")", "").Replace(name)
			name, _, _ = strings.Cut(name, ".func") // a function within one that has a name
			seen[name] = true
		}
		if !more {
			return
		}
	}
}

// TestAnInputTakesThePathThatThePageForMaintainersLists compares the functions that lead to the
// first append and to the provider with the table on the page.
func TestAnInputTakesThePathThatThePageForMaintainersLists(t *testing.T) {
	page, err := os.ReadFile("../docs/maintaining.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## The path of an input\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	seen := make(map[string]bool)
	a, err := agent.New(agent.Config{Provider: &tracedModel{seen}, Redact: func(text string) string {
		if text == "go" { // of the fact that is about to be appended
			callers(seen)
		}
		return text
	}})
	require.NoError(t, err)
	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	require.Greater(t, len(seen), 10)
	for name := range seen {
		require.Contains(t, section, "`"+name+"`", "the page leaves out a function that the input passes through")
	}
}
