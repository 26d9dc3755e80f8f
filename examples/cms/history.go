package main

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// takeBack undoes the changes of the session's last run and prints the receipt.
func (p *program) takeBack(ctx context.Context) int {
	receipt, err := p.agent.Session(p.session).Undo(ctx, agent.Rollback{User: p.by})
	if receipt != nil {
		p.receipt(receipt)
	}
	if err != nil {
		return p.finish(nil, err)
	}
	if receipt.Err() != nil {
		return exitFailed // the receipt says why
	}
	return exitOK
}

func (p *program) receipt(r *machine.UndoReceipt) {
	failed := []machine.UndoneCall{}
	if r.Failed != nil {
		failed = append(failed, *r.Failed)
	}
	nothing := true
	for _, part := range []struct {
		mark  string
		calls []machine.UndoneCall
	}{{"✓ undone:", r.Undone}, {"✗ can't be undone:", r.Impossible}, {"✗ failed to be undone:", failed},
		{"✗ not tried:", r.Left}} {
		for _, c := range part.calls {
			nothing = false
			p.out.line("%s %s %s", part.mark, c.Call.Name, short(string(c.Call.Input), 200))
			if c.Why != "" {
				p.out.line("    %s", c.Why)
			}
		}
	}
	if nothing {
		p.out.line("The last run changed nothing, or all of it is undone already.")
	}
}

// history lists the sessions, or prints the conversation or the log of one.
func (p *program) history(ctx context.Context) int {
	done := &agent.Result{Status: agent.Completed}
	switch {
	case p.json:
		return p.finish(done, p.agent.Session(p.session).Export(ctx, screenWriter{p.out}))
	case p.session != "":
		return p.finish(done, p.conversation(ctx))
	}
	none := true
	for info, err := range p.agent.Sessions(ctx, agent.SessionFilter{}) {
		if err != nil && info.Session == "" {
			return p.finish(nil, err)
		}
		none = false
		if err != nil {
			p.out.line("%v", err)
			continue
		}
		p.out.line("%s  %-9s  %s  %s", info.Updated.Local().Format(time.DateTime), info.Status, info.Session,
			info.Title)
	}
	if none {
		p.out.line("There are no sessions.")
	}
	return exitOK
}

// conversation prints what was said and called in the session.
func (p *program) conversation(ctx context.Context) error {
	if _, err := p.agent.Session(p.session).Result(ctx); err != nil {
		return err // there is no such session
	}
	messages, err := p.agent.Session(p.session).Messages(ctx)
	for _, m := range messages {
		for _, part := range m.Parts {
			switch {
			case part.Call != nil:
				p.out.line("%s %s %s", p.out.paint(bold, "→"), part.Call.Name, short(string(part.Call.Input), 200))
			case part.Result != nil:
				p.out.line("  %s", short(firstLine(part.Result.Text()), 300))
			case m.Role == provider.RoleUser:
				p.out.line("> %s", part.Text)
			case part.Kind == provider.PartText || part.Kind == provider.PartRefusal:
				p.out.line("%s", part.Text)
			}
		}
	}
	return err
}

// A screenWriter is an io.Writer that writes to a screen.
type screenWriter struct{ *screen }

func (w screenWriter) Write(b []byte) (int, error) {
	w.print(string(b))
	return len(b), w.failed
}
