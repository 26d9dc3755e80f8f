package crew

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/process"
)

// A golang is the go command of the machine.
type golang struct {
	path string
	set  []string
	// slots limit how many go commands run at a time: each of them uses all processors.
	slots *process.Slots
}

// findGo looks for the go command.
func findGo() (*golang, error) {
	found, err := process.Lookup("go")
	if err != nil {
		return nil, fmt.Errorf("there is no go command on this machine, so that nothing can be built or tested: " +
			"install Go from https://go.dev/dl, and start again")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	names := []string{"GOCACHE", "GOPATH", "GOMODCACHE", "GOROOT"}
	text, err := exec.CommandContext(ctx, found.Path, append([]string{"env", "-json"}, names...)...).Output()
	vars := make(map[string]string)
	if err == nil {
		err = json.Unmarshal(text, &vars)
	}
	if err != nil {
		return nil, fmt.Errorf("the go command of this machine, %s, doesn't answer: %w", found.Path, err)
	}
	g := &golang{path: found.Path, slots: process.NewSlots(2),
		// nothing is fetched: neither modules nor another version of Go
		set: []string{"GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOENV=off"}}
	for _, name := range names {
		g.set = append(g.set, name+"="+vars[name])
	}
	return g, nil
}

// run runs a go command in a directory. That it fails is part of the result.
func (g *golang) run(ctx context.Context, dir string, progress func(string), args ...string) (process.Result, error) {
	if err := g.slots.Acquire(ctx, 2*time.Minute); err != nil {
		return process.Result{}, err
	}
	defer g.slots.Release()
	return process.Run(ctx, process.Command{Path: g.path, Args: args, Env: process.SafeEnv(), Set: g.set, Root: dir,
		Timeout: 3 * time.Minute,
		Grace:   process.Grace{Interrupt: grace / 2, Terminate: grace / 2}, Keep: 16 << 10, OnOutput: progress})
}

// subcommands are those that agents may use, with the flags that each may have, up to "=". None of
// them writes outside of the staging copy or runs another program.
var subcommands = map[string][]string{
	"build": {}, "vet": {}, "doc": {"-all", "-short", "-src"}, "run": {}, "version": {}, "list": {"-json"},
	"test": {"-v", "-count", "-cover", "-run", "-short", "-bench", "-benchmem", "-race", "-shuffle", "-failfast"},
}

// checkArgs returns why agents may never run a go command with these arguments.
func checkArgs(args []string) error {
	if len(args) == 0 {
		return fault.New(fault.Invalid, "go: name a subcommand, such as test")
	}
	flags, ok := subcommands[args[0]]
	if !ok {
		return fault.Errorf(fault.Denied, "go %s: only build, vet, test, run, doc, list and version are possible here",
			args[0])
	}
	for i, arg := range args[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		switch {
		case strings.HasPrefix(arg, "-") && !slices.Contains(flags, "-"+strings.TrimPrefix(name, "-")):
			return fault.Errorf(fault.Denied, "go %s: the flag %s isn't possible here", args[0], arg)
		case strings.HasPrefix(arg, "-"):
		case path.IsAbs(arg) || slices.Contains(strings.Split(arg, "/"), "..") || strings.Contains(arg, "@"):
			return fault.Errorf(fault.Denied, "go %s: %s isn't in the directory; name packages as ./count or ./...",
				args[0], arg)
		case args[0] == "run" && i == 0 && !strings.HasPrefix(arg, "./"):
			return fault.Errorf(fault.Denied, "go run: name a package of the directory first, such as ./cmd/words")
		}
		if args[0] == "run" && !strings.HasPrefix(arg, "-") { // what follows is for the program
			break
		}
	}
	return nil
}

// goInput is the input of the tool go.
type goInput struct {
	Args []string `json:"args" jsonschema:"the arguments, such as test and ./..."`
}

// line returns the command as it is typed.
func (in goInput) line() string {
	words := make([]string, len(in.Args))
	for i, a := range in.Args {
		if words[i] = a; a == "" || strings.ContainsAny(a, " \"'$&|;<>*") {
			words[i] = fmt.Sprintf("%q", a)
		}
	}
	return "go " + strings.Join(words, " ")
}

// goTool returns the tool that runs the go command: in the staging copy of the step that calls it,
// or for the librarian in an empty directory.
func (p *Place) goTool(name, description string, where func(context.Context) (dir string, err error),
	only ...string) tools.Tool {
	return tools.Func[goInput, tools.Result]{
		Spec: tools.Spec{Name: name, Description: description, Category: "go", Risk: tools.Medium, Idempotent: true,
			AllowAlways: true, NoRetries: true, NoBreaker: true, Progress: true, Timeout: 4 * time.Minute},
		Title: func(_ context.Context, in goInput) string { return "Run " + in.line() },
		Scope: func(in goInput) string { return "go " + strings.Join(in.Args[:min(1, len(in.Args))], "") },
		// what it has written is in the copy, or in a cache
		Undo: func(context.Context, goInput, tools.Result) error { return nil },
		Run: func(ctx context.Context, in goInput) (tools.Result, error) {
			err := checkArgs(in.Args)
			switch {
			case p.gc == nil:
				err = fault.New(fault.UserFixable, p.Goless)
			case err == nil && len(only) > 0 && !slices.Contains(only, in.Args[0]):
				err = fault.Errorf(fault.Denied, "go %s: only go %s is possible here", in.Args[0],
					strings.Join(only, ", "))
			}
			if err != nil {
				return tools.Result{}, err
			}
			dir, err := where(ctx)
			if err != nil {
				return tools.Result{}, err
			}
			res, err := p.gc.run(ctx, dir, func(text string) {
				tools.Progress(ctx, tools.ProgressReport{Text: text})
			}, in.Args...)
			if err != nil {
				return tools.Result{}, err
			}
			out := tools.Text(strings.TrimSpace(fmt.Sprintf("$ %s\n%s", in.line(), res.Output)) + "\n" + ending(res))
			out.Exit = res.Exit() // a test that fails isn't a failure of the tool
			return out, nil
		},
	}
}

// ending says how a command ended.
func ending(r process.Result) string {
	if r.ExitCode == 0 {
		return "It ended well."
	}
	return fmt.Sprintf("It ended with the exit code %d.", r.ExitCode)
}
