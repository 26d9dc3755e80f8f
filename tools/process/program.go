package process

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Program is a program that a [Tool] may run. Name and Path are required; the zero value of every
// other field is the safest choice.
type Program struct {
	// Name is the name that the model uses: "git".
	Name string
	// Path is its absolute path, without symbolic links. See [Lookup].
	Path        string
	Description string // for the model: its purpose and the allowed arguments

	// Check returns an error, for the model, if the program may not be run with these arguments;
	// nil allows all. It is called before each run, also after an approval. [Subcommands] makes
	// one.
	Check func(args []string) error
	// Risk returns the damage that a mistaken call with these arguments may cause; nil: High. High
	// risk needs approval, unless the tool's Spec.Approval says otherwise. It must return the same
	// for the same arguments. It is called before Check, so also with arguments that Check rejects,
	// such as none at all.
	Risk func(args []string) tools.Risk

	// Set are variables that are always set for it, as NAME=value.
	Set []string

	// Timeout is that of its [Command].
	Timeout time.Duration
}

// Lookup finds a program by its name in the absolute directories of PATH, and resolves symbolic
// links. The error is of class UserFixable if there is none.
func Lookup(name string) (Program, error) {
	if name == "" || filepath.Base(name) != name {
		return Program{}, refuse(fault.Invalid, "%q isn't the plain name of a program", name)
	}
	path, err := exec.LookPath(name)
	if err == nil && !filepath.IsAbs(path) {
		err = exec.ErrDot
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Program{}, fault.NewFixable("process: there is no program "+name+" in PATH",
			"install "+name+", or set Program.Path", err)
	}
	return Program{Name: name, Path: path}, nil
}

// Subcommands returns a [Program.Check] that requires the first argument to be one of names. It
// rejects options before it, and doesn't check the arguments after it.
func Subcommands(names ...string) func(args []string) error {
	names = slices.Clone(names)
	return func(args []string) error {
		if len(args) > 0 && slices.Contains(names, args[0]) {
			return nil
		}
		return refuse(fault.Denied, "the first argument must be one of %s", strings.Join(names, ", "))
	}
}
