package mcp

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fault.Wrap(fault.UserFixable, err)
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	p.logs.Go(func() { p.log(bufio.NewReader(stderr), t.cfg) })
	if p.Connection, err = (&mcp.IOTransport{Reader: stdout, Writer: stdin}).Connect(ctx); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
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

// A process is a connection to a child process.
type process struct {
	mcp.Connection
	cmd   *exec.Cmd
	once  sync.Once
	logs  sync.WaitGroup
	ended chan struct{}
}

// log writes what the process says on standard error to the log, long lines in pieces.
func (p *process) log(r *bufio.Reader, cfg *Config) {
	for {
		line, _, err := r.ReadLine()
		if err != nil {
			return
		}
		cfg.Logger.Debug("mcp: standard error", "server", cfg.Name, "line", string(line))
	}
}

// Write writes a message.
func (p *process) Write(ctx context.Context, m jsonrpc.Message) error {
	return p.Connection.Write(ctx, m)
}

// Close closes the standard input of the process, waits for its end, and then ends the whole group.
func (p *process) Close() error {
	p.once.Do(func() {
		if p.Connection != nil {
			_ = p.Connection.Close() // the process may have ended
		}
		go func() {
			_ = p.cmd.Wait() // how it has ended doesn't matter
			close(p.ended)
		}()
		for _, hard := range []bool{false, true} {
			if p.wait() {
				break
			}
			endGroup(p.cmd.Process, hard)
		}
		endGroup(p.cmd.Process, true) // what it has started and left
		p.wait()
		p.logs.Wait()
	})
	return nil
}

// wait waits for the end of the process, and reports whether it has ended.
func (p *process) wait() bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(patience):
		return false
	}
}
