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

// interrupted lists the sessions whose run could continue without anybody deciding: their process was killed or ended by a
// signal, or somebody has decided what they waited for and resumed nothing. Those that a process holds are among
// them, because nobody knows whether that lives, until its lease ends.
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

// atWork reports whether a process may be at work on a session.
func atWork(h *journal.Head) bool { return h.Owner != "" && time.Now().Before(h.Until) }

// resumeAll resumes every run that was interrupted, one after the other, and returns the gravest of their statuses.
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

// elsewhere reports whether a run didn't continue because another process drives it, or has brought it to its end.
func (p *program) elsewhere(res *agent.Result, err error) bool {
	var (
		busy    *agent.BusyError
		nothing *agent.NothingOpenError
	)
	return res == nil && (errors.As(err, &busy) || errors.As(err, &nothing))
}

// mentionInterrupted says on stderr which runs were interrupted. Those that a process holds aren't mentioned: it may well live.
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

// offerOthers offers to resume the runs of other sessions that were interrupted. It reports false if the program is to end.
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
			p.out.line("Another process is at work on session %s, or was killed just now.", h.Session)
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

// continuing is how the program is called to resume a session.
func (p *program) continuing(session string) string {
	return fmt.Sprintf("%s -db %s -continue -session %s", self(), quoted(p.db), quoted(session))
}

// mentionOldRuns says what becomes of the file in which releases before this one kept what the agent did: nothing. It is mentioned
// only while something in it wasn't finished.
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
	// What can't be read as such a file isn't one.
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM run_sessions WHERE status IN (?, ?)", string(agent.Running), string(agent.Paused)).Scan(&open)
	if err == nil && open > 0 {
		fmt.Fprintf(p.err, "cms: %s isn't read any more: the journal is in %s itself now. Sessions left unfinished there: %d. Ask for what they were about again, then delete it.\n", old, p.db, open)
	}
}
