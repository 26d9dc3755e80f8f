package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/pawlkit/pawl/agent"
)

// stopSignals stop a run, or end a program that waits at a prompt.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// errInterrupted is the error of a prompt that was interrupted by Ctrl-C or SIGTERM. The program
// ends.
var errInterrupted = errors.New("interrupted")

// A typed is a line that was read at a prompt.
type typed struct {
	line string
	err  error
}

// read prints a prompt and reads a line. At the end of the input it returns io.EOF, and after a
// signal errInterrupted. Reading from a terminal can't be interrupted: after a signal the read is
// abandoned until the program ends, so nothing may be read any more.
func (p *program) read(prompt string) (string, error) {
	stopped, stop := signal.NotifyContext(context.Background(), stopSignals...)
	defer stop()
	p.out.endLine()
	p.out.print(prompt)
	got := make(chan typed, 1)
	go func() {
		line, err := p.in.ReadString('\n')
		got <- typed{line, err}
	}()
	select {
	case <-stopped.Done():
		p.out.endLine()
		return "", errInterrupted
	case in := <-got:
		if in.err != nil && in.line == "" {
			p.out.endLine()
			return "", in.err
		}
		p.out.open = false // the person's Enter ended the line
		return strings.TrimSpace(in.line), nil
	}
}

// howToResume prints to stderr how to resume the session after a prompt was interrupted. If the run
// waits for a decision, res is its result.
func (p *program) howToResume(res *agent.Result) {
	if res != nil && res.Status == agent.Paused {
		p.asked = "" // describe it again, on stderr
		p.explain(newScreen(p.err), res.Pending)
		return
	}
	fmt.Fprintf(p.err, "To resume this session:\n  %s -db %s chat -session %s\n", self(), quoted(p.db),
		quoted(p.session))
}
