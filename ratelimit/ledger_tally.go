package ratelimit

import "time"

// Usage are sums over calls.
type Usage struct {
	Calls int64

	Input, Output, CacheRead, CacheWrite, Reasoning int64 // tokens, as in an [Entry]

	Micros int64 // of the calls whose price is known, in millionths of a US dollar

	Unpriced        int64 // calls whose price isn't known: their money isn't in Micros
	UnpricedTokens  int64
	Estimated       int64 // calls whose tokens weren't counted by the provider
	EstimatedTokens int64

	// Calls that ended otherwise than done.
	Failed, Aborted, Preempted, Lost int64

	Latency time.Duration // of all calls together

	// Partial says that there may be more calls than these: some are no longer known one by one.
	Partial bool
}

// Tokens returns Input plus Output.
func (t *Usage) Tokens() int64 { return sum(t.Input, t.Output) }

func (t *Usage) add(e *Entry) {
	t.Calls++
	t.Input = sum(t.Input, e.Input)
	t.Output = sum(t.Output, e.Output)
	t.CacheRead = sum(t.CacheRead, e.CacheRead)
	t.CacheWrite = sum(t.CacheWrite, e.CacheWrite)
	t.Reasoning = sum(t.Reasoning, e.Reasoning)
	t.Micros = sum(t.Micros, e.Micros)
	if !e.Priced {
		t.Unpriced++
		t.UnpricedTokens = sum(t.UnpricedTokens, e.Tokens())
	}
	if e.Estimated {
		t.Estimated++
		t.EstimatedTokens = sum(t.EstimatedTokens, e.Tokens())
	}
	switch e.Outcome {
	case CallFailed:
		t.Failed++
	case CallAborted:
		t.Aborted++
	case CallPreempted:
		t.Preempted++
	case CallLost:
		t.Lost++
	}
	t.Latency = time.Duration(sum(int64(t.Latency), int64(e.Latency)))
}

// merge adds u to t.
func (t *Usage) merge(u *Usage) {
	for _, p := range [...]struct {
		to   *int64
		from int64
	}{
		{&t.Calls, u.Calls}, {&t.Input, u.Input}, {&t.Output, u.Output}, {&t.CacheRead, u.CacheRead}, {&t.CacheWrite, u.CacheWrite},
		{&t.Reasoning, u.Reasoning}, {&t.Micros, u.Micros}, {&t.Unpriced, u.Unpriced}, {&t.UnpricedTokens, u.UnpricedTokens},
		{&t.Estimated, u.Estimated}, {&t.EstimatedTokens, u.EstimatedTokens}, {&t.Failed, u.Failed}, {&t.Aborted, u.Aborted},
		{&t.Preempted, u.Preempted}, {&t.Lost, u.Lost}, {(*int64)(&t.Latency), int64(u.Latency)},
	} {
		*p.to = sum(*p.to, p.from)
	}
	t.Partial = t.Partial || u.Partial
}

// A dim is one of the labels that a [Ledger] has totals for.
type dim uint8

const (
	byRoot dim = iota // sessions, each with all that is nested in it
	bySession
	byPipeline
	byTask
	byAgent
	byKind
	byProvider
	byModel // models under their provider

	numDims = iota
)

// Others is the name under which a dimension has what it no longer has by name.
const Others = "(others)"

// A tallyKey is a name of a dimension; of a model, with its provider.
type tallyKey struct{ name, model string }

func keyOf(d dim, l *Labels) tallyKey {
	switch d {
	case byRoot:
		return tallyKey{name: l.root()}
	case bySession:
		return tallyKey{name: l.Session}
	case byPipeline:
		return tallyKey{name: l.Pipeline}
	case byTask:
		return tallyKey{name: l.Task}
	case byAgent:
		return tallyKey{name: l.Agent}
	case byKind:
		return tallyKey{name: l.Kind}
	case byProvider:
		return tallyKey{name: l.Provider}
	}
	return tallyKey{name: l.Provider, model: l.Model}
}

// A dimension has totals by name, for a bounded number of names.
type dimension struct {
	tallies     map[tallyKey]*tally
	front, back *tally // the one used last in front
	others      Usage  // of names that were given up
}

// A tally is what is known of one name.
type tally struct {
	key        tallyKey
	totals     Usage
	prev, next *tally
}

// add counts a call under its name. If there are too many names, the one used longest ago is given up.
func (d *dimension) add(key tallyKey, e *Entry, most int) {
	t := d.tallies[key]
	switch {
	case t != nil:
		d.remove(t)
	case len(d.tallies) < most:
		t = &tally{key: key}
		d.tallies[key] = t
	default: // the one that is given up serves the new one
		t = d.back
		d.remove(t)
		delete(d.tallies, t.key)
		d.others.merge(&t.totals)
		d.others.Partial = false // all are in here that aren't elsewhere
		*t = tally{key: key}
		d.tallies[key] = t
	}
	// Whoever comes after somebody was given up may be the one that was.
	if t.totals.Calls == 0 {
		t.totals.Partial = d.others.Calls > 0
	}
	t.totals.add(e)
	t.next = d.front
	if d.front != nil {
		d.front.prev = t
	} else {
		d.back = t
	}
	d.front = t
}

func (d *dimension) remove(t *tally) {
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		d.front = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		d.back = t.prev
	}
	t.prev, t.next = nil, nil
}

// of returns what is known of a name.
func (d *dimension) of(key tallyKey) Usage {
	if t := d.tallies[key]; t != nil {
		return t.totals
	}
	return Usage{Partial: d.others.Calls > 0}
}
