package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A SessionFilter says which sessions [Agent.Sessions] lists. The zero value lists all. A label is
// one of the newest run, or one that [Session.SetLabel] has set.
type SessionFilter struct {
	Prefix  string        // only sessions whose names begin with it
	Status  Status        // only those whose newest run has this status; empty: any
	Owner   string        // only those that belong to this owner: see Input.Owner; empty: any
	Label   journal.Label // only those that have this label, for example Label("user", "ann"); zero: any
	Without journal.Label // only those that don't have this label, for example Label("archived", "yes"); zero: any
	Updated time.Time     // only those that have changed since; zero: any
	Limit   int           // at most so many; 0: all
}

// A SessionInfo is what a list shows of a session.
type SessionInfo struct {
	Session string
	Title   string            // see [Session.SetTitle]
	Owner   string            // who it belongs to: see Input.Owner
	Parent  string            // whose work it is: see Input.Parent; empty in a list of Agent.Sessions
	Labels  map[string]string // of its newest run, and those that Session.SetLabel has set
	Status  Status            // of its newest run
	Mode    string            // the mode that it is in
	Model   string            // that its newest run asks for, or that has answered it
	Created time.Time         // when it began, by the clock of the store
	Updated time.Time         // when its newest fact was stored, by the clock of the store
	Pending int               // how many decisions it waits for; more than 1,000 are shown as 1,000
	Facts   uint64            // the number of its newest fact
	// Steps and Cost are the model calls of all its runs, and what these have cost, with subagents,
	// as far as prices are known; Unpriced says that some aren't. While a run is in progress they
	// are those of when it last started, paused, was resumed or changed its mode. They include runs
	// that were replaced or pruned. A fork doesn't have those of its original.
	Steps    int
	Cost     provider.Money
	Unpriced bool
}

// Sessions lists the sessions of the agent's journal, the most recently changed first, without
// those that have a parent (see Input.Parent), such as those of subagents, and the logs of other
// packages ([journal.Head].Kind). Each range over the sequence lists anew.
//
// It reads pages of 200 sessions, as far as the caller's loop and the filter's Limit and Updated
// need them. A session that changes meanwhile may be missed.
//
// The sessions that can't be read come last: each is an error, and a SessionInfo with the name
// alone. Nobody knows their owners, so the filter's Prefix alone applies to them. An error without
// a name is about the journal, and ends the list.
func (a *Agent) Sessions(ctx context.Context, f SessionFilter) iter.Seq2[SessionInfo, error] {
	return func(yield func(SessionInfo, error) bool) {
		if a == nil || a.registry == nil {
			yield(SessionInfo{}, errNoAgent)
			return
		}
		hf := journal.Filter{Prefix: f.Prefix, Status: string(f.Status), Label: f.Label, Without: f.Without,
			NoKind: true, NoParent: true, Newest: true}
		if f.Owner != "" && f.Label.Key == "" { // a store finds sessions by one label
			hf.Label = journal.Label{Key: machine.OwnerLabel, Value: f.Owner}
		}
		n, failed := 0, make(map[string]error)
		for h, err := range a.sessions.Store.Heads(orBackground(ctx), hf) {
			if err != nil && h.Session == "" {
				yield(SessionInfo{}, fmt.Errorf("agent: listing sessions: %w", err))
				return
			}
			if err != nil {
				failed[h.Session] = err
				continue
			}
			if h.Updated.Before(f.Updated) {
				break // and so are all that follow
			}
			info := headInfo(&h)
			if h.Seq == 0 || f.Owner != "" && f.Owner != info.Owner {
				continue
			}
			if !yield(info, nil) {
				return
			}
			if n++; n == f.Limit {
				break
			}
		}
		for _, name := range slices.Sorted(maps.Keys(failed)) {
			if !yield(SessionInfo{Session: name},
				fmt.Errorf("agent: session %q: reading its head: %w", name, failed[name])) {
				return
			}
		}
	}
}

// Info returns what a list shows of the session. It reads no log. An unknown session is a
// [ErrNothingOpen].
func (s *Session) Info(ctx context.Context) (SessionInfo, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return SessionInfo{}, err
	}
	h, err := s.agent.sessions.Store.Head(ctx, s.id)
	switch {
	case errors.Is(err, journal.ErrNoSession) || err == nil && (h.Seq == 0 || h.Kind != ""):
		return SessionInfo{}, &SessionError{Session: s.id, Code: ErrNothingOpen}
	case err != nil:
		return SessionInfo{}, fmt.Errorf("agent: session %q: reading its head: %w", s.id, err)
	}
	return headInfo(&h), nil
}

// headInfo returns what a list shows of a session.
func headInfo(h *journal.Head) SessionInfo {
	own := machine.InfoOf(h)
	info := SessionInfo{Mode: own.Mode, Model: own.Model, Steps: own.Steps, Cost: own.Cost, Unpriced: own.Unpriced,
		Session: h.Session, Title: h.Title, Owner: h.Labels[machine.OwnerLabel], Parent: h.Parent,
		Labels: maps.Clone(h.Labels), Status: Status(h.Status), Created: h.Created, Updated: h.Updated,
		Pending: len(h.Open), Facts: h.Seq}
	delete(info.Labels, machine.OwnerLabel)
	delete(info.Labels, machine.TreeLabel)
	return info
}
