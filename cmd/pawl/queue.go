package main

import (
	"cmp"
	"context"
	"flag"
	"maps"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A turn is whose runs wait together.
type turn struct{ agent, group string }

// queue prints how much waits, since when, and how much has ended lately, by agent and group.
func queue(f *flag.FlagSet) action {
	last := f.Duration("last", time.Minute, "count as ended what has ended in this `time`")
	return func(ctx context.Context, p *program, _ []string) error {
		depths, err := p.store.Depths(ctx)
		if err != nil {
			return err
		}
		all := make(map[turn]*journal.Depth)
		for i := range depths {
			all[turn{depths[i].Agent, depths[i].Group}] = &depths[i]
		}
		ended, since := make(map[turn]int), time.Now().Add(-*last)
		for h, err := range p.store.Heads(ctx, journal.Filter{NoKind: true, NoParent: true, Newest: true}) {
			if err != nil {
				p.warn(err)
				continue
			}
			if h.Updated.Before(since) {
				break
			}
			info := machine.InfoOf(&h)
			if t := (turn{info.Agent, info.Group}); info.Agent != "" && !isOpen(agent.Status(h.Status)) {
				if ended[t]++; all[t] == nil {
					all[t] = &journal.Depth{Agent: t.agent, Group: t.group}
				}
			}
		}
		p.out.head("agent", "group", "waiting", "started", "oldest", "ended")
		for _, t := range slices.SortedFunc(maps.Keys(all), func(x, y turn) int {
			return cmp.Or(cmp.Compare(x.agent, y.agent), cmp.Compare(x.group, y.group))
		}) {
			d := all[t]
			p.out.row(d.Agent, d.Group, d.Waiting, d.Started, d.Oldest, ended[t])
		}
		return nil
	}
}

// dead prints the queued runs that have failed for good, and why.
func dead(f *flag.FlagSet) action {
	filter := filters(f)
	limit := f.Int("limit", 50, "at most this `number`; 0: all")
	return func(ctx context.Context, p *program, _ []string) error {
		o, err := filter()
		if err != nil {
			return err
		}
		o.Status, o.Limit = agent.Failed, *limit
		p.out.head("session", "agent", "failed", "retries", "stays", "why")
		for i, err := range p.agent.Sessions(ctx, o) {
			var m *machine.Machine
			if err == nil {
				_, m, err = p.load(ctx, i.Session)
			}
			if err != nil {
				p.warn(err)
				continue
			}
			if run := m.State().Run; run.Queue != nil {
				p.out.row(i.Session, run.Agent, i.Updated, run.Queue.Retries, run.WhyNotRequeued(),
					reason(m.LastResult().Reason))
			}
		}
		return nil
	}
}
