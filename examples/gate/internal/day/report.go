package day

import (
	"math"
	"slices"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// A Report is how a day went, for both sides.
type Report struct {
	Plan  *Plan
	Sides [2]*SideReport // Pawl's and the limiter's
}

// The names of the sides.
const (
	Pawl = "Pawl"
	FIFO = "first-in first-out"
)

// A SideReport is how the day went for one side.
type SideReport struct {
	Name  string
	Lanes map[string]*Lane // by task

	Ended time.Duration   // when the last call had ended
	Clear []time.Duration // for each flood, how long it took until all of it was done

	Primary, Backup Counts

	Resets    int // answers that had begun and were made again
	Preempted int
	Overtaken int
	Pauses    int // of the gates, by rate limits
	Opened    int // how often a breaker did

	Booked         provider.Money // by the ledger
	BudgetSpent    provider.Money
	AuditSpent     provider.Money // of it, by the task Audit
	BudgetReserved provider.Money // by calls under way
	Notes          []BudgetNote
}

// Billed returns what the providers charge.
func (r *SideReport) Billed() provider.Money { return r.Primary.Billed + r.Backup.Billed }

// Background returns the sums of all calls except those of people. It has no Waits.
func (r *SideReport) Background() *Lane {
	all := &Lane{Refused: make(map[string]int)}
	for task, l := range r.Lanes {
		if task == Chat {
			continue
		}
		all.Asked, all.Done = all.Asked+l.Asked, all.Done+l.Done
		for reason, n := range l.Refused {
			all.Refused[reason] += n
		}
	}
	return all
}

// Done returns how many calls have an answer.
func (r *SideReport) Done() (n int) {
	for _, l := range r.Lanes {
		n += l.Done
	}
	return n
}

// A BudgetNote is an event of a budget.
type BudgetNote struct {
	At   time.Duration
	Of   string // whose limit it is
	Kind string
}

// A Lane has the results of the calls of a task.
type Lane struct {
	Asked   int
	Done    int
	Refused map[string]int // by reason: calls that have no answer, and why
	Waits   Waits          // of those that are done
}

// NoAnswer returns how many calls have ended without an answer.
func (l *Lane) NoAnswer() (n int) {
	for _, r := range l.Refused {
		n += r
	}
	return n
}

// A Sample is how long a call that arrived at At waited for the first word of the answer that was
// completed.
type Sample struct{ At, Wait time.Duration }

// Waits are the waits of many calls.
type Waits []Sample

// P returns the wait that a share q of the calls didn't exceed, by nearest rank; 0 if there are
// none.
func (w Waits) P(q float64) time.Duration {
	if len(w) == 0 {
		return 0
	}
	sorted := make([]time.Duration, len(w))
	for i, s := range w {
		sorted[i] = s.Wait
	}
	slices.Sort(sorted)
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Max returns the longest wait.
func (w Waits) Max() time.Duration { return w.P(1) }

// In returns the waits of calls that arrived in s.
func (w Waits) In(s Span) (in Waits) {
	for _, each := range w {
		if s.Holds(each.At) {
			in = append(in, each)
		}
	}
	return in
}

// A Tick is the state of the simulation at one moment.
type Tick struct {
	At    time.Duration
	Clock string
	Goes  []string // what goes on: the names below
	Sides [2]SideTick
}

// What may go on.
const (
	GoesFlood   = "flood"
	GoesOutage  = "outage"
	GoesSqueeze = "half the rate"
)

// A SideTick is the state of one side at one moment.
type SideTick struct {
	Name               string
	Asked, Done        int           // people's calls
	Waiting            int           // people who wait for the first word
	WorkDone, WorkLeft int           // background calls that have ended, and that came and haven't
	P50, P99, Longest  time.Duration // people's waits of those who came in the last hour, so far
	FloodLeft          int           // of them, those of floods
	Preempted          int
	Spent              provider.Money
	Limit              provider.Money // 0: none
	State              string         // of the gates and breakers, if it is worth a word
}
