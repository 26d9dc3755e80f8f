package main

import (
	"context"
	"strings"
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
		return p.failed(err)
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
	switch {
	case p.json:
		return p.failed(p.agent.Session(p.session).Export(ctx, p.out))
	case p.session != "":
		return p.failed(p.conversation(ctx))
	}
	none := true
	for info, err := range p.agent.Sessions(ctx, agent.SessionFilter{}) {
		if err != nil && info.Session == "" {
			return p.failed(err)
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
				p.out.line("→ %s %s", part.Call.Name, short(string(part.Call.Input), 200))
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

// firstLine returns text without an observation for the model that follows it.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n{")
	return text
}

// short returns text in one line of at most n characters.
func short(text string, n int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n]) + "…"
}
