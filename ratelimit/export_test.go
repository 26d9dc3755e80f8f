package ratelimit

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
