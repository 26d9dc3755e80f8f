package mcp

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/circuit/fault"
	childprocess "github.com/pawlkit/pawl/tools/process"
)

// command starts a server as a child process, in a process group of its own.
type command struct{ cfg *Config }

// patience is how long a child process may take to end after its standard input was closed, and
// again after a signal.
const patience = 2 * time.Second

// Connect starts the process.
func (t *command) Connect(ctx context.Context) (mcp.Connection, error) {
	cmd := exec.Command(t.cfg.Command[0], t.cfg.Command[1:]...) //nolint:gosec // the host names it
	cmd.Dir, cmd.SysProcAttr = t.cfg.Dir, ownGroup()
	cmd.Env = append(environment(), t.cfg.Env...)
	cmd.Stderr, cmd.WaitDelay = logged{t.cfg}, patience
	c, err := (&mcp.CommandTransport{Command: cmd, TerminateDuration: patience}).Connect(ctx)
	if err != nil {
		return nil, fault.Wrap(fault.UserFixable, err)
	}
	return &process{Connection: c, cmd: cmd}, nil
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

// A logged writes what a process says on standard error to the log.
type logged struct{ cfg *Config }

// Write writes lines.
func (l logged) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		l.cfg.Logger.Debug("mcp: standard error", "server", l.cfg.Name, "line", string(bytes.TrimRight(line, "\r\n")))
	}
	return len(p), nil
}

// A process is a connection to a child process.
type process struct {
	mcp.Connection
	cmd  *exec.Cmd
	once sync.Once
}

// Close closes the standard input of the process, waits for its end, and then ends the whole group.
func (p *process) Close() error {
	p.once.Do(func() {
		_ = p.Connection.Close() // the process may have ended
		endGroup(p.cmd.Process)  // what it has started and left
	})
	return nil
}
