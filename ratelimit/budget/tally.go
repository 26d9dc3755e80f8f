package budget

import (
	"iter"
	"time"

	"github.com/pawlkit/pawl/ratelimit/internal/list"
)

// Totals are sums over calls.
type Totals struct {
	Calls int64

	Input, Output, CacheRead, CacheWrite, Reasoning int64 // tokens, as in an [Entry]

	Micros int64 // of the calls whose price is known, in millionths of a US dollar

	Unpriced        int64 // calls whose price isn't known; their cost isn't in Micros
	UnpricedTokens  int64
	Estimated       int64 // calls whose tokens weren't counted by the provider
	EstimatedTokens int64

	// Calls with another outcome than CallDone.
	Failed, Aborted, Preempted, Lost int64

	Latency time.Duration // of all calls together

	// Partial says that there may be more calls than these, because some entries are no longer
	// kept.
	Partial bool
}

// Tokens returns Input plus Output.
func (t *Totals) Tokens() int64 { return sum(t.Input, t.Output) }

// totals returns e as the sums over one call.
func (e *Entry) totals() Totals {
	t := Totals{Calls: 1, Input: e.Input, Output: e.Output, CacheRead: e.CacheRead, CacheWrite: e.CacheWrite,
		Reasoning: e.Reasoning, Micros: e.Micros, Latency: e.Latency}
	if !e.Priced {
		t.Unpriced, t.UnpricedTokens = 1, e.Tokens()
	}
	if e.Estimated {
		t.Estimated, t.EstimatedTokens = 1, e.Tokens()
	}
	switch e.Outcome {
	case CallFailed:
		t.Failed = 1
	case CallAborted:
		t.Aborted = 1
	case CallPreempted:
		t.Preempted = 1
	case callLost:
		t.Lost = 1
	}
	return t
}

// merge adds u to t.
func (t *Totals) merge(u *Totals) {
	from := u.figures()
	for i, to := range t.figures() {
		*to = sum(*to, *from[i])
	}
	t.Partial = t.Partial || u.Partial
}

func (t *Totals) figures() [16]*int64 {
	return [...]*int64{&t.Calls, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning, &t.Micros,
		&t.Unpriced, &t.UnpricedTokens, &t.Estimated, &t.EstimatedTokens, &t.Failed, &t.Aborted, &t.Preempted, &t.Lost,
		(*int64)(&t.Latency)}
}

// A dim is one of the labels that a [Ledger] has totals for.
type dim uint8

const (
	bySession dim = iota
	byUser
	byTenant
	byPipeline
	byTask
	byAgent
	byKind
	byProvider
	byModel // models under their provider

	numDims = iota
)

// Others is the name for the totals of the names that a dimension has dropped.
const Others = "(others)"

// A tallyKey is a name in a dimension, and for a model its provider.
type tallyKey struct{ name, model string }

func keyOf(d dim, l *Names) tallyKey {
	if d == byModel {
		return tallyKey{name: l.Provider, model: l.Model}
	}
	return tallyKey{name: [...]string{bySession: l.Session, byUser: l.User, byTenant: l.Tenant,
		byPipeline: l.Pipeline, byTask: l.Task,
		byAgent: l.Agent, byKind: l.Kind, byProvider: l.Provider}[d]}
}

// A dimension has totals by name, for a bounded number of names.
type dimension struct {
	tallies map[tallyKey]*tally
	used    list.List[tally] // the one used last in front
	others  Totals           // of dropped names
}

// A tally has the totals of one name.
type tally struct {
	key    tallyKey
	totals Totals
	place  list.Links[tally] // in dimension.used
}

func newDimension() dimension {
	inUsed := func(t *tally) *list.Links[tally] { return &t.place }
	return dimension{tallies: make(map[tallyKey]*tally), used: list.List[tally]{Links: inUsed}}
}

// add counts a call under its name. If there are too many names, it drops the one used longest ago.
func (d *dimension) add(key tallyKey, e *Totals, most int) {
	t := d.tallies[key]
	switch {
	case t != nil:
	case len(d.tallies) < most:
		t = &tally{key: key}
		d.tallies[key] = t
		d.used.PushFront(t)
	default: // reuse the dropped tally for the new name
		t = d.used.Tail
		delete(d.tallies, t.key)
		d.others.merge(&t.totals)
		d.others.Partial = false // all other calls are counted here
		t.key, t.totals = key, Totals{}
		d.tallies[key] = t
	}
	// A new name may have been dropped before.
	if t.totals.Calls == 0 {
		t.totals.Partial = d.others.Calls > 0
	}
	t.totals.merge(e)
	if t != d.used.Head {
		d.used.Remove(t)
		d.used.PushFront(t)
	}
}

// of returns the usage of a name.
func (d *dimension) of(key tallyKey) Totals {
	if t := d.tallies[key]; t != nil {
		return t.totals
	}
	return Totals{Partial: d.others.Calls > 0}
}

// all has the totals of each name, and those of the dropped names under [Others].
func (d *dimension) all() iter.Seq2[tallyKey, Totals] {
	return func(yield func(tallyKey, Totals) bool) {
		for key, t := range d.tallies {
			if !yield(key, t.totals) {
				return
			}
		}
		if d.others.Calls > 0 {
			yield(tallyKey{name: Others, model: Others}, d.others)
		}
	}
}
