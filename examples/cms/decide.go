package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
)

// decideOnce makes the decision that the options name and resumes the run.
func (p *program) decideOnce(ctx context.Context) int {
	d, err := p.decision(ctx)
	if err != nil {
		return p.failed(err)
	}
	return p.decideAndResume(ctx, d)
}

// decideAndResume records a decision and then resumes the run. The recorded decision counts even if
// this process dies before it resumes the run. Of several processes that decide, only the first one
// resumes the run.
func (p *program) decideAndResume(ctx context.Context, d agent.Decision) int {
	if err := p.agent.Session(p.session).Decide(ctx, d); err != nil {
		return p.failed(err)
	}
	fmt.Fprint(p.err, p.banner())
	code, err := p.talk(ctx, terminal.Config{Once: true})
	if elsewhere(err) {
		fmt.Fprintln(p.err, "The decision was recorded. Another process runs the session.")
		return exitOK
	}
	return p.status(code, err)
}

// decision returns the decision that the options describe.
func (p *program) decision(ctx context.Context) (d agent.Decision, err error) {
	id := p.id
	if id == "" {
		pending, err := p.agent.Session(p.session).Pending(ctx)
		switch {
		case err != nil:
			return d, err
		case len(pending) == 0:
			return d, p.nothingOpen(ctx)
		case len(pending) > 1:
			ids := ""
			for _, pause := range pending {
				ids += fmt.Sprintf("\n  %s  %s %s", pause.ID, pause.Call.Name, pause.Call.Input)
			}
			return d,
				&agent.ArgError{Field: "-id", Problem: "the session waits for several decisions; name one of" + ids}
		}
		id = pending[0].ID
	}
	switch p.decide {
	case "approve":
		d = agent.Approve(id)
	case "reject":
		d = agent.Reject(id, p.reason)
	case "edit":
		d = agent.Edit(id, json.RawMessage(p.input))
	case "suggest":
		d = agent.Suggest(id, p.reason)
	case "always":
		d = agent.AllowAlways(id)
	case "answer":
		d = agent.Answer(id, json.RawMessage(p.input))
	}
	return d.By(p.by), nil
}

// nothingOpen returns the error for a session without a pending decision.
func (p *program) nothingOpen(ctx context.Context) error {
	last, err := p.agent.Session(p.session).Result(ctx)
	if err != nil {
		return err
	}
	if last.Status == agent.Running || last.Status == agent.Paused {
		return &agent.ArgError{Field: "Input.Session",
			Problem: "it has no pending decision: its run is in progress or was interrupted; -continue resumes it"}
	}
	return &agent.SessionError{Session: p.session, Code: agent.ErrNothingOpen, Status: last.Status}
}
