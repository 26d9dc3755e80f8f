package agent

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/journal"
)

// A descendant is a session, or the log of another package, whose parent is a session or another
// descendant of that.
type descendant struct {
	store journal.Store
	name  string
}

// deleteOwn removes a session from the agent's journal, after its descendants. An error leaves it,
// so that it can be deleted again.
func (a *Agent) deleteOwn(ctx context.Context, name string) error {
	list, err := a.descendants(ctx, name, nil)
	if err == nil {
		err = a.delete(ctx, list)
	}
	if err != nil {
		return err
	}
	a.sessions.Forget(name)
	return a.sessions.Store.Delete(ctx, name, journal.All)
}

// delete removes sessions, the last one first.
func (a *Agent) delete(ctx context.Context, list []descendant) error {
	for _, d := range slices.Backward(list) {
		a.sessions.Forget(d.name)
		if err := d.store.Delete(ctx, d.name, journal.All); err != nil {
			return err
		}
	}
	return nil
}

// descendants returns the descendants of a session, parents before their children. Children of the
// session itself that keep returns true for are left out, with their descendants; nil: none are.
func (a *Agent) descendants(ctx context.Context, name string, keep func(child string) bool) ([]descendant, error) {
	var found []descendant
	seen := make(map[string]bool) // two journals may be the same, and a host may make a circle
	stores := a.journals()
	for parent, n := name, 0; ; parent, n = found[n].name, n+1 {
		for _, store := range stores {
			children, err := childrenOf(ctx, store, parent)
			if err != nil {
				return nil, err
			}
			for _, child := range children {
				if child == name || seen[child] || parent == name && keep != nil && keep(child) {
					continue
				}
				seen[child] = true
				found = append(found, descendant{store, child})
			}
		}
		if n == len(found) {
			return found, nil
		}
	}
}

// childrenOf returns the names of a session's children in a journal.
func childrenOf(ctx context.Context, store journal.Store, parent string) (names []string, err error) {
	for head, err := range store.Heads(ctx, journal.Filter{Parent: parent}) {
		if err != nil {
			return nil, err
		}
		names = append(names, head.Session)
	}
	return names, nil
}

// journals returns the journals of the agent and of what its calls own. One may be listed twice.
func (a *Agent) journals() []journal.Store {
	stores := []journal.Store{a.sessions.Store}
	for _, owner := range a.owners {
		for _, store := range owner.Journals() {
			same := func(s journal.Store) bool { return contain.Same(s, store) }
			if !slices.ContainsFunc(stores, same) {
				stores = append(stores, store)
			}
		}
	}
	return stores
}
