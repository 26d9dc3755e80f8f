package memory

import "fmt"

// A Trigger says when a conversation is to be compacted.
type Trigger struct {
	kind  string
	share float64
	n     int
}

// AtShare fires when the request reaches that share of the window less its reserve; .7 means 70 %.
// A share of 0 or less, or above 1, stands for .7.
func AtShare(share float64) Trigger {
	if !(share > 0 && share <= 1) {
		share = .7
	}
	return Trigger{kind: "share", share: share}
}

// AtTokens fires when the request reaches n tokens; less than 1 stands for 1.
func AtTokens(n int) Trigger { return Trigger{kind: "tokens", n: max(n, 1)} }

// OnSubgoal fires when a subgoal has been finished ([SubgoalDone]), and with each of the next
// requests until it could be done: the end of a subgoal is among the last groups at first, which
// nothing touches (Config.Keep).
func OnSubgoal() Trigger { return Trigger{kind: "subgoal"} }

// OnPhase fires when the phase of the work changes ([PhaseChanged]).
func OnPhase() Trigger { return Trigger{kind: "phase"} }

// String returns what a report calls the trigger, for example "share 0.70" or "phase".
func (t Trigger) String() string {
	switch t.kind {
	case "share":
		return fmt.Sprintf("share %.2f", t.share)
	case "tokens":
		return fmt.Sprintf("tokens %d", t.n)
	}
	return t.kind
}

// An Event is something that happened and may fire a trigger.
type Event string

// The events.
const (
	SubgoalDone  Event = "subgoal"
	PhaseChanged Event = "phase"
)

// A Rule is what to do when: a trigger with a pipeline.
type Rule struct {
	When Trigger
	// Target is to which share of the window less its reserve the request is brought. 0 stands, for
	// AtShare and AtTokens, for five sevenths of the threshold (so that 70 % goes down to 50 %),
	// for OnPhase for .5, for OnSubgoal for as little as the strategies can.
	Target float64
	// Steps are tried in order until the target is reached; nil: for OnSubgoal [Subgoals] alone,
	// else Config.Steps.
	Steps []Step
}

// A Step is a strategy of a pipeline.
type Step struct {
	Strategy Strategy
	// Floor is how many tokens it must free. If it frees less, nothing is changed by it, and the
	// provider's prompt cache stays good. 0: 1.
	Floor int
}

// Thresholds tell which of several marks a rising figure has crossed. Each fires once a crossing,
// and is armed again when the figure falls below it. It is for figures such as the share of the
// window that is used: a note at .5 and .75, a context reset at .95. A Thresholds is not safe for
// concurrent use.
type Thresholds struct {
	marks []float64
	fired []bool
}

// NewThresholds returns Thresholds of these marks, in any order.
func NewThresholds(marks ...float64) *Thresholds {
	return &Thresholds{marks: append([]float64(nil), marks...), fired: make([]bool, len(marks))}
}

// Cross tells the figure as it is now, and returns the indices of the marks that fire: each that
// the figure has reached (equal is reached) and that hasn't fired since it was last below. A jump
// over several fires them all, in the order in which they were given.
func (t *Thresholds) Cross(now float64) []int {
	var fire []int
	for i, m := range t.marks {
		reached := now >= m
		if reached && !t.fired[i] {
			fire = append(fire, i)
		}
		t.fired[i] = reached
	}
	return fire
}
