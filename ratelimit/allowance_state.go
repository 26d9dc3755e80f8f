package ratelimit

import (
	"slices"
	"sort"
	"time"

	"github.com/pawlkit/pawl/ratelimit/internal/calendar"
)

// An AllowanceState is what a store keeps for a key. All times are in nanoseconds since 1970. A
// store that isn't in memory keeps it as JSON. The zero value is the state of a key that has taken
// nothing.
type AllowanceState struct {
	Last int64 `json:"last,omitempty"` // the latest time at which something changed
	// Idle is when nothing of it counts any more: from then on, a store may delete the state.
	Idle    int64           `json:"idle,omitempty"`
	Takes   []int64         `json:"takes,omitempty"`    // within the longest window, in order
	Today   int             `json:"today,omitempty"`    // takes of the day that ends at DayEnds
	DayEnds int64           `json:"day_ends,omitempty"` // the first instant of the next day
	Open    []AllowanceOpen `json:"open,omitempty"`     // what isn't released
}

// An AllowanceOpen is a take that isn't released.
type AllowanceOpen struct {
	ID    string `json:"id"`
	Until int64  `json:"until"` // when it no longer counts
	// Amount is how much it takes, for sums that are kept in the same stores: see Sum of package
	// agent/policy. An Allowance has none.
	Amount int64 `json:"amount,omitempty"`
}

// allowanceRules are the limits of an [Allowance], and decide on its states. They know no clock and
// no store.
type allowanceRules struct {
	windows    []AllowanceWindow // in any order
	longest    time.Duration     // of the windows; 0 if there are none
	perDay     int
	in         *time.Location
	concurrent int
	maxOpen    time.Duration
}

func newAllowanceRules(cfg AllowanceConfig) allowanceRules {
	r := allowanceRules{
		windows:    slices.Clone(cfg.Windows),
		perDay:     max(cfg.PerDay, 0),
		in:         cfg.Location,
		concurrent: min(max(cfg.Concurrent, 0), maxAllowance),
		maxOpen:    cfg.MaxOpen,
	}
	for i, w := range r.windows {
		w.Max = min(max(w.Max, 1), maxAllowance)
		w.Per = min(max(w.Per, shortestWindow), longestWindow)
		r.windows[i] = w
		r.longest = max(r.longest, w.Per)
	}
	if r.in == nil {
		r.in = time.UTC
	}
	if r.maxOpen <= 0 {
		r.maxOpen = defaultOpen
	}
	return r
}

// current returns s without what no longer counts, and the time that applies to it: now, or the
// last change if the clock has gone backwards since. It shares slices with s, which it doesn't
// change.
func (r *allowanceRules) current(s AllowanceState, clock time.Time) (AllowanceState, time.Time) {
	now := max(clock.UnixNano(), s.Last)
	s.Takes = takesAfter(s.Takes, now-int64(r.longest))
	if now >= s.DayEnds {
		s.Today, s.DayEnds = 0, 0
	}
	if slices.ContainsFunc(s.Open, func(o AllowanceOpen) bool { return now >= o.Until }) {
		s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(o AllowanceOpen) bool { return now >= o.Until })
	}
	return s, time.Unix(0, now).In(r.in)
}

// take returns the state after one take, or why it is refused.
func (r *allowanceRules) take(s AllowanceState, id string, clock time.Time) (AllowanceState, *AllowanceError) {
	s, now := r.current(s, clock)
	if refused := r.refusal(s, now, clock); refused != nil {
		return s, refused
	}
	s.Last = now.UnixNano()
	if len(r.windows) > 0 {
		s.Takes = append(slices.Clip(s.Takes), s.Last)
	}
	if r.perDay > 0 {
		if s.DayEnds == 0 {
			s.DayEnds = r.dayEnds(now).UnixNano()
		}
		s.Today++
	}
	if r.concurrent > 0 {
		s.Open = append(slices.Clip(s.Open), AllowanceOpen{ID: id, Until: now.Add(r.maxOpen).UnixNano()})
	}
	r.setIdle(&s)
	return s, nil
}

// release returns the state without an open take, or errUnchanged if it isn't there.
func (r *allowanceRules) release(s AllowanceState, id string) (AllowanceState, error) {
	is := func(o AllowanceOpen) bool { return o.ID == id }
	if !slices.ContainsFunc(s.Open, is) {
		return s, errUnchanged
	}
	s.Open = slices.DeleteFunc(slices.Clone(s.Open), is)
	r.setIdle(&s)
	return s, nil
}

// setIdle sets when nothing of s counts any more.
func (r *allowanceRules) setIdle(s *AllowanceState) {
	s.Idle = s.DayEnds
	if n := len(s.Takes); n > 0 {
		s.Idle = max(s.Idle, s.Takes[n-1]+int64(r.longest))
	}
	for _, o := range s.Open {
		s.Idle = max(s.Idle, o.Until)
	}
}

// refusal returns the limit that refuses a take for the longest, or nil.
func (r *allowanceRules) refusal(s AllowanceState, now, clock time.Time) *AllowanceError {
	var refused *AllowanceError
	for _, l := range r.limits(s, now, clock) {
		if l.Remaining == 0 && (refused == nil || l.tighter(refused.AllowanceLimit)) {
			refused = &AllowanceError{AllowanceLimit: l}
		}
	}
	return refused
}

// status returns how the limits stand, the tightest first.
func (r *allowanceRules) status(s AllowanceState, clock time.Time) AllowanceStatus {
	s, now := r.current(s, clock)
	all := r.limits(s, now, clock)
	slices.SortStableFunc(all, func(a, b AllowanceLimit) int {
		switch {
		case a.tighter(b):
			return -1
		case b.tighter(a):
			return 1
		}
		return 0
	})
	return all
}

// limits returns how the limits of a current state stand: windows, day, concurrent.
func (r *allowanceRules) limits(s AllowanceState, now, clock time.Time) []AllowanceLimit {
	all := make([]AllowanceLimit, 0, len(r.windows)+2)
	for _, w := range r.windows {
		all = append(all, r.window(s, w, now))
	}
	if r.perDay > 0 {
		l := AllowanceLimit{Kind: AllowancePerDay, Limit: r.perDay, Remaining: max(r.perDay-s.Today, 0)}
		if s.DayEnds > 0 {
			l.Reset = time.Unix(0, s.DayEnds).In(r.in)
		}
		all = append(all, l)
	}
	if r.concurrent > 0 {
		all = append(all,
			AllowanceLimit{Kind: AllowanceConcurrent, Limit: r.concurrent, Remaining: max(r.concurrent-len(s.Open), 0)})
	}
	for i := range all {
		if l := &all[i]; !l.Reset.IsZero() {
			l.Wait = max(l.Reset.Sub(clock), 0)
		}
	}
	return all
}

func (r *allowanceRules) window(s AllowanceState, w AllowanceWindow, now time.Time) AllowanceLimit {
	l := AllowanceLimit{Kind: AllowanceInWindow, Limit: w.Max, Per: w.Per, Remaining: w.Max}
	taken := takesAfter(s.Takes, now.Add(-w.Per).UnixNano())
	if len(taken) == 0 {
		return l
	}
	l.Remaining = max(w.Max-len(taken), 0)
	// A state from before the limit was lowered may have more than Max.
	l.Reset = time.Unix(0, taken[max(len(taken)-w.Max, 0)]).Add(w.Per).In(r.in)
	return l
}

// takesAfter returns the takes after a time. A take leaves a window when the length of that has
// passed.
func takesAfter(takes []int64, since int64) []int64 {
	return takes[sort.Search(len(takes), func(i int) bool { return takes[i] > since }):]
}

// dayEnds returns the first instant of the day after the one of now.
func (r *allowanceRules) dayEnds(now time.Time) time.Time {
	year, month, date := now.Date()
	for { // the date may go back when clocks change: then now is in a day that has begun before
		date++
		if end := calendar.Midnight(year, month, date, r.in); now.Before(end) {
			return end
		}
	}
}
