package main

import (
	"context"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// takeBack undoes the changes of the session's last run and prints the receipt.
func (p *program) takeBack(ctx context.Context) int {
	receipt, err := p.agent.Session(p.session).Undo(ctx, agent.Rollback{By: p.by})
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

func (p *program) receipt(r *agent.UndoReceipt) {
	failed := []machine.UndoneCall{}
	if r.Failed != nil {
		failed = append(failed, *r.Failed)
	}
	nothing := true
	for _, part := range []struct {
		mark  string
		calls []machine.UndoneCall
	}{{"✓ undone:", r.Undone}, {"✗ can't be undone:", r.Impossible}, {"✗ failed to be undone:", failed}, {"✗ not tried:", r.Left}} {
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

// exportLog prints the log of the session.
func (p *program) exportLog(ctx context.Context) int {
	return p.finish(&agent.Result{Status: agent.Completed}, p.agent.Session(p.session).Export(ctx, screenWriter{p.out}))
}

// A screenWriter is an io.Writer that writes to a screen.
type screenWriter struct{ *screen }

func (w screenWriter) Write(b []byte) (int, error) {
	w.print(string(b))
	return len(b), w.failed
}
