package agent

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// delete removes a session from a journal, after those of the subagents that were called in it.
func (a *Agent) delete(ctx context.Context, store journal.Store, session string) error {
	err := a.eachChild(ctx, store, session, func(store journal.Store, name string) error { return a.delete(ctx, store, name) })
	if err != nil {
		return err
	}
	return store.Delete(ctx, session, journal.All)
}

// eachChild calls f for the sessions of the agents that are tools which were called in a session of a journal, each with the
// journal that it is in.
func (a *Agent) eachChild(ctx context.Context, store journal.Store, session string, f func(store journal.Store, name string) error) error {
	if len(a.children) == 0 && !strings.HasPrefix(session, childPrefix) {
		return nil
	}
	runs := make(map[string]bool)
	look := func(after uint64) error {
		for rec, err := range store.Read(ctx, session, after) {
			if err != nil {
				return err
			}
			if f, err := machine.Decode(session, rec); err == nil { // what can't be read has no children that can be found
				runs[f.Envelope().Run] = true
			}
		}
		return nil
	}
	err := look(0)
	var pruned *journal.PrunedError
	if errors.As(err, &pruned) {
		err = look(pruned.UpTo)
	}
	if err != nil {
		return err
	}
	prefixes := slices.Sorted(maps.Keys(runs))
	found := make(map[string]bool) // two journals may be the same
	for _, store := range a.journals() {
		for _, run := range prefixes {
			for head, err := range store.Heads(ctx, journal.Filter{Prefix: childPrefix + run + "."}) {
				if err != nil {
					return err
				}
				if found[head.Session] || !strings.HasSuffix(head.Session, childSuffix(session)) {
					continue // the latter: of the session that this one is a copy of
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

// journals returns where the sessions of the agents are that are called by this one, and by those: its own journal, and those
// that they were given. One may be named twice.
func (a *Agent) journals() []journal.Store {
	stores := []journal.Store{a.store}
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
