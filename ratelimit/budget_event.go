package ratelimit

import "time"

// A BudgetEventKind is what a [BudgetEvent] tells.
type BudgetEventKind string

// The kinds of events. The first three are told once for each limit and period.
const (
	// BudgetWarned: the share of the limit is spent at which it warns. What is seeded doesn't warn.
	BudgetWarned BudgetEventKind = "warned"
	// BudgetReached: all of the limit is spent, or more.
	BudgetReached BudgetEventKind = "reached"
	// BudgetUnpriced: a limit in money covers a call whose price isn't known; its money wasn't counted. Provider and Model
	// are those of the first such call.
	BudgetUnpriced BudgetEventKind = "unpriced"
	// BudgetForgotten: more names were in use than BudgetConfig.Keep, and what this one had spent in the present period is
	// no longer known.
	BudgetForgotten BudgetEventKind = "forgotten"
)

// A BudgetEvent tells of something that a host may want to know, and nobody else is told.
type BudgetEvent struct {
	Kind  BudgetEventKind
	Scope Scope
	Name  string // of the session, task or provider; empty for the global limit
	Unit  Unit   // of what was warned of or reached

	Limit    Amount // Unlimited where there is none
	Spent    Amount
	Reserved Amount
	Resets   time.Time // when counting starts anew; zero: never

	Provider, Model string // with BudgetUnpriced
}
