package observe

import (
	"slices"
	"time"
)

// rates are what the rules about rates look at: requests, pipelines, and "calls" with the name of
// each provider of models.
type rates map[string]*rate

// add counts something that ended now.
func (r rates) add(what string, now time.Time, bad bool) {
	if r[what] == nil {
		r[what] = &rate{}
	}
	r[what].add(now, bad)
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
