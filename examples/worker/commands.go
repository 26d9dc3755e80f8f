package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/worker/internal/site"
)

const usage = "the commands are enqueue TOPIC, list, show RUN, cancel RUN and retry RUN; without one the page is served"

// command does what a command says, beside the processes that run.
func (p *program) command(ctx context.Context, name string, args []string) error {
	if name == "list" && len(args) == 0 {
		return p.list(ctx)
	}
	if len(args) == 0 {
		return fmt.Errorf("%q needs an argument, or is unknown: %s", name, usage)
	}
	session := p.agent.Session(args[0])
	switch name {
	case "enqueue":
		id, err := site.Enqueue(ctx, site.InJournal(p.agent), p.ledger, strings.Join(args, " "), "")
		if err == nil {
			fmt.Fprintln(p.out, id)
		}
		return err
	case "show":
		facts, err := session.Facts(ctx)
		for _, f := range facts {
			line, failed := agent.MarshalEvent(f)
			if failed != nil {
				return failed
			}
			fmt.Fprintf(p.out, "%s\n", line)
		}
		return err
	case "cancel":
		return session.Cancel(ctx)
	case "retry":
		return session.Retry(ctx)
	}
	return fmt.Errorf("%q is unknown: %s", name, usage)
}

// list prints the newest runs.
func (p *program) list(ctx context.Context) error {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTATUS\tCHANGED\tTOPIC")
	for info, err := range p.agent.Sessions(ctx, agent.SessionFilter{Limit: 50}) {
		if err != nil {
			return err
		}
		changed := info.Updated.Local().Format(time.DateTime)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", info.Session, info.Status, changed, info.Title)
	}
	return w.Flush()
}
