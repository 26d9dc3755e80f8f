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

// change returns a command that changes the session that is named, or those that its flags choose.
// The latter are only listed without -yes. One that can't be changed doesn't keep the others from
// it; those that have been changed already are no longer chosen, or are no error, so the command
// can be repeated.
func change(do func(*agent.Session, context.Context) error) func(*flag.FlagSet) action {
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
				return p.change(ctx, args[0], do)
			}
			p.out.head("done", "session", "status", "updated", "owner", "title")
			for i, err := range p.agent.Sessions(ctx, o) {
				if err == nil && *yes {
					err = p.change(ctx, i.Session, do)
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

// change does something with one session.
func (p *program) change(ctx context.Context, session string, do func(*agent.Session, context.Context) error) error {
	a, err := p.standInFor(ctx, session)
	if err != nil {
		return err
	}
	return do(a.Session(session), ctx)
}

// remove deletes a session that has ended.
func remove(s *agent.Session, ctx context.Context) error {
	info, err := s.Info(ctx)
	switch {
	case errors.Is(err, agent.ErrNothingOpen):
		return fmt.Errorf("session %q is unknown, so there is nothing to delete", s.ID())
	case err != nil:
		return err
	case info.Status == agent.Running, info.Status == agent.Paused, info.Status == agent.Queued:
		return fmt.Errorf("session %q is %s; cancel it before it is deleted", s.ID(), info.Status)
	}
	return s.Delete(ctx)
}
