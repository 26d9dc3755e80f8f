package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// variable is the environment variable with the DSN of an existing server.
const variable = "PAWL_POSTGRES"

var errNone = errors.New("there is no PostgreSQL: set " + variable +
	" to the DSN of a server, or install initdb and pg_ctl (Debian: postgresql-15, or bash internal/pgtest/install.sh)")

var server struct {
	start sync.Once
	dsn   string
	err   error
	*process
}

// A process is a server that was started here.
type process struct {
	in   io.WriteCloser
	out  *bufio.Reader
	stop func()
}

// await waits until the server has started.
func (p *process) await() error {
	line, err := p.out.ReadString('\n')
	if err == nil && line != "ready\n" {
		err = fmt.Errorf("it says %q", line)
	}
	return err
}

// DSN returns the DSN of the server. All tests of a process use the same server; each creates its
// own schema. Without a server, tb is skipped; if there is one that can't be used, tb fails. For a
// benchmark it is [Measured].
func DSN(tb testing.TB) string {
	tb.Helper()
	_, measured := tb.(*testing.B)
	return dsn(tb, measured)
}

// Measured is DSN for a test that measures: the server waits for the disk. No other test of the
// process may have called DSN before.
func Measured(tb testing.TB) string {
	tb.Helper()
	return dsn(tb, true)
}

func dsn(tb testing.TB, measured bool) string {
	tb.Helper()
	if dsn := os.Getenv(variable); dsn != "" {
		return dsn
	}
	server.start.Do(func() { server.dsn, server.process, server.err = start(measured) })
	if errors.Is(server.err, errNone) {
		tb.Skip(server.err)
	}
	if server.err != nil {
		tb.Fatal(server.err)
	}
	return server.dsn
}

// Stop stops the server if this process has started it.
func Stop() {
	if server.process != nil {
		server.stop()
	}
}

// Restart crashes the server, starts it again and waits until it has recovered. It reports false if
// this process hasn't started the server: then nothing happens.
func Restart(tb testing.TB) bool {
	tb.Helper()
	if server.process == nil {
		return false
	}
	_, err := io.WriteString(server.in, "restart\n")
	if err == nil {
		err = server.await()
	}
	if err != nil {
		tb.Fatalf("PostgreSQL can't be restarted: %v", err)
	}
	return true
}

// script runs a server while its standard input is open, so the server ends with the process at the
// other end. For each line of its input the server crashes and starts again.
const script = `set -e
"$1/initdb" -D "$2/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$2/log" 2>&1
"$1/pg_ctl" -D "$2/data" -w -l "$2/log" -o "-k '$2' -c listen_addresses='' -c max_connections=400 -c fsync=$3" start >>"$2/log" 2>&1
echo ready
while read -r _; do
  "$1/pg_ctl" -D "$2/data" -w -l "$2/log" -m immediate restart >>"$2/log" 2>&1
  echo ready
done
"$1/pg_ctl" -D "$2/data" -m immediate stop >>"$2/log" 2>&1
cd / && rm -rf "$2"
`

// start starts a server. Only a server for measurements waits for the disk; a test's data needn't
// survive a power failure.
func start(measured bool) (dsn string, p *process, err error) {
	bin, err := binaries()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return "", nil, err
	}
	fsync := "off"
	if measured {
		fsync = "on"
	}
	cmd := exec.Command("sh", "-c", script, "sh", bin, dir, fsync)
	cmd.Dir = dir
	if err := asOrdinaryUser(cmd, dir); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("starting PostgreSQL: %w", err), os.RemoveAll(dir))
	}
	p = &process{in: in, out: bufio.NewReader(out), stop: func() {
		_ = in.Close()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}}
	if p.await() != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		p.stop()
		return "", nil, fmt.Errorf("PostgreSQL from %s can't be started:\n%s", bin, log)
	}
	return "host=" + dir + " user=postgres dbname=postgres sslmode=disable", p, nil
}

// binaries returns the folder of initdb and pg_ctl, of the newest version if there are several.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errNone
	}
	version := func(path string) float64 {
		v, _ := strconv.ParseFloat(strings.Split(path, "/")[4], 64)
		return v
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return int(100 * (version(a) - version(b))) })),
		nil
}
