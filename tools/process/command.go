package process

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// The defaults and limits of a [Command].
const (
	defaultTimeout = tools.DefaultTimeout   // 60 s
	defaultExtend  = tools.ProgressExtends  // 30 s
	defaultMax     = tools.ProgressLimit    // 30 min
	defaultKeep    = tools.DefaultMaxResult // 1 MiB
	maxArgs        = 4096                   // arguments
	// of all arguments and variables together; on Linux also the limit of a single one
	maxArgBytes = 128 << 10
	minKeep     = 1 << 10
)

// A Command is a program to run, with its time limits. Path and Root are required; the zero value
// of every other field is the safest choice.
type Command struct {
	// Path is the program: an absolute path without "." or ".." and without symbolic links.
	Path string
	// Args are its arguments, without the program's name. They are passed unchanged.
	Args []string
	// Env is the whole environment, as NAME=value. Nothing is inherited. Variables that make
	// programs load code or run others are rejected: the list is in the file env.go.
	Env []string
	// Set are variables that replace those of Env. Some that can make a program run others
	// (GOFLAGS, GIT_DIR, CC, …) are passed only from here: their values must not come from a model
	// or from files of the root.
	Set []string
	// Root is the absolute path of the directory that Dir can't leave.
	Root string
	// Dir is the working directory, relative to Root; empty: Root. It must be inside Root.
	Dir string
	// Jail is where the program runs; nil: it can do whatever the user of this process can.
	Jail *Jail

	// Timeout is how long the program may run; 0: 60 s. Each line of output that shows progress
	// (not just dots, a spinner or a percentage) moves the limit to Extend from then (0: 30 s;
	// negative: never), up to Max from the start (0: 30 min, or Timeout if that is longer). A line
	// counts when it is complete.
	Timeout, Extend, Max time.Duration
	// Grace is how long the process group has after each signal.
	Grace Grace

	// Keep is the most bytes of cleaned output in the Result; 0: 1 MiB; at least 1 KiB. Longer
	// output is cut in the middle: the first 50 lines, the last 100, and lines that look important
	// are kept, each within a third of Keep.
	Keep int
	// OnOutput is called with output while the program runs, at most every 100 ms: with the cleaned
	// lines since its last call, at most the newest 2 KiB of them, and before these, if there are
	// more, a line that says how many were left out. It is also called when a signal is sent to end
	// the process. All calls come from one goroutine; they may be slow, and none comes after Run
	// has returned. It may be nil.
	OnOutput func(text string)

	full  bool          // the Result has all of the output
	plain bool          // Root and Dir may have no symbolic links, and Dir no ".."
	beat  time.Duration // without output, OnOutput is called after this time; 0: never
	gone  time.Duration // how long the process may take to end after KILL; 0: goneIn
}

// A Grace is the time that a process group has to end after each signal: INT, Interrupt, TERM,
// Terminate, KILL. 0 means the default; a negative value means no time.
type Grace struct {
	Interrupt time.Duration // after INT; 5 s
	Terminate time.Duration // after TERM; 3 s
	// Late is how long other processes of the group may hold the pipes open after the program
	// itself has ended; 2 s.
	Late time.Duration
}

func (g Grace) filled() Grace {
	return Grace{Interrupt: orDefault(g.Interrupt, 5*time.Second), Terminate: orDefault(g.Terminate, 3*time.Second),
		Late: orDefault(g.Late, 2*time.Second)}
}

// longest is the longest time that ending a group takes, including the time after KILL.
func (g Grace) longest() time.Duration {
	g = g.filled()
	return g.Interrupt + g.Terminate + max(g.Late, goneIn) + g.Late
}

// orDefault returns def for 0, and 0 for a negative value.
func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return max(d, 0)
}

// filled returns the command with its defaults filled in.
func (c Command) filled() Command {
	c.Timeout = orDefault(max(c.Timeout, 0), defaultTimeout)
	c.Extend = orDefault(c.Extend, defaultExtend)
	c.Max = max(orDefault(c.Max, defaultMax), c.Timeout)
	c.Grace = c.Grace.filled()
	if c.Keep <= 0 {
		c.Keep = defaultKeep
	}
	c.Keep = max(c.Keep, minKeep)
	c.gone = orDefault(c.gone, goneIn)
	return c
}

// check returns a [*RejectedError] if the command is invalid. It doesn't look at the file system.
func (c *Command) check() error {
	if err := checkPath(c.Path); err != nil {
		return err
	}
	if len(c.Args) > maxArgs {
		return refuse(fault.Invalid, "there are %d arguments; give at most %d", len(c.Args), maxArgs)
	}
	total := 0
	for _, a := range c.Args {
		total += len(a) + 1
		if strings.IndexByte(a, 0) >= 0 {
			return refuse(fault.Invalid, "the argument %.60q contains a NUL byte, which no argument can", a)
		}
	}
	for i, kv := range slices.Concat(c.Env, c.Set) {
		total += len(kv) + 1
		if err := checkVar(kv, i >= len(c.Env)); err != nil {
			return err
		}
	}
	if total > maxArgBytes {
		return refuse(fault.Invalid,
			"arguments and environment have %d bytes; give at most %d, and pass the rest in a file", total, maxArgBytes)
	}
	if !filepath.IsAbs(c.Root) {
		return refuse(fault.Invalid, "the root %q isn't an absolute path", c.Root)
	}
	return nil
}

// checkPath rejects a program path that may mean another file.
func checkPath(path string) error {
	switch {
	case path == "":
		return refuse(fault.Invalid, "the program is missing; give its absolute path")
	case strings.IndexByte(path, 0) >= 0:
		return refuse(fault.Invalid, "the program %q contains a NUL byte", path)
	case !filepath.IsAbs(path):
		return refuse(fault.Denied,
			"the program %q isn't an absolute path, and PATH isn't searched; use Lookup to find it", path)
	case filepath.Clean(path) != path:
		return refuse(fault.Denied, "the program %q isn't a plain path; give %q if that is meant", path,
			filepath.Clean(path))
	}
	if ext := strings.ToLower(filepath.Ext(path)); runtime.GOOS == "windows" && (ext == ".bat" || ext == ".cmd") {
		return refuse(fault.Denied, "%q is run by a shell, which would interpret the arguments; give a program", path)
	}
	return nil
}
