package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/terminal"
)

// interrupted lists the sessions whose run can continue without a decision: its process was killed
// or stopped by a signal, or its decision was made and the run not resumed. Sessions that a process
// holds are included until their lease ends, because that process may have crashed.
func (p *program) interrupted(ctx context.Context) (heads []journal.Head, err error) {
	for _, filter := range []journal.Filter{{Status: string(agent.Running)},
		{Status: string(agent.Paused), Inbox: true}} {
		for head, err := range p.store.Heads(ctx, filter) {
			if err != nil {
				return nil, fmt.Errorf("looking for interrupted runs: %w", err)
			}
			heads = append(heads, head)
		}
	}
	return heads, nil
}

// atWork reports whether a process may be working on a session.
func atWork(h *journal.Head) bool { return h.Owner != "" && time.Now().Before(h.Until) }

// resumeAll resumes every interrupted run, one after the other, and returns the worst of their
// statuses.
func (p *program) resumeAll(ctx context.Context) (status int) {
	heads, err := p.interrupted(ctx)
	if err != nil {
		return p.failed(err)
	}
	if len(heads) == 0 {
		fmt.Fprintln(p.err, "No run was interrupted.")
	}
	for _, head := range heads {
		p.session = head.Session
		fmt.Fprint(p.err, p.banner())
		code, err := p.talk(ctx, terminal.Config{Once: true})
		if elsewhere(err) {
			fmt.Fprintln(p.err, "Another process runs this session.")
			continue
		}
		status = max(status, p.status(code, err))
		if errors.Is(err, terminal.ErrInterrupted) {
			break
		}
	}
	return status
}

// elsewhere reports whether a run didn't continue because another process is running it or has
// finished it.
func elsewhere(err error) bool {
	return errors.Is(err, agent.ErrBusy) || errors.Is(err, agent.ErrNothingOpen)
}

// mentionInterrupted prints the interrupted runs to stderr, except those that a process holds: it
// is probably alive.
func (p *program) mentionInterrupted(ctx context.Context) {
	heads, err := p.interrupted(ctx)
	if err != nil {
		fmt.Fprintln(p.err, "cms:", err)
	}
	for i := range heads {
		if h := &heads[i]; h.Session != p.session && !atWork(h) {
			fmt.Fprintf(p.err, "The run of session %s was interrupted. To resume it:\n  %s\n", h.Session,
				p.continuing(h.Session))
		}
	}
}

// continuing returns the command that resumes a session.
func (p *program) continuing(session string) string {
	return fmt.Sprintf("%s -db %s -continue -session %s", self(), quoted(p.db), quoted(session))
}
