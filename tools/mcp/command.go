package mcp

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	childprocess "github.com/pawlkit/pawl/tools/process"
)

// command starts a server as a child process, in a process group of its own.
type command struct {
	cfg  *Config
	said *logged
}

// patience is how long a child process may take to end after its standard input was closed, and
// again after a signal.
const patience = 2 * time.Second

// Connect starts the process.
func (t *command) Connect(ctx context.Context) (mcp.Connection, error) {
	cmd := exec.Command(t.cfg.Command[0], t.cfg.Command[1:]...) //nolint:gosec // the host names it
	cmd.Dir, cmd.SysProcAttr = t.cfg.Dir, ownGroup()
	cmd.Env = append(environment(), t.cfg.Env...)
	cmd.Stderr, cmd.WaitDelay = t.said, patience
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fault.Wrap(fault.UserFixable, err)
	}
	p := &process{cmd: cmd, in: in, said: t.said, ended: make(chan struct{})}
	p.Connection, err = (&mcp.IOTransport{Reader: newLines(out, t.cfg), Writer: in}).Connect(ctx)
	return p, err
}

// environment returns the variables of this process that a server gets: those of SafeEnv without
// the directories of the go command, which finds them from HOME and from what "go env -w" has set,
// and those that the official SDKs of the protocol pass on.
func environment() []string {
	env := slices.DeleteFunc(childprocess.SafeEnv(), func(kv string) bool { return strings.HasPrefix(kv, "GO") })
	for _, name := range []string{"HOME", "LOGNAME", "SHELL", "USER", // and those of Windows
		"APPDATA", "HOMEDRIVE", "HOMEPATH", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES", "SYSTEMDRIVE", "USERNAME"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// longestLine is about how much of a line without an end is kept before it is logged, in bytes.
const longestLine = 4 << 10

// A logged writes what a process says on standard error to the log, by lines, long ones in pieces.
type logged struct {
	cfg *Config

	mu   sync.Mutex // guards what follows
	line []byte     // that may go on
	last []byte     // of all lines, at most twice mostKept bytes
}

// mostKept is how much of the end of standard error errors have, in bytes.
const mostKept = 8 << 10

// kept returns the end of what the process has written, as an error has it: it is data.
func (l *logged) kept() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := bytes.TrimSpace(l.last[max(0, len(l.last)-mostKept):])
	if len(last) == 0 {
		return ""
	}
	return "\nIt has written to its standard error:\n" +
		tools.Untrusted(l.cfg.Name, strings.ToValidUTF8(string(last), "\uFFFD"))
}

// Write takes output, of which lines may come in pieces.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last = append(l.last, p[max(0, len(p)-mostKept):]...); len(l.last) > 2*mostKept {
		l.last = append(l.last[:0], l.last[len(l.last)-mostKept:]...)
	}
	for piece := range bytes.Lines(p) {
		l.line = append(l.line, piece...)
		if bytes.HasSuffix(piece, []byte("\n")) || len(l.line) >= longestLine {
			l.log()
		}
	}
	return len(p), nil
}

// log logs the line. It is called under mu.
func (l *logged) log() {
	line := string(bytes.TrimRight(l.line, "\r\n"))
	l.line = l.line[:0]
	l.cfg.Logger.Debug("mcp: standard error", "server", l.cfg.Name, "line", line)
}

// end logs the beginning of a line that has no end.
func (l *logged) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) > 0 {
		l.log()
	}
}

// A process is a connection to a child process.
type process struct {
	mcp.Connection
	cmd   *exec.Cmd
	in    io.Closer
	said  *logged
	once  sync.Once
	ended chan struct{}
}

// Close closes the standard input of the process, waits for its end, and then ends the whole group.
func (p *process) Close() error {
	p.once.Do(func() {
		_ = p.in.Close() // the process may have ended
		go func() {
			defer close(p.ended)
			_ = p.cmd.Wait() // how it ends doesn't matter any more
		}()
		if !p.endsWithin(patience) && p.cmd.Process.Signal(syscall.SIGTERM) == nil {
			p.endsWithin(patience)
		}
		endGroup(p.cmd.Process) // what it has started and left
		<-p.ended               // WaitDelay bounds it
		_ = p.Connection.Close()
		p.said.end()
	})
	return nil
}

// endsWithin waits for the end of the process.
func (p *process) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}
