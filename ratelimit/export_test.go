package ratelimit

// NewAllowanceMemory is the store that an [Allowance] has if its configuration has none.
func NewAllowanceMemory(most int) AllowanceStore { return newAllowanceMemory(most) }

const (
	AllowanceInWindow      = allowanceInWindow
	DelayQueue             = delayQueue
	EventBackgroundPaused  = eventBackgroundPaused
	EventBackgroundResumed = eventBackgroundResumed
	EventPreempted         = eventPreempted
	EventProlonged         = eventProlonged
	EventRates             = eventRates
	EventRejected          = eventRejected
	EventResumed           = eventResumed
)

var (
	ErrAllowanceFull = errAllowanceFull
	ErrReleased      = errReleased
)
