package coding

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/process"
)

// Options that commands of go may have. None writes elsewhere or runs another program.
var testOptions = strings.Fields("-v -count -cover -run -short -bench -benchmem -race -shuffle -failfast -timeout -tags " +
	"-p -parallel -fuzz -fuzztime -json")

// commands are those that may be run, by tool and program, with the options that each may have, up
// to "=". What the first tool runs changes nothing.
var commands = map[string]map[string]map[string][]string{
	"look": {
		"go": {"doc": {"-all", "-short", "-src", "-u"}, "list": {"-json", "-m", "-deps"}, "version": {}},
		"git": {"status": {"-s", "--short", "-b"}, "diff": {"--stat", "--cached", "--staged", "--name-only"},
			"log": {"--oneline", "--stat", "-p", "-n"}, "show": {"--stat", "--name-only"}}},
	"run": {
		"go": {"build": {"-v", "-race", "-tags"}, "vet": {"-tags"}, "fmt": {}, "run": {"-race", "-tags"},
			"test": testOptions, "mod": {"-json"}},
		"git": {"add": {"-A"}, "commit": {"-m", "-a", "-am"}}},
}

// subcommands of "go mod": the others write what no call of a tool shows.
var modules = []string{"tidy", "verify", "graph", "why", "download"}

// programs returns the tools that run go and git, as far as they are installed.
func (c *Coder) programs() ([]tools.Tool, error) {
	cfg := process.Config{Root: c.Dir, Slots: process.NewSlots(0),
		Spec:    tools.Spec{Risk: tools.Medium, MaxResult: 32 << 10, Timeout: 3 * time.Minute},
		Inherit: strings.Fields("GOPROXY GOPRIVATE GOTOOLCHAIN GOWORK CGO_ENABLED GOEXPERIMENT"),
		Set: []string{"GIT_TERMINAL_PROMPT=0", "GOFLAGS=" + os.Getenv("GOFLAGS"),
			fmt.Sprintf("%s=%d %s", mark, os.Getpid(), c.Dir)},
		Grace:  process.Grace{Interrupt: time.Second, Terminate: time.Second},
		Redact: func(text string) string { return c.secrets().Replace(text) }}
	c.endLeft()
	for _, name := range []string{"go", "git"} {
		p, err := process.Lookup(name)
		if err != nil {
			c.Notes = append(c.Notes, "There is no "+name+" command on this machine, so the agent can't run it.")
			continue
		}
		p.Risk = func([]string) tools.Risk { return tools.Medium } // the mode says what asks
		if name == "git" {
			top := c.repository()
			p.Set = []string{"GIT_DIR=" + filepath.Join(top, ".git"), "GIT_WORK_TREE=" + top}
			if home, err := os.UserHomeDir(); err == nil {
				p.Set = append(p.Set, "HOME="+home) // who commits, and how
			}
		}
		cfg.Programs = append(cfg.Programs, p)
	}
	if c.jail != nil {
		cfg.Jail, cfg.Set = c.jail, append(cfg.Set, "GOCACHE="+c.jail.Write[0])
	}
	if len(cfg.Programs) == 0 {
		return nil, nil
	}
	var list []tools.Tool
	for _, tool := range slices.Sorted(maps.Keys(commands)) {
		one := cfg
		one.Spec.Name, one.Spec.ReadOnly, one.Programs = tool, tool == "look", slices.Clone(cfg.Programs)
		if !one.Spec.ReadOnly {
			one.Outputs = filepath.Join(c.Dir, outputs)
		}
		for i := range one.Programs {
			p := &one.Programs[i]
			p.Check = func(args []string) error { return check(tool, p.Name, args) }
			p.Description = "one of " + names(commands[tool][p.Name])
			if one.Spec.ReadOnly {
				p.Set = append(slices.Clone(p.Set), "GIT_OPTIONAL_LOCKS=0") // git status writes nothing
			}
		}
		list = append(list, process.Tool(one))
	}
	return list, nil
}

func names(commands map[string][]string) string {
	return strings.Join(slices.Sorted(maps.Keys(commands)), ", ")
}

// check returns why a command may never be run by a tool.
func check(tool, program string, args []string) error {
	may := commands[tool][program]
	if len(args) == 0 {
		return fault.Errorf(fault.Invalid, "%s: name a command, one of %s", program, names(may))
	}
	options, ok := may[args[0]]
	if !ok || args[0] == "mod" && (len(args) < 2 || !slices.Contains(modules, args[1])) {
		for other := range commands {
			if _, ok := commands[other][program][args[0]]; ok && other != tool {
				return fault.Errorf(fault.Invalid, "%s %s is for the tool %s", program, args[0], other)
			}
		}
		return fault.Errorf(fault.Denied, "%s %s can't be run here; the tool look has %s, and run has %s",
			program, strings.Join(args[:min(2, len(args))], " "), names(commands["look"][program]),
			names(commands["run"][program]))
	}
	message := false // the next word is the message of a commit
	for _, arg := range args[1:] {
		name, _, _ := strings.Cut(arg, "=")
		if program == "go" && strings.HasPrefix(name, "--") {
			name = name[1:]
		}
		number := program == "git" && strings.Trim(arg, "-0123456789") == ""
		names := strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune("/:", r) })
		switch {
		case message:
			message = false
			continue
		case strings.HasPrefix(arg, "-") && !number && !slices.Contains(options, name):
			return fault.Errorf(fault.Denied, "%s %s can't have the option %s here", program, args[0], arg)
		case strings.HasPrefix(arg, "-"):
			message = args[0] == "commit" && (arg == "-m" || arg == "-am")
		case path.IsAbs(arg) || filepath.IsAbs(arg) || slices.Contains(names, "..") ||
			program == "go" && strings.Contains(arg, "@"):
			return fault.Errorf(fault.Denied, "%s %s: %s isn't in the folder; name it as ./pkg or ./...",
				program, args[0], arg)
		case slices.ContainsFunc(names, isHidden):
			return fault.Errorf(fault.Denied, "%s %s: %s has secrets; ask the person for what you need to know of it",
				program, args[0], arg)
		case args[0] == "run":
			return nil // what follows is for the program
		}
	}
	return nil
}

// repository returns the folder with the repository of git, as it is at the start: a folder that a
// call has made isn't taken for one, since the settings of a repository run programs.
func (c *Coder) repository() string {
	for at := c.Dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		} else if at == filepath.Dir(at) {
			return c.Dir
		}
	}
}
