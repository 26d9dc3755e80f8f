package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
)

// interrupted lists the sessions whose run can continue without a decision: its process was killed or stopped by a signal, or its
// decision was made and the run not resumed. Sessions that a process holds are included until their lease ends, because that process
// may have crashed.
func (p *program) interrupted(ctx context.Context) (heads []journal.Head, err error) {
	for _, filter := range []journal.Filter{{Status: string(agent.Running)}, {Status: string(agent.Paused), Inbox: true}} {
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

// resumeAll resumes every interrupted run, one after the other, and returns the worst of their statuses.
func (p *program) resumeAll(ctx context.Context) (status int) {
	heads, err := p.interrupted(ctx)
	if err != nil {
		return p.finish(nil, err)
	}
	if len(heads) == 0 {
		fmt.Fprintln(p.err, "No run was interrupted.")
	}
	for _, head := range heads {
		if p.drained {
			return exitStopped
		}
		p.session = head.Session
		fmt.Fprint(p.err, p.banner())
		res, err := p.carryOut(ctx, agent.Continue(head.Session))
		if p.elsewhere(res, err) {
			fmt.Fprintln(p.err, "Another process runs this session.")
			continue
		}
		status = max(status, p.finish(res, err))
	}
	return status
}

// elsewhere reports whether a run didn't continue because another process is running it or has finished it.
func (p *program) elsewhere(res *agent.Result, err error) bool {
	var (
		busy    *agent.BusyError
		nothing *agent.NothingOpenError
	)
	return res == nil && (errors.As(err, &busy) || errors.As(err, &nothing))
}

// mentionInterrupted prints the interrupted runs to stderr, except those that a process holds: it is probably alive.
func (p *program) mentionInterrupted(ctx context.Context) {
	heads, err := p.interrupted(ctx)
	if err != nil {
		fmt.Fprintln(p.err, "cms:", err)
	}
	for i := range heads {
		if h := &heads[i]; h.Session != p.session && !atWork(h) {
			fmt.Fprintf(p.err, "The run of session %s was interrupted. To resume it:\n  %s\n", h.Session, p.continuing(h.Session))
		}
	}
}

// offerOthers offers to resume the interrupted runs of other sessions. ok is false if the program should end.
func (p *program) offerOthers(ctx context.Context) (status int, ok bool) {
	heads, err := p.interrupted(ctx)
	if err != nil {
		return p.finish(nil, err), false
	}
	own := p.session
	defer func() { p.session = own }()
	for i := range heads {
		h := &heads[i]
		if h.Session == own {
			continue
		}
		if atWork(h) {
			p.out.line("Another process is working on session %s, or was killed just now.", h.Session)
		} else {
			p.out.line("The run of session %s was interrupted at %s.", h.Session, h.Updated.Local().Format(time.DateTime))
		}
		said, err := p.read("[r]esume it, or [l]ater: ")
		switch {
		case errors.Is(err, io.EOF):
			return exitOK, true
		case err != nil:
			return p.finish(nil, err), false
		case !strings.HasPrefix(strings.ToLower(said), "r"):
			continue
		}
		p.session = h.Session
		res, err := p.carryOut(ctx, agent.Continue(h.Session))
		if p.elsewhere(res, err) {
			p.out.line("Another process runs this session.")
			continue
		}
		if status, ok := p.after(res, err); !ok {
			return status, false
		}
	}
	return exitOK, true
}

// continuing returns the command that resumes a session.
func (p *program) continuing(session string) string {
	return fmt.Sprintf("%s -db %s -continue -session %s", self(), quoted(p.db), quoted(session))
}

// mentionOldRuns prints that the program no longer reads the file in which earlier releases stored the runs, while there are unfinished
// runs in it.
func (p *program) mentionOldRuns(ctx context.Context) {
	old := p.db + ".runs.db"
	abs, err := filepath.Abs(old)
	if err != nil {
		return
	}
	if info, err := os.Stat(abs); err != nil || !info.Mode().IsRegular() {
		return
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(abs)}).EscapedPath()+"?mode=ro")
	if err != nil {
		return
	}
	defer db.Close()
	var open int
	// A file that can't be read this way isn't such a file.
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM run_sessions WHERE status IN (?, ?)", string(agent.Running), string(agent.Paused)).Scan(&open)
	if err == nil && open > 0 {
		fmt.Fprintf(p.err, "cms: %s isn't read any more: the journal is in %s itself now. Sessions left unfinished there: %d. Make their requests again, then delete it.\n", old, p.db, open)
	}
}
