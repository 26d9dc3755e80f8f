package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// goneIn is how long a process may take to end after KILL.
const goneIn = 5 * time.Second

// Run runs a command until it has ended and returns its result; see the package comment for how it
// ends. A process that ends by itself isn't an error, whatever its exit code or signal. The Result
// is filled in, with all output so far, also with these errors:
//
//   - [*TimeoutError]: it was ended at its time limit
//   - [*StopError]: it was ended because ctx had ended
//
// If no process was started, the error is a [*RejectedError] for an invalid command, or has the
// class of the problem: UserFixable with a remedy if the program doesn't exist or isn't executable,
// Degraded if the system has too few resources.
//
// Run is safe for concurrent use, and doesn't limit the number of running processes: see [Slots].
func Run(ctx context.Context, cmd Command) (Result, error) {
	return run(ctx, cmd, (*child).signal)
}

// run is Run with a replaceable function for sending signals.
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
	if cmd.Jail != nil {
		var err error
		x.jailed, err = cmd.Jail.enter(ctx, &cmd)
		if res.Canceled = err != nil && ctx.Err() != nil; res.Canceled {
			return res, &StopError{Program: cmd.Path, Cause: context.Cause(ctx)}
		} else if err != nil {
			return res, err
		}
		defer x.jailed.leave()
	}
	err := x.start()
	if err != nil {
		return res, err
	}
	err = x.supervise(ctx)
	if werr := x.finish(); err == nil {
		err = werr
	}
	if err == nil && x.jailed != nil {
		err = x.jailed.failed(&res)
	}
	return res, err
}

// A running is a running process with its resources.
type running struct {
	cmd  *Command
	send func(*child, Signal) error
	res  *Result

	jailed *jailed // nil: without a jail

	child   *child
	began   time.Time
	out     *collector
	watch   *watch
	pipes   [2]*os.File // our ends of standard output and error
	readers sync.WaitGroup
	drained chan struct{} // closed when both pipes have ended
	heard   chan struct{} // closed when all was read that bubblewrap says; nil: without a jail
}

// start starts the process and the goroutines that read from it.
func (x *running) start() (err error) {
	dir, err := enter(x.cmd.Root, x.cmd.Dir, x.cmd.plain)
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
	in, err := os.Open(os.DevNull)
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
	if len(x.cmd.Set) > 0 {
		env = merge(slices.Concat(env, x.cmd.Set))
	}
	if env == nil {
		env = []string{} // nil would inherit
	}
	argv := append([]string{x.cmd.Path}, x.cmd.Args...)
	if x.jailed != nil {
		status, err := x.jailed.listen()
		if err != nil {
			return unstarted(x.cmd.Path, err)
		}
		argv, theirs = append(x.jailed.words, argv...), append(theirs, status) // as its descriptor 3
	}
	attr := &os.ProcAttr{Dir: dir.path, Env: env, Files: withoutInherited(theirs), Sys: ownGroup()}
	x.began = time.Now()
	x.child, err = startChild(argv[0], argv, attr, x.jailed != nil)
	if errors.Is(err, fs.ErrNotExist) { // the program exists: checkFile has checked it
		return fault.NewFixable("process: the interpreter or loader of "+x.cmd.Path+" doesn't exist", "install it", err)
	}
	if err != nil {
		return unstarted(x.cmd.Path, err)
	}
	x.watch = newWatch(x.cmd.OnOutput, x.cmd.beat)
	x.out = newCollector(x.cmd.Keep, x.watch)
	if x.jailed != nil {
		x.heard = make(chan struct{})
		x.readers.Go(func() {
			defer close(x.heard)
			x.jailed.hear()
		})
	}
	if x.cmd.full {
		x.out.full = new(fullText)
	}
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
	return nil
}

func (x *running) closePipes() {
	for _, f := range x.pipes {
		if f != nil {
			f.Close()
		}
	}
	if x.jailed != nil && x.jailed.status != nil {
		x.jailed.status.Close()
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

// supervise returns when the process and its pipes have ended, when the time for the pipes is over,
// or after KILL. The error says why the process was ended, if it was.
func (x *running) supervise(ctx context.Context) (err error) {
	p := timeouts{x.cmd.Timeout, x.cmd.Extend, x.cmd.Max}
	timer := time.NewTimer(p.until(-1))
	defer timer.Stop()
	var (
		stopped         = ctx.Done()
		exited, drained = x.child.exited, x.drained
		step            = -1 // index of the last signal; -1: none was sent
		late            bool // it has ended, and the rest of its group may run until the timer fires
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
				x.res.Late = drained != nil && x.held()
				return nil // it ended by itself; the processes that hold its pipes are ended
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
			case late && x.held():
				x.res.Late = true
				return nil
			case late: // all that was written is there, and only has to be read
				timer.Reset(max(x.cmd.Grace.Late, time.Millisecond))
				continue
			case step < 0 && x.child.hasExited(): // it has just ended by itself
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

// held reports whether a process has a pipe open.
func (x *running) held() bool {
	return slices.ContainsFunc(x.pipes[:], func(pipe *os.File) bool { return pipe != nil && held(pipe) })
}

// ladder is the order in which signals are sent to a group.
var ladder = [...]Signal{Interrupt, Terminate, Kill}

// signal sends one of the signals and returns the time until the next.
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

// finish ends the rest of the group, and releases the resources of the process. It returns the
// error of OnOutput.
func (x *running) finish() error {
	x.send(x.child, Kill) // the leader isn't reaped yet, so the number still belongs to this group
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
	for drained := false; !drained; {
		timer.Reset(max(x.cmd.Grace.Late, time.Millisecond))
		select {
		case <-x.drained: // both pipes were read to their end
			drained = true
		case <-timer.C:
			drained = x.held() // by a process outside of the group, which isn't waited for
		}
	}
	if x.heard != nil { // what bubblewrap says may come after the last output
		timer.Reset(x.cmd.gone)
		select {
		case <-x.heard:
		case <-timer.C:
		}
	}
	x.closePipes()
	x.readers.Wait()
	x.res.Took = time.Since(x.began)
	err := x.watch.close()
	x.out.fill(x.res)
	return err
}

// ended stores how the process ended.
func (x *running) ended(s *os.ProcessState) {
	if s == nil {
		return
	}
	x.res.ExitCode = s.ExitCode()
	x.res.Signal = signalOf(s)
	x.res.Answer = isAnswer(x.cmd.Path, x.cmd.Args, x.res.ExitCode)
}

// checkFile rejects programs that aren't the file that their path names.
func checkFile(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return unstarted(path, err)
	}
	if !samePath(real, path) {
		return refuse(fault.Denied, "the program %q is, or is below, a symbolic link; give %q if that is meant", path,
			real)
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

// samePath reports whether two absolute paths are equal, ignoring case on Windows.
func samePath(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// unstarted returns the error for a program that didn't start, with its class.
func unstarted(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.NewFixable("process: there is no program "+path, "install it, or correct the path", err)
	case errors.Is(err, fs.ErrPermission):
		return fault.NewFixable("process: the program "+path+" isn't executable",
			"make it executable for the user of this service", err)
	case errors.Is(err, syscall.ENOEXEC):
		return fault.NewFixable("process: the file "+path+" isn't a program of this system",
			"install one for this platform, or begin the script with #!", err)
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE),
		errors.Is(err, syscall.ENFILE):
		return fault.Errorf(fault.Degraded, "process: %s can't be started: the system has too few resources: %w", path,
			err)
	case errors.Is(err, syscall.E2BIG):
		return fault.Errorf(fault.Invalid, "process: %s can't be started: arguments and environment are too long: %w",
			path, err)
	case errors.Is(err, textBusy):
		return fault.Errorf(fault.Transient, "process: %s can't be started: another process is writing to the file: %w",
			path, err)
	}
	return fmt.Errorf("process: %s can't be started: %w", path, err)
}
