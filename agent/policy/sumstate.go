package policy

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/ratelimit"
)

// This file has how a Sum keeps its amounts in the state of an allowance: each reservation is a
// take that is open until it no longer counts. The functions leave the slices that they get as they
// are.

var (
	errAbove   = errors.New("policy: the sum would be above its limit")
	errFull    = errors.New("policy: a sum has too many units")
	errNothing = errors.New("policy: the call has reserved nothing")
)

// An entry is the name of a reservation.
type entry struct {
	call  string // a hash of its session and its id; empty for several calls together
	fence uint64 // of the process that has reserved it last
	unit  string
}

func (e *entry) id() string { return e.call + "." + strconv.FormatUint(e.fence, 10) + "." + e.unit }

func entryOf(id string) (e entry) {
	call, rest, _ := strings.Cut(id, ".")
	fence, unit, _ := strings.Cut(rest, ".")
	e.call, e.unit = call, unit
	e.fence, _ = strconv.ParseUint(fence, 10, 64)
	return e
}

// current drops what no longer counts, and returns the time: now, or the last change if the clock
// has gone backwards since.
func current(st *ratelimit.AllowanceState, clock time.Time) int64 {
	now := max(clock.UnixNano(), st.Last)
	st.Open = slices.DeleteFunc(slices.Clone(st.Open), func(o ratelimit.AllowanceOpen) bool { return now >= o.Until })
	return now
}

// others returns the sum of the reservations of the unit, without that of the call.
func others(all []ratelimit.AllowanceOpen, e *entry) (sum int64) {
	for _, o := range all {
		if other := entryOf(o.ID); other.unit == e.unit && other.call != e.call {
			sum = plus(sum, o.Amount)
		}
	}
	return sum
}

// plus returns the sum of two figures that aren't negative, or the largest there is.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// maxReserved is how many reservations a state has. Above that, some of a unit are added up.
const maxReserved = 1000

// noEnd is Until of what counts for good.
const noEnd = math.MaxInt64

// reserve puts the reservation of a call in the place of an earlier one. It counts for the window,
// or for good if that is 0.
func reserve(st ratelimit.AllowanceState, e *entry, amount, now int64, window time.Duration) (
	ratelimit.AllowanceState, error) {
	until := int64(noEnd)
	if window > 0 {
		until = plus(now, int64(window))
	}
	st.Open = slices.DeleteFunc(st.Open, func(o ratelimit.AllowanceOpen) bool { return entryOf(o.ID).call == e.call })
	for len(st.Open) >= maxReserved {
		if !merge(&st) {
			return st, errFull
		}
	}
	st.Open = append(st.Open, ratelimit.AllowanceOpen{ID: e.id(), Until: until, Amount: amount})
	return kept(st, now), nil
}

// slots is into how many parts, at least, merge divides the time in which reservations end.
const slots = 250

// merge adds up two reservations of a unit. Both then count as long as the later one, and can't be
// given back any more. They are the oldest two that end in the same slot of time, which is as short
// as can be: what was added up stays in its slot, so no amount counts longer by more than one,
// however many calls come. Reservations without an end come last.
func merge(st *ratelimit.AllowanceState) bool {
	first, last := int64(noEnd), int64(0)
	for _, o := range st.Open {
		if o.Until != noEnd {
			first, last = min(first, o.Until), max(last, o.Until)
		}
	}
	slot := int64(1)
	for slot < (last-first)/(2*slots) {
		slot *= 2
	}
	for ; slot > 0 && slot <= last; slot *= 2 {
		if mergeIn(st, slot) {
			return true
		}
	}
	return mergeIn(st, noEnd) || mergeIn(st, 0)
}

// mergeIn adds up the oldest two reservations of a unit that end in the same slot of that length.
// The slot noEnd is for those without an end, and 0 for all.
func mergeIn(st *ratelimit.AllowanceState, slot int64) bool {
	type place struct {
		unit string
		slot int64
	}
	first := make(map[place]int)
	for i, o := range st.Open {
		if slot > 0 && (o.Until == noEnd) != (slot == noEnd) {
			continue
		}
		p := place{unit: entryOf(o.ID).unit}
		if slot > 0 {
			p.slot = o.Until / slot
		}
		at, seen := first[p]
		if !seen {
			first[p] = i
			continue
		}
		both := entry{unit: p.unit}
		st.Open[at] = ratelimit.AllowanceOpen{ID: both.id(), Until: max(st.Open[at].Until, o.Until),
			Amount: plus(st.Open[at].Amount, o.Amount)}
		st.Open = slices.Delete(st.Open, i, i+1)
		return true
	}
	return false
}

// giveBack removes the reservation of a call. One that a later process has made stays: there the
// call may run.
func giveBack(st ratelimit.AllowanceState, e *entry, now int64) (ratelimit.AllowanceState, error) {
	n := len(st.Open)
	st.Open = slices.DeleteFunc(st.Open, func(o ratelimit.AllowanceOpen) bool {
		own := entryOf(o.ID)
		return own.call == e.call && own.fence <= e.fence
	})
	if len(st.Open) == n {
		return st, errNothing
	}
	return kept(st, now), nil
}

// kept sets when nothing of the state counts any more.
func kept(st ratelimit.AllowanceState, now int64) ratelimit.AllowanceState {
	st.Last, st.Idle = now, now
	for _, o := range st.Open {
		st.Idle = max(st.Idle, o.Until)
	}
	return st
}
