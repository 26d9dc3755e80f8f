package observe

import (
	"slices"
	"time"
)

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

// A rate is what ended in the last ten minutes, the oldest first.
type rate []ended

type ended struct {
	at  time.Time
	bad bool
}

// add counts something that ended now.
func (r *rate) add(now time.Time, bad bool) {
	old := func(e ended) bool { return now.Sub(e.at) > 10*time.Minute }
	*r = append(slices.DeleteFunc(*r, old), ended{now, bad})
}

// within returns what was counted in a window before now, of at most ten minutes.
func (r rate) within(now time.Time, window time.Duration) (bad, all int) {
	for _, e := range r {
		if now.Sub(e.at) < window {
			if all++; e.bad {
				bad++
			}
		}
	}
	return bad, all
}
