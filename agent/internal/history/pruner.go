package history

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
)

// A Pruner removes sessions, or what isn't needed of them, with their descendants: the sessions and
// the logs of other packages whose parent is the session or a descendant of it. It is safe for
// concurrent use.
type Pruner struct {
	Sessions *session.Sessions
	Journals []journal.Store // that have descendants; one of them is that of Sessions
}

// A descendant is a session, or the log of another package, that is a descendant of a session.
type descendant struct {
	store journal.Store
	name  string
}

// Remove removes a session after its descendants. After an error it is still there, so that it can
// be removed again. The caller holds it.
func (p *Pruner) Remove(ctx context.Context, name string) error {
	list, err := p.descendants(ctx, name, nil)
	if err != nil {
		return err
	}
	return p.remove(ctx, slices.Insert(list, 0, descendant{p.Sessions.Store, name}))
}

// remove removes sessions, the last one first.
func (p *Pruner) remove(ctx context.Context, list []descendant) error {
	for _, d := range slices.Backward(list) {
		p.Sessions.Forget(d.name)
		if err := d.store.Delete(ctx, d.name, journal.All); err != nil {
			return err
		}
	}
	return nil
}

// descendants returns the descendants of a session, parents before their children. Children of the
// session itself that keep returns true for are left out, with their descendants; nil: none are.
func (p *Pruner) descendants(ctx context.Context, name string, keep func(child string) bool) ([]descendant, error) {
	var found []descendant
	seen := make(map[string]bool) // two journals may be the same, and a host may make a circle
	for parent, n := name, 0; ; parent, n = found[n].name, n+1 {
		for _, store := range p.Journals {
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
