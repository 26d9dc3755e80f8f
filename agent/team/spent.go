package team

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
)

// A spent is what something has used, or may use.
type spent struct {
	tokens int64
	cost   provider.Money
}

func (s spent) add(o spent) spent { return spent{s.tokens + o.tokens, s.cost.Add(o.cost)} }

// A workSpent is what a piece of work had used when its log had so many facts.
type workSpent struct {
	spent
	seq uint64
}

// usedBy returns what a piece of work has used. The head doesn't have what it has used since its
// run started, nor its tokens.
func (c *conversation) usedBy(ctx context.Context, w *Work) spent {
	known, ok := c.works[w.Session]
	if ok && known.seq == w.head.Seq {
		return known.spent
	}
	res, err := w.session().Result(ctx)
	if err != nil {
		return spent{known.tokens, max(w.Cost, known.cost)}
	}
	now := spent{res.Usage.Total(), max(w.Cost, res.Cost)}
	c.works[w.Session] = workSpent{now, w.head.Seq}
	return now
}

// listReported lists the work of a conversation that is reported, of the inputs that have other
// work.
func (t *Team) listReported(ctx context.Context, c *conversation, session string, others []Work) error {
	list, err := t.list(ctx, journal.Filter{Parent: session,
		Label: journal.Label{Key: labelWork, Value: reported}})
	c.reported = slices.DeleteFunc(list, func(w Work) bool {
		return !slices.ContainsFunc(others, func(o Work) bool { return o.input() == w.input() }) ||
			slices.ContainsFunc(others, func(o Work) bool { return o.Session == w.Session }) // reported just now
	})
	return err
}
