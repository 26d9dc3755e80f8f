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

// stopSignals are what stops a run, or ends a program that asks for something.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// errInterrupted is what a prompt returns that was answered with Ctrl-C, or with SIGTERM. The program is to end.
var errInterrupted = errors.New("interrupted")

// A typed is what was read at a prompt.
type typed struct {
	line string
	err  error
}

// read prints a prompt and reads a line. At the end of the input it returns io.EOF, and after a signal errInterrupted. The
// reading of a terminal can't be interrupted: after a signal it is abandoned until the program ends, so nothing may be
// read any more.
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
		p.out.open = false // whoever typed it ended the line
		return strings.TrimSpace(in.line), nil
	}
}

// howToResume says on stderr how to resume a session after a prompt was interrupted. res is the result of the run that
// waits for a decision, if one does.
func (p *program) howToResume(res *agent.Result) {
	if res != nil && res.Status == agent.Paused {
		p.asked = "" // what was described went elsewhere
		p.explain(newScreen(p.err), res.Pending)
		return
	}
	fmt.Fprintf(p.err, "To resume this session:\n  %s -db %s -session %s\n", self(), quoted(p.db), quoted(p.session))
}
