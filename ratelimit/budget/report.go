package budget

import (
	"math"
	"time"
)

// A Filter selects calls: those that have all its labels and ended in its time range. The zero
// Filter selects all.
type Filter struct {
	Session  string
	User     string
	Tenant   string
	Pipeline string
	Task     string
	Agent    string
	Kind     string
	Provider string
	Model    string
	Outcome  string

	From time.Time // at or after; zero: from the beginning
	To   time.Time // before; zero: to the end
}

// matches reports whether f selects e.
func (f *Filter) matches(e *Entry) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	return is(f.Session, e.Session) && is(f.User, e.User) && is(f.Tenant, e.Tenant) && is(f.Pipeline, e.Pipeline) &&
		is(f.Task, e.Task) &&
		is(f.Agent, e.Agent) && is(f.Kind, e.Kind) && is(f.Provider, e.Provider) && is(f.Model, e.Model) &&
		is(f.Outcome, e.Outcome) && (f.From.IsZero() || !e.Time.Before(f.From)) &&
		(f.To.IsZero() || e.Time.Before(f.To))
}

// all reports whether f selects every call.
func (f *Filter) all() bool { return *f == Filter{} }

// single returns the dimension and the name if f selects by one name only.
func (f *Filter) single() (dim, tallyKey, bool) {
	l := Names{Session: f.Session, User: f.User, Tenant: f.Tenant, Pipeline: f.Pipeline, Task: f.Task, Agent: f.Agent,
		Kind:     f.Kind,
		Provider: f.Provider, Model: f.Model}
	for d, only := range [numDims]Filter{
		bySession:  {Session: f.Session},
		byUser:     {User: f.User},
		byTenant:   {Tenant: f.Tenant},
		byPipeline: {Pipeline: f.Pipeline},
		byTask:     {Task: f.Task},
		byAgent:    {Agent: f.Agent},
		byKind:     {Kind: f.Kind},
		byProvider: {Provider: f.Provider},
		byModel:    {Provider: f.Provider, Model: f.Model},
	} {
		if *f == only && (dim(d) != byModel || f.Provider != "") {
			return dim(d), keyOf(dim(d), &l), true
		}
	}
	return 0, tallyKey{}, false
}

// Total returns the sums over the calls that f selects.
//
// For the zero Filter, for one label alone, and for a provider with a model, it takes constant time
// and counts all calls since the ledger's creation. Any other filter scans the kept entries.
// Totals.Partial says whether calls may be missing.
func (l *Ledger) Total(f Filter) Totals {
	if l == nil {
		return Totals{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.all() {
		return l.total
	}
	if d, key, ok := f.single(); ok {
		return l.by[d].of(key)
	}
	t := Totals{Partial: l.lacks(&f)}
	l.all(func(e *Entry) {
		if f.matches(e) {
			one := e.totals()
			t.merge(&one)
		}
	})
	return t
}

// lacks reports whether f may select entries that aren't kept.
func (l *Ledger) lacks(f *Filter) bool {
	return l.dropped && (f.To.IsZero() || f.To.After(l.lostFrom)) && (f.From.IsZero() || !f.From.After(l.lostTo))
}

// Entries returns the kept calls that f selects, in the order in which they were recorded.
func (l *Ledger) Entries(f Filter) []Entry {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []Entry
	l.all(func(e *Entry) {
		if f.matches(e) {
			found = append(found, *e)
		}
	})
	return found
}

// A Report says what calls have used, by each of their labels. A call without a label is under the
// empty name. In each dimension the totals add up to Total.
type Report struct {
	Total    Totals
	From, To time.Time // when the first and the last of these calls ended; zero if there are none

	Sessions  map[string]Totals
	Users     map[string]Totals
	Tenants   map[string]Totals
	Pipelines map[string]Totals
	Tasks     map[string]Totals
	Agents    map[string]Totals
	Kinds     map[string]Totals
	Providers map[string]ProviderTotals
}

// ProviderTotals is the usage of a provider, and of each of its models. Dropped models are counted
// in the model [Others] of the provider Others.
type ProviderTotals struct {
	Totals
	Models map[string]Totals
}

// Report returns the report of the calls that f selects. The zero Filter selects all since the
// ledger's creation, with dropped names under [Others]. Any other filter, even one with a single
// label, scans the kept entries: Total.Partial says whether calls may be missing.
func (l *Ledger) Report(f Filter) Report {
	if l == nil {
		return Report{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.all() {
		return l.report()
	}
	some := NewLedger(LedgerConfig{Keep: -1, Names: math.MaxInt})
	some.total.Partial = l.lacks(&f)
	l.all(func(e *Entry) {
		if f.matches(e) {
			some.add(e, some.total.Partial)
		}
	})
	return some.report()
}

// report returns the report of all calls, from the totals.
func (l *Ledger) report() Report {
	r := Report{Total: l.total, From: l.since, To: l.last, Providers: make(map[string]ProviderTotals)}
	for d, names := range map[dim]*map[string]Totals{
		bySession: &r.Sessions, byUser: &r.Users, byTenant: &r.Tenants, byPipeline: &r.Pipelines, byTask: &r.Tasks,
		byAgent: &r.Agents, byKind: &r.Kinds,
	} {
		*names = make(map[string]Totals)
		for key, t := range l.by[d].all() {
			merge(*names, key.name, t)
		}
	}
	of := func(name string) ProviderTotals {
		p := r.Providers[name]
		if p.Models == nil {
			p.Models = make(map[string]Totals)
		}
		return p
	}
	for key, t := range l.by[byProvider].all() {
		p := of(key.name)
		p.merge(&t)
		r.Providers[key.name] = p
	}
	for key, t := range l.by[byModel].all() { // models are dropped independently of their providers
		p := of(key.name)
		merge(p.Models, key.model, t)
		r.Providers[key.name] = p
	}
	return r
}

// merge adds t to what a name has: a real name may equal Others.
func merge(names map[string]Totals, name string, t Totals) {
	had := names[name]
	had.merge(&t)
	names[name] = had
}
