package terminal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

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
