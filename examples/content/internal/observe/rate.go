package observe

import "time"

// rates are what the rules about rates look at: requests, pipelines, and calls of each provider of
// models.
type rates map[string]map[string]*rate

// of returns the rate of something; which is the provider of calls.
func (r rates) of(what, which string) *rate {
	if r[what] == nil {
		r[what] = map[string]*rate{}
	}
	if r[what][which] == nil {
		r[what][which] = &rate{}
	}
	return r[what][which]
}

// slot is the precision of a rate.
const slot = 10 * time.Second

// A rate counts what ended in the last ten minutes, and what of it was bad, in slots of 10 seconds.
type rate struct {
	slots [61]struct {
		number   int64 // of the slot, since 1970
		bad, all int
	}
}

// add counts something that ended now.
func (r *rate) add(now time.Time, bad bool) {
	number := now.UnixNano() / int64(slot)
	s := &r.slots[number%int64(len(r.slots))]
	if s.number != number {
		s.number, s.bad, s.all = number, 0, 0
	}
	s.all++
	if bad {
		s.bad++
	}
}

// within returns what was counted in a window before now, of at most ten minutes.
func (r *rate) within(now time.Time, window time.Duration) (bad, all int) {
	first := now.Add(-window).UnixNano()/int64(slot) + 1
	for _, s := range r.slots {
		if s.number >= first {
			bad, all = bad+s.bad, all+s.all
		}
	}
	return bad, all
}
