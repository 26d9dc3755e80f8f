package agent

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// deleteOwn removes a session from the agent's journal, with those of its subagents.
func (a *Agent) deleteOwn(ctx context.Context, name string) error {
	return a.delete(ctx, a.sessions.Store, name)
}

// delete removes a session from a journal, after the sessions of its subagents.
func (a *Agent) delete(ctx context.Context, store journal.Store, session string) error {
	err := a.eachChild(ctx, store, session, func(store journal.Store, name string) error {
		return a.delete(ctx, store, name)
	})
	if err != nil {
		return err
	}
	a.sessions.Forget(session)
	return store.Delete(ctx, session, journal.All)
}

// eachChild calls f for each session of a subagent that was called in a session, with the journal
// that contains it.
func (a *Agent) eachChild(ctx context.Context, store journal.Store, name string,
	f func(store journal.Store, name string) error) error {
	if len(a.children) == 0 && !strings.HasPrefix(name, childPrefix) {
		return nil
	}
	recs, err := session.Records(ctx, store, name, 0, 0)
	if err != nil {
		return err
	}
	runs := make(map[string]bool)
	for _, rec := range recs {
		if f, err := machine.Decode(name, rec); err == nil { // a record that can't be read names no subagents
			runs[f.Envelope().Run()] = true
		}
	}
	prefixes := slices.Sorted(maps.Keys(runs))
	found := make(map[string]bool) // two journals may be the same
	for _, store := range a.journals() {
		for _, run := range prefixes {
			for head, err := range store.Heads(ctx, journal.Filter{Prefix: childPrefix + run + ".", NoKind: true}) {
				if err != nil {
					return err
				}
				if found[head.Session] || !strings.HasSuffix(head.Session, childSuffix(name)) {
					continue // found before, or of the session that this one is a copy of
				}
				found[head.Session] = true
				if err := f(store, head.Session); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// journals returns the journals of the agent and of its subagents. One may be listed twice.
func (a *Agent) journals() []journal.Store {
	stores := []journal.Store{a.sessions.Store}
	for _, t := range a.children {
		for _, store := range t.child.journals() {
			if slices.ContainsFunc(stores, func(s journal.Store) bool { return sameStore(s, store) }) {
				continue
			}
			stores = append(stores, store)
		}
	}
	return stores
}

// sameStore reports whether two stores are known to be one.
func sameStore(a, b journal.Store) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
