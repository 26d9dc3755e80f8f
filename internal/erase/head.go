package erase

import (
	"maps"
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Head returns a head with its texts replaced.
func (w *Walk) Head(h *journal.Head) *journal.HeadUpdate {
	w.name("session", h.Session)
	w.name("parent", h.Parent)
	u := &journal.HeadUpdate{Status: h.Status, Kind: h.Kind, Title: w.String(h.Title), Labels: maps.Clone(h.Labels),
		Parent: h.Parent, Info: h.Info, Due: h.Due, Open: slices.Clone(h.Open)}
	for key, value := range u.Labels {
		switch key {
		case machine.OwnerLabel:
			w.name("owner", value)
		case machine.TreeLabel:
			w.name("tree", value)
		default:
			w.name("labels", key)
			u.Labels[key] = w.String(value)
		}
	}
	for i := range u.Open {
		o := &u.Open[i]
		o.Title, o.What = w.String(o.Title), w.String(o.What)
	}
	return u
}
