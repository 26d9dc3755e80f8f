package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
)

// filters adds the flags that choose sessions.
func filters(f *flag.FlagSet) func() (agent.SessionFilter, error) {
	var o agent.SessionFilter
	f.StringVar((*string)(&o.Status), "status", "", "only sessions with this `status`, such as queued or failed")
	label := f.String("label", "", "only sessions with this label, as `key=value`")
	f.StringVar(&o.Owner, "owner", "", "only sessions of this `owner`")
	f.StringVar(&o.Prefix, "prefix", "", "only sessions whose names begin with this `text`")
	idle := f.Duration("idle", 0, "only sessions in which nothing has happened for this `time`, such as 24h")
	return func() (agent.SessionFilter, error) {
		key, value, _ := strings.Cut(*label, "=")
		if o.Label = (journal.Label{Key: key, Value: value}); *label != "" && (key == "" || value == "") {
			return o, fmt.Errorf("-label %s isn't key=value; %w %s", *label, errUsage, f.Name())
		}
		if *idle < 0 {
			return o, fmt.Errorf("-idle %s is negative; %w %s", *idle, errUsage, f.Name())
		}
		if *idle > 0 {
			o.Before = time.Now().Add(-*idle)
		}
		return o, nil
	}
}

// A changer is a command that changes sessions. By flags it chooses of those that may be changed.
type changer struct {
	may func(agent.Status) bool
	do  func(p *program, ctx context.Context, session string) error
}

// isOpen reports whether a session's run can go on.
func isOpen(s agent.Status) bool { return s == agent.Running || s == agent.Paused || s == agent.Queued }

var (
	canceling = changer{isOpen, func(p *program, ctx context.Context, session string) error {
		a, err := p.standInFor(ctx, session)
		if err != nil {
			return err
		}
		return a.Session(session).Cancel(ctx)
	}}
	retrying = changer{func(s agent.Status) bool { return s == agent.Failed },
		func(p *program, ctx context.Context, session string) error {
			return p.agent.Session(session).Retry(ctx)
		}}
	deleting = changer{func(s agent.Status) bool { return !isOpen(s) }, (*program).remove}
)

// change returns a command that changes the session that is named, or those that its flags choose.
// The latter are only listed without -yes. One that can't be changed doesn't keep the others from
// it; those that have been changed already are no longer chosen, so the command can be repeated.
func change(c changer) func(*flag.FlagSet) action {
	return func(f *flag.FlagSet) action {
		filter := filters(f)
		yes := f.Bool("yes", false, "do it with the sessions that the other flags choose; else they are only listed")
		return func(ctx context.Context, p *program, args []string) error {
			o, err := filter()
			chosen := o != agent.SessionFilter{}
			switch {
			case err != nil:
				return err
			case len(args) == 1 && chosen, len(args) == 0 && !chosen:
				return fmt.Errorf("name a session, or choose some by -status, -label, -owner, -prefix or -idle; %w %s",
					errUsage, f.Name())
			case len(args) == 1:
				return c.do(p, ctx, args[0])
			}
			p.out.head("done", "session", "status", "updated", "owner", "title")
			for i, err := range p.agent.Sessions(ctx, o) {
				if err == nil && !c.may(i.Status) {
					continue
				}
				if err == nil && *yes {
					err = c.do(p, ctx, i.Session)
				}
				if err != nil {
					p.warn(err)
				}
				if i.Session != "" {
					p.out.row(*yes && err == nil, i.Session, i.Status, i.Updated, i.Owner, i.Title)
				}
			}
			return nil
		}
	}
}

// remove deletes a session that has ended, and whose host was told of that.
func (p *program) remove(ctx context.Context, session string) error {
	head, err := p.store.Head(ctx, session)
	switch status := agent.Status(head.Status); {
	case errors.Is(err, journal.ErrNoSession):
		return fmt.Errorf("session %q is unknown, so there is nothing to delete", session)
	case err != nil:
		return err
	case isOpen(status):
		return fmt.Errorf("session %q is %s; cancel it before it is deleted", session, status)
	case !head.Due.IsZero():
		return fmt.Errorf("the host wasn't told yet how session %q has ended; a worker does that", session)
	}
	return p.agent.Session(session).Delete(ctx)
}
