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

// A Program is one that a [Tool] may run. Name and Path are needed; the zero value of everything else is the careful choice.
type Program struct {
	// Name is what a model calls it: "git".
	Name string
	// Path is its absolute path, without symbolic links. See [Lookup].
	Path        string
	Description string // for the model: what it is for, and which arguments are allowed

	// Check returns an error, for the model, if the program may not be run with these arguments; nil: any will do. It is
	// asked before each run, also after a person approved. [Subcommands] makes one.
	Check func(args []string) error
	// Risk is what a mistaken call with these arguments may cost; nil: High. High risk asks a person, unless the tool's
	// Spec.Approval says otherwise. It should answer the same for the same arguments, and is asked before Check is, so also
	// about arguments that Check refuses: none at all, for example.
	Risk func(args []string) tools.Risk

	// Stdin lets the model give the program something to read.
	Stdin bool
	// Env names variables that the model may set for it.
	Env []string
	// Set are variables that it always gets, as NAME=value.
	Set []string
	// InRoot permits a Path below the working root, where calls may be able to replace it.
	InRoot bool

	// Timeout, Extend and Max are as in [Command].
	Timeout, Extend, Max time.Duration
}

// Lookup finds a program by its name in the absolute directories of PATH, and resolves symbolic links. The error is of
// class UserFixable if there is none.
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
		return Program{}, fault.NewFixable("process: there is no program "+name+" in PATH", "install "+name+", or set Program.Path", err)
	}
	return Program{Name: name, Path: path}, nil
}

// Subcommands returns a [Program.Check] that wants the first argument to be one of names. Options before it are refused;
// what comes after it isn't looked at.
func Subcommands(names ...string) func(args []string) error {
	names = slices.Clone(names)
	return func(args []string) error {
		if len(args) > 0 && slices.Contains(names, args[0]) {
			return nil
		}
		return refuse(fault.Denied, "the first argument has to be one of %s", strings.Join(names, ", "))
	}
}

// NoArgs is a [Program.Check] that wants no arguments.
func NoArgs(args []string) error {
	if len(args) > 0 {
		return refuse(fault.Denied, "it takes no arguments here")
	}
	return nil
}
