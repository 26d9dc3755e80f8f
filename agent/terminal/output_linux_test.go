package terminal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// program is a tool that runs a program, which fails after lines of output.
var program = tools.New(tools.Spec{Name: "run"}, func(_ context.Context, in struct {
	Lines int `json:"lines"`
	Code  int `json:"code"`
}) (tools.Result, error) {
	var b strings.Builder
	exit := &tools.Exit{Code: in.Code, Answer: in.Code == 9}
	fmt.Fprintf(&b, "%s\n", exit)
	for n := range in.Lines {
		fmt.Fprintf(&b, "line %d of \x1b[31mthe output\n", n+1)
	}
	out := tools.Text(b.String())
	out.Exit = exit
	return out, nil
})

// TestOutputOfAFile: what was cut for the model is shown from its file, or where that is.
func TestOutputOfAFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"short", "long"} {
		text := "the beginning\n" + strings.Repeat("x", 70) + "\nthe end\n"
		if name == "long" {
			text = strings.Replace(text, "x", strings.Repeat(strings.Repeat("x", 999)+"\n", 1100), 1)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run := tools.New(tools.Spec{Name: "run"}, func(_ context.Context, in page) (tools.Result, error) {
		out := tools.Text("exit code 1; it is cut\na part")
		out.Exit = &tools.Exit{Code: 1, File: filepath.Join(dir, in.Page)}
		return out, nil
	})
	var steps []providertest.Step
	for _, name := range []string{"long", "gone", "short"} {
		steps = append(steps, providertest.Call("run", page{name}))
	}
	a := newAgent(t, agent.Config{Tools: []tools.Tool{run}}, append(steps, providertest.Say("It fails."))...)
	o := piped(t, a, "Test it\n/output 1\n/output 2\n/output 3\n", terminal.Config{})
	_, said, _ := strings.Cut(o.out, "It fails.")
	require.Equal(t, 1, strings.Count(said, "the beginning\n"), "of the short one")
	require.Equal(t, 1, strings.Count(said, "a part\n"))
	require.Equal(t, 1, strings.Count(said, "… the beginning is in "+filepath.Join(dir, "long")+"\n"))
	require.Equal(t, 2, strings.Count(said, "the end\n"))
	require.Less(t, len(said), 1<<20+2000)
}

// TestOutput: a program that fails is shown as failed, with its last lines, and /output shows all.
func TestOutput(t *testing.T) {
	run := func(lines, code int) providertest.Step {
		return providertest.Call("run", map[string]int{"lines": lines, "code": code})
	}
	a := newAgent(t, agent.Config{Tools: []tools.Tool{program}}, run(13, 1), run(2, 0), run(0, 2), run(1, 9),
		providertest.Say("It fails."))
	p := talk(t, a, terminal.Config{}).asked(1).says("/output").asked(2).says("Test it")
	for n, line := range []string{"/output", "/output 4", "/output 9", "/output x"} {
		p.asked(n + 3).says(line)
	}
	p.asked(7).says("quit").ends(terminal.CodeDone).golden("output")
}
