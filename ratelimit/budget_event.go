package ratelimit

import "time"

// A BudgetEventKind is the kind of a [BudgetEvent].
type BudgetEventKind string

// The kinds of events. The first three are reported once for each limit and period.
const (
	// BudgetWarned: spending has reached the share Limit.Warn. Seeding doesn't warn.
	BudgetWarned BudgetEventKind = "warned"
	// BudgetReached: all of the limit is spent, or more.
	BudgetReached BudgetEventKind = "reached"
	// BudgetUnpriced: a limit in money covers a call whose price isn't known; its money wasn't counted. Provider and Model
	// are those of the first such call.
	BudgetUnpriced BudgetEventKind = "unpriced"
	// BudgetForgotten: there were more names than BudgetConfig.Keep, and this one was forgotten with what it had spent in
	// the present period.
	BudgetForgotten BudgetEventKind = "forgotten"
)

// A BudgetEvent reports something that a host may want to know and that no error reports.
type BudgetEvent struct {
	Kind  BudgetEventKind
	Scope Scope
	Name  string // of the session, task or provider; empty for the global limit
	Unit  Unit   // of the limit

	Limit    Amount // Unlimited where there is none
	Spent    Amount
	Reserved Amount
	Resets   time.Time // when counting restarts; zero: never

	Provider, Model string // with BudgetUnpriced
}
