package plan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Recover continues the runs of plans that could go on but that no process drives: their process
// died, or what they waited for was decided. It yields the events of one after the other. An error
// is that of one run, and doesn't end the sequence, unless the journal can't be read; that of a run
// that another process drives meanwhile is left out.
//
// The runs of submitted plans ([Tools]) are left out, since they continue with the sessions in
// which they were submitted, as do the sessions of nodes: see [agent.Agent.Recover]. Call both when
// a process starts, and regularly after that.
func (r *Runner) Recover(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx == nil {
			ctx = context.Background()
		}
		for head, err := range r.store.Heads(ctx, journal.Filter{Kind: headKind}) {
			if err != nil {
				if !yield(nil, fmt.Errorf("plan: looking for runs to continue: %w", err)) || head.Session == "" {
					return
				}
				continue
			}
			due, err := r.due(ctx, &head)
			if err != nil && !yield(nil, err) {
				return
			}
			if !due {
				continue
			}
			for ev, err := range r.Run(ctx, head.Session) {
				if _, busy := errors.AsType[*BusyError](err); busy {
					continue
				}
				if !yield(ev, err) {
					return
				}
			}
		}
	}
}

// due reports whether a run can go on and nobody drives it.
func (r *Runner) due(ctx context.Context, head *journal.Head) (bool, error) {
	switch {
	case strings.HasPrefix(head.Session, submittedPrefix), head.Owner != "" && time.Now().Before(head.Until):
		return false, nil
	case head.Status == statusRunning:
		return true, nil
	case head.Status != statusPaused:
		return false, nil
	case head.Inbox > 0:
		return true, nil
	}
	s, err := r.State(ctx, head.Session)
	if err != nil {
		return false, err
	}
	for _, i := range s.with(NodeRunning) { // a call of the node may have been decided
		node, err := r.nodeHead(ctx, s, &s.Nodes[i].Node)
		if err != nil || decided(&node) {
			return err == nil, err
		}
	}
	return false, nil
}

// nodeHead returns the head of the session of a node. It is empty if there is no session.
func (r *Runner) nodeHead(ctx context.Context, s *State, n *Node) (journal.Head, error) {
	a := r.agentOf(n.Worker)
	if a == nil {
		return journal.Head{}, nil
	}
	head, err := a.Journal().Head(ctx, SessionOf(s.Log, s.Current, n.ID))
	if err != nil && !errors.Is(err, journal.ErrNoSession) {
		return journal.Head{}, fmt.Errorf("plan: run %q: %w", s.Log, err)
	}
	return head, nil
}

// decided reports whether a session that waited for decisions may be able to go on.
func decided(head *journal.Head) bool { return len(head.Open) == 0 || head.Inbox > 0 }
