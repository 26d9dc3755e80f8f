package roletest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A Process is a process that plays a role. It is for one goroutine.
type Process struct {
	*exec.Cmd
	In io.WriteCloser // its standard input

	out  *bufio.Reader
	last string // the last line that it printed
}

// Start starts a process that plays a role, and kills it when the test ends if it is still running.
// The test must wait for it: with [Process.End], [Process.Kill], [Sum], or [exec.Cmd.Wait] after
// all lines were read.
func Start(t testing.TB, role string, args ...string) *Process {
	t.Helper()
	p := &Process{Cmd: Command(t.Context(), role, args...)}
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	must(t, err)
	out, err := p.StdoutPipe()
	must(t, err)
	must(t, p.Cmd.Start())
	p.In, p.out = in, bufio.NewReader(out)
	return p
}

// Line waits for the next line of the process and returns it; it returns "" at the end. A line
// without a line end doesn't count.
func (p *Process) Line() string {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return ""
	}
	p.last = strings.TrimSuffix(line, "\n")
	return p.last
}

// End returns the next line of the process, waits until it has ended, and requires success.
func (p *Process) End(t testing.TB) string {
	t.Helper()
	line := p.Line()
	must(t, p.Wait())
	return line
}

// Kill kills the process and returns the last line that it printed.
func (p *Process) Kill(t testing.TB) string {
	t.Helper()
	must(t, p.Process.Kill())
	for p.Line() != "" { // the lines that it printed before
	}
	if p.Wait() == nil {
		t.Fatal("roletest: the process had ended before it was killed")
	}
	return p.last
}

// Together lets processes continue when all of them have called [Ready].
func Together(t testing.TB, all ...*Process) {
	t.Helper()
	for _, p := range all {
		if line := p.Line(); line != ready {
			t.Fatalf("roletest: the process said %q, not that it is ready", line)
		}
	}
	for _, p := range all {
		must(t, p.In.Close())
	}
}

// Sum ends processes like [Process.End], each of which prints a number, and returns the sum.
func Sum(t testing.TB, all ...*Process) int {
	t.Helper()
	sum := 0
	for _, p := range all {
		n, err := strconv.Atoi(p.End(t))
		must(t, err)
		sum += n
	}
	return sum
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("roletest: %v", err)
	}
}
