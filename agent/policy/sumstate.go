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

// maxReserved is how many reservations a state has. Above that, the oldest of a unit are added up.
const maxReserved = 1000

// reserve puts the reservation of a call in the place of an earlier one.
func reserve(st ratelimit.AllowanceState, e *entry, amount, now int64, window time.Duration) (
	ratelimit.AllowanceState, error) {
	until := int64(math.MaxInt64)
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

// merge adds up the two oldest reservations of a unit. Both then count as long as the later one,
// and can't be given back any more.
func merge(st *ratelimit.AllowanceState) bool {
	first := make(map[string]int)
	for i, o := range st.Open {
		unit := entryOf(o.ID).unit
		at, seen := first[unit]
		if !seen {
			first[unit] = i
			continue
		}
		both := entry{unit: unit}
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
