//go:build unix

package process_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/process"
)

// A tool that lists files without approval, and needs approval for everything else.
func ExampleTool() {
	root, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	printf, err := process.Lookup("printf")
	if err != nil {
		fmt.Println(err)
		return
	}
	printf.Risk = func(args []string) tools.Risk {
		if len(args) == 1 {
			return tools.Low
		}
		return tools.High
	}
	reg, err := tools.NewRegistry(process.Tool(process.Config{Root: root, Programs: []process.Program{printf}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for _, input := range []string{
		`{"program":"printf","args":["hello; $(id)\n"]}`,
		`{"program":"printf","args":["%s\n","a b"]}`,
		`{"program":"sh","args":["-c","id"]}`,
	} {
		out := reg.Run(ctx, tools.Call{Name: process.DefaultName, Input: json.RawMessage(input)}, tools.Options{})
		if out.Question != nil {
			fmt.Println("a person is asked:", strings.SplitAfter(out.Question.Reason, "printf")[1][:12])
			continue
		}
		fmt.Println(strings.TrimSuffix(out.Text(), "\n"))
	}
	// Output:
	// exit code 0
	// hello; $(id)
	// a person is asked:  "%s\n" "a b
	// The call wasn't run: invalid value: program: expected one of "printf", got "sh"
}

// A host runs a program itself. The output is clean, even if the program wrote it for a terminal.
func ExampleRun() {
	printf, err := process.Lookup("printf")
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := process.Run(context.Background(), process.Command{
		Path: printf.Path, Args: []string{`\033[1mbold\033[0m\n10%%\r100%%\n`}, Root: os.TempDir(),
		Timeout: 10 * time.Second,
	})
	fmt.Printf("%d %v %d lines\n%s", res.ExitCode, err, res.Lines, res.Output)
	// Output:
	// 0 <nil> 2 lines
	// bold
	// 100%
}

func ExampleSubcommands() {
	check := process.Subcommands("status", "log")
	fmt.Println(check([]string{"log", "--oneline"}))
	fmt.Println(check([]string{"push"}))
	// Output:
	// <nil>
	// process: the first argument must be one of status, log
}
