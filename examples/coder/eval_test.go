package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/eval"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/examples/coder/internal/standin"
)

// TestTheCoderDoesWhatPeopleAskFor evaluates the agent on the small repository. The stand-in does
// the same each time, so one trial of a case is enough; with a real model, take more, and no Floor.
func TestTheCoderDoesWhatPeopleAskFor(t *testing.T) {
	var coders sync.Map // by agent
	newAgent := func() (*agent.Agent, error) {
		at, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			return nil, err
		}
		o := options{dir: filepath.Join(at, "project"), db: filepath.Join(at, "db", "runs.db"),
			scripted: standin.New(0)}
		if err := errors.Join(os.Mkdir(o.dir, 0o755), standin.Unpack(o.dir)); err != nil {
			return nil, err
		}
		c, err := o.open("", func(string) string { return "" }, io.Discard)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		coders.Store(c.Hub.Agent(), c)
		return c.Hub.Agent(), nil
	}
	// file passes if a file of the repository has a text, or doesn't.
	file := func(name, text string, has bool) eval.Scorer {
		return eval.Effect(fmt.Sprintf("%s has %q: %v", name, text, has), func(_ context.Context, t *eval.Trial) error {
			c, _ := coders.Load(t.Agent)
			got, _ := os.ReadFile(filepath.Join(c.(*coding.Coder).Dir, name)) // or there is none
			if strings.Contains(string(got), text) != has {
				return fmt.Errorf("it is %q", got)
			}
			return nil
		})
	}
	asked := func(mode, prompt string) agent.Input {
		return agent.Input{User: user, Owner: user, Mode: mode, Prompt: prompt}
	}
	changes := []string{"file.edit", "file.write", "file.move", "file.delete", "run"}
	eval.Test(t, newAgent, eval.Config{
		Cases: []eval.Case{
			{Name: "finds a definition", Input: asked("ask", "Where is Lines defined?"),
				Score: []eval.Scorer{eval.InOrder("file.search", "file.read"), eval.NeverCalled(changes...),
					eval.Text("wrap.go"), eval.Steps(3)}},
			{Name: "proposes and changes nothing", Input: asked("edits", "suggest a fix, but don't change anything"),
				Score: []eval.Scorer{eval.NeverCalled(changes...), eval.Text("In wrap.go")}},
			{Name: "asks before it writes", Input: asked("ask", "Add a function with a test"), Ends: agent.Paused,
				Score: []eval.Scorer{eval.Called("file.write"), file("indent_test.go", "package", false)}},
			{Name: "edits without a question, and asks before it runs", Ends: agent.Paused,
				Input: asked("edits", "replace \"at spaces\" by \"between words\" in wrap.go"),
				Score: []eval.Scorer{eval.InOrder("file.edit", "run"), file("wrap.go", "between words", true),
					file("wrap.go", "at spaces", false)}},
			{Name: "plans before it works", Input: asked("plan", "Add a function with a test"), Ends: agent.Paused,
				Score: []eval.Scorer{eval.Called("plan.submit"), eval.NeverCalled(changes...)}},
		},
		Trials: 1, Floor: 1, Against: "testdata/eval.json",
	})
}
