package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// goneIn is how long a process may take to be gone after KILL.
const goneIn = 5 * time.Second

// Run runs a command to its end and returns what became of it; see the package comment for how it ends. A process that
// ended by itself is no error, whatever its exit code or signal. The Result is filled in, with all output until then, with
// these errors, too:
//
//   - [*TimeoutError]: it was ended at its time limit
//   - [*StopError]: it was ended because ctx had ended
//
// Without a process the error is a [*RejectedError], for what the command says, or has the class of what keeps it from
// starting: UserFixable with a remedy if the program isn't there or isn't executable, Degraded if the system has no room.
//
// Run is safe for concurrent use, and doesn't bound how many processes run: see [Slots].
func Run(ctx context.Context, cmd Command) (Result, error) {
	return run(ctx, cmd, (*child).signal)
}

// run is Run with another way to send signals.
func run(ctx context.Context, cmd Command, send func(*child, Signal) error) (Result, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	res := Result{Program: cmd.Path, ExitCode: -1}
	cmd = cmd.filled()
	if err := cmd.check(); err != nil {
		return res, err
	}
	if err := checkFile(cmd.Path); err != nil {
		return res, err
	}
	if ctx.Err() != nil {
		res.Canceled = true
		return res, &StopError{Program: cmd.Path, Cause: context.Cause(ctx)}
	}
	x := &running{cmd: &cmd, send: send, res: &res}
	err := x.start()
	if err != nil {
		return res, err
	}
	err = x.supervise(ctx)
	if werr := x.finish(); err == nil {
		err = werr
	}
	return res, err
}

// A running process, and what belongs to it.
type running struct {
	cmd  *Command
	send func(*child, Signal) error
	res  *Result

	child   *child
	began   time.Time
	out     *collector
	watch   *watch
	pipes   [2]*os.File // our ends of standard output and error
	stdin   *os.File    // our end; nil: there is none
	readers sync.WaitGroup
	drained chan struct{} // closed when both pipes have ended
}

// start starts the process and what reads from it.
func (x *running) start() (err error) {
	dir, err := enter(x.cmd.Root, x.cmd.Dir)
	if err != nil {
		return err
	}
	defer dir.close()
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			x.closePipes()
		}
	}()
	in, err := x.openStdin()
	if err != nil {
		return unstarted(x.cmd.Path, err)
	}
	theirs = append(theirs, in)
	for i := range x.pipes {
		r, w, err := os.Pipe()
		if err != nil {
			return unstarted(x.cmd.Path, err)
		}
		x.pipes[i], theirs = r, append(theirs, w)
	}
	env := x.cmd.Env
	if env == nil {
		env = []string{} // nil would inherit
	}
	attr := &os.ProcAttr{Dir: dir.path, Env: env, Files: theirs, Sys: ownGroup()}
	x.began = time.Now()
	x.child, err = startChild(x.cmd.Path, append([]string{x.cmd.Path}, x.cmd.Args...), attr)
	if errors.Is(err, fs.ErrNotExist) { // the program is there: that was looked at
		return fault.NewFixable("process: what "+x.cmd.Path+" is run by isn't there", "install the interpreter or loader that it names", err)
	}
	if err != nil {
		return unstarted(x.cmd.Path, err)
	}
	x.watch = newWatch(x.cmd.OnOutput, x.cmd.beat)
	x.out = newCollector(x.cmd.Keep, x.cmd.Raw, x.watch)
	x.drained = make(chan struct{})
	var both sync.WaitGroup
	for i, pipe := range x.pipes {
		both.Add(1)
		x.readers.Go(func() {
			defer both.Done()
			x.read(i, pipe)
		})
	}
	x.readers.Go(func() {
		both.Wait()
		close(x.drained)
	})
	if x.stdin != nil {
		x.readers.Go(func() {
			io.WriteString(x.stdin, x.cmd.Stdin) // a program needn't read it all
			x.stdin.Close()
		})
	}
	return nil
}

// openStdin returns the program's end of its standard input.
func (x *running) openStdin() (*os.File, error) {
	if x.cmd.Stdin == "" {
		return os.Open(os.DevNull)
	}
	r, w, err := os.Pipe()
	x.stdin = w
	return r, err
}

func (x *running) closePipes() {
	for _, f := range [...]*os.File{x.pipes[0], x.pipes[1], x.stdin} {
		if f != nil {
			f.Close()
		}
	}
}

// read collects one stream until it ends, or our end is closed.
func (x *running) read(stream int, from *os.File) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		x.out.write(stream, buf[:n])
		if err != nil {
			x.out.close(stream)
			return
		}
	}
}

// supervise returns when the process has ended and its pipes have, or their time is up, or it was sent KILL. It returns why
// it was ended, if it was.
func (x *running) supervise(ctx context.Context) (err error) {
	p := timeouts{x.cmd.Timeout, x.cmd.Extend, x.cmd.Max}
	timer := time.NewTimer(p.until(-1))
	defer timer.Stop()
	var (
		stopped         = ctx.Done()
		exited, drained = x.child.exited, x.drained
		step            = -1 // of the signals; -1: it runs
		late            bool // it has ended, and others of its group have until the timer
	)
	advance := func() (over bool) {
		for step++; step < len(ladder); step++ {
			wait := x.signal(step)
			if ladder[step] == Kill {
				return true
			}
			if wait > 0 {
				timer.Reset(wait)
				return false
			}
		}
		return true
	}
	for exited != nil || drained != nil {
		select {
		case <-exited:
			exited = nil
			if drained != nil && step < 0 {
				late = true
				timer.Reset(x.cmd.Grace.Late)
			}
		case <-drained:
			drained = nil
		case <-stopped:
			stopped = nil
			if step < 0 && x.child.hasExited() {
				x.res.Late = drained != nil
				return nil // it ended by itself; who held its pipes is ended
			}
			if step < 0 {
				x.res.Canceled = true
				err = &StopError{Program: x.cmd.Path, Cause: context.Cause(ctx)}
				if advance() {
					return err
				}
			}
		case <-timer.C:
			switch {
			case late:
				x.res.Late = true
				return nil
			case step < 0 && x.child.hasExited(): // just now, by itself
				exited, late = nil, true
				timer.Reset(x.cmd.Grace.Late)
				continue
			case step < 0:
				if left := p.until(x.out.heard()) - time.Since(x.began); left > 0 {
					timer.Reset(left)
					continue
				}
				x.res.TimedOut = true
				err = &TimeoutError{Program: x.cmd.Path, After: time.Since(x.began)}
			}
			if advance() {
				return err
			}
		}
	}
	return err
}

// ladder is in which order a group is sent signals.
var ladder = [...]Signal{Interrupt, Terminate, Kill}

// signal sends one of the signals and returns how long the group has before the next.
func (x *running) signal(step int) time.Duration {
	s := ladder[step]
	if err := x.send(x.child, s); errors.Is(err, errors.ErrUnsupported) {
		return 0
	}
	x.res.Sent = append(x.res.Sent, s.String())
	if x.watch != nil {
		x.watch.line(fmt.Appendf(nil, "stopping: sent %s", s))
	}
	switch s {
	case Interrupt:
		return x.cmd.Grace.Interrupt
	case Terminate:
		return x.cmd.Grace.Terminate
	}
	return 0
}

// finish ends what is left of the group, and everything that belongs to the process here. It returns the error of the
// watching function.
func (x *running) finish() error {
	x.send(x.child, Kill) // the leader isn't reaped yet, so the group is still this one
	timer := time.NewTimer(x.cmd.gone)
	defer timer.Stop()
	select {
	case <-x.child.exited:
	case <-timer.C:
		x.res.Lost = true
	}
	close(x.child.reap)
	if !x.res.Lost {
		<-x.child.reaped
		x.ended(x.child.state)
	}
	timer.Reset(max(x.cmd.Grace.Late, time.Millisecond))
	select {
	case <-x.drained: // all that was in the pipes is read
	case <-timer.C: // somebody outside of the group holds them
	}
	x.closePipes()
	x.readers.Wait()
	x.res.Took = time.Since(x.began)
	err := x.watch.close()
	x.out.fill(x.res)
	return err
}

// ended notes how the process ended.
func (x *running) ended(s *os.ProcessState) {
	if s == nil {
		return
	}
	x.res.ExitCode = s.ExitCode()
	x.res.Signal = signalOf(s)
}

// checkFile refuses programs that aren't what their path says.
func checkFile(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return unstarted(path, err)
	}
	if !samePath(real, path) {
		return refuse(fault.Denied, "the program %q is, or is below, a symbolic link; give %q if that is meant", path, real)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return unstarted(path, err)
	}
	if !info.Mode().IsRegular() {
		return refuse(fault.Denied, "the program %q isn't a file", path)
	}
	return nil
}

// samePath reports whether two absolute paths are written alike, as far as that matters.
func samePath(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// unstarted says why a program doesn't start, by class.
func unstarted(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.NewFixable("process: there is no program "+path, "install it, or correct the path", err)
	case errors.Is(err, fs.ErrPermission):
		return fault.NewFixable("process: the program "+path+" may not be run", "make it executable for the user of this service", err)
	case errors.Is(err, syscall.ENOEXEC):
		return fault.NewFixable("process: the file "+path+" isn't a program of this system", "install one for this platform, or begin the script with #!", err)
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fault.Errorf(fault.Degraded, "process: %s doesn't start: the system has no room for it: %w", path, err)
	case errors.Is(err, syscall.E2BIG):
		return fault.Errorf(fault.Invalid, "process: %s doesn't start: arguments and environment are too long: %w", path, err)
	case errors.Is(err, textBusy):
		return fault.Errorf(fault.Transient, "process: %s doesn't start: somebody is writing to it: %w", path, err)
	}
	return fmt.Errorf("process: %s doesn't start: %w", path, err)
}
