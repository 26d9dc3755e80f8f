package process

import (
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// The defaults and bounds of a [Command].
const (
	DefaultTimeout = tools.DefaultTimeout   // 60 s
	DefaultExtend  = tools.ProgressExtends  // 30 s
	DefaultMax     = tools.ProgressLimit    // 30 min
	DefaultKeep    = tools.DefaultMaxResult // 1 MiB
	MaxRaw         = 10 << 20               // bytes of raw output that are kept at most
	maxArgs        = 4096                   // arguments
	maxArgBytes    = 128 << 10              // of all arguments and variables together; Linux refuses a single one of more
	minKeep        = 1 << 10
)

// A Command says what to run, and how long. Path and Root are needed; the zero value of everything else is the careful
// choice.
type Command struct {
	// Path is the program: absolute, without "." or "..", and no symbolic link on the way.
	Path string
	// Args are its arguments, without the program's name. They are passed as they are.
	Args []string
	// Env is the whole environment, as NAME=value. Nothing is inherited. Names that make programs load code are refused.
	Env []string
	// Root is the absolute path of the directory that Dir can't leave.
	Root string
	// Dir is the working directory, relative to Root; empty: Root.
	Dir string
	// Stdin is all that the program can read; if it is empty, reading finds the end at once.
	Stdin string

	// Timeout is how long the program may run; 0: 60 s. Each line of output that says something (not just dots, a spinner
	// or a percentage) moves the limit to Extend from then (0: 30 s; less than 0: it doesn't), but not past Max (0: 30 min,
	// or Timeout if that is longer). A line counts when it is complete.
	Timeout, Extend, Max time.Duration
	// Grace is how the process group is ended.
	Grace Grace

	// Keep is the most bytes of cleaned output in the Result; 0: 1 MiB; at least 1 KiB. Longer output is cut in the
	// middle: the first 50 lines, the last 100, and lines that look important are kept.
	Keep int
	// Raw is how many bytes of unchanged output are kept in addition, from the start of both streams together; 0: none; at
	// most 10 MiB.
	Raw int
	// OnOutput is called with output while the program runs, at most every 100 ms: with the lines since its last call,
	// cleaned, at most the newest 2 KiB. It is also called when a signal is sent to end the process. It is called on one
	// goroutine, may be slow, and isn't called after Run has returned. It may be nil.
	OnOutput func(text string)

	beat time.Duration // after how long without output OnOutput is called without any; 0: never
	gone time.Duration // how long the process may take to be gone after KILL; 0: goneIn
}

// A Grace says how a process group is ended: INT, Interrupt, TERM, Terminate, KILL. 0 means the default of each; less than
// 0 means no time.
type Grace struct {
	Interrupt time.Duration // after INT; 5 s
	Terminate time.Duration // after TERM; 3 s
	// Late is how long others of the group may hold the pipes open after the program itself has ended; 2 s.
	Late time.Duration
}

func (g Grace) filled() Grace {
	return Grace{Interrupt: orDefault(g.Interrupt, 5*time.Second), Terminate: orDefault(g.Terminate, 3*time.Second),
		Late: orDefault(g.Late, 2*time.Second)}
}

// longest is how long ending a group takes at most, with the time to be gone after KILL.
func (g Grace) longest() time.Duration {
	g = g.filled()
	return g.Interrupt + g.Terminate + max(g.Late, goneIn) + g.Late
}

// orDefault returns def for 0, and 0 for less.
func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return max(d, 0)
}

// filled returns the command with its defaults.
func (c Command) filled() Command {
	c.Timeout = orDefault(max(c.Timeout, 0), DefaultTimeout)
	c.Extend = orDefault(c.Extend, DefaultExtend)
	c.Max = max(orDefault(c.Max, DefaultMax), c.Timeout)
	c.Grace = c.Grace.filled()
	if c.Keep <= 0 {
		c.Keep = DefaultKeep
	}
	c.Keep = max(c.Keep, minKeep)
	c.gone = orDefault(c.gone, goneIn)
	c.Raw = min(max(c.Raw, 0), MaxRaw)
	return c
}

// check returns a [*RejectedError] if the command can't be right, whatever is on the disk.
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
	for _, kv := range c.Env {
		total += len(kv) + 1
		if err := checkVar(kv); err != nil {
			return err
		}
	}
	if total > maxArgBytes {
		return refuse(fault.Invalid, "arguments and environment have %d bytes; give at most %d, and the rest by a file or standard input", total, maxArgBytes)
	}
	if !filepath.IsAbs(c.Root) {
		return refuse(fault.Invalid, "the root %q isn't an absolute path", c.Root)
	}
	return nil
}

// checkPath refuses paths of programs that could mean another file than they say.
func checkPath(path string) error {
	switch {
	case path == "":
		return refuse(fault.Invalid, "no program is named; give its absolute path")
	case strings.IndexByte(path, 0) >= 0:
		return refuse(fault.Invalid, "the program %q contains a NUL byte", path)
	case !filepath.IsAbs(path):
		return refuse(fault.Denied, "the program %q isn't an absolute path, and nothing is searched for; Lookup finds one", path)
	case filepath.Clean(path) != path:
		return refuse(fault.Denied, "the program %q isn't a plain path; give %q if that is meant", path, filepath.Clean(path))
	}
	if ext := strings.ToLower(filepath.Ext(path)); runtime.GOOS == "windows" && (ext == ".bat" || ext == ".cmd") {
		return refuse(fault.Denied, "%q is run by a shell, which takes arguments for commands; give a program", path)
	}
	return nil
}
