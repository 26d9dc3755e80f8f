package ratelimit

import "time"

// A SoftLimit warns when use comes near a limit, such as that of a subscription. It never holds anything back.
type SoftLimit struct {
	// Requests and Tokens are the limits of a period; 0 or less is none.
	Requests, Tokens int64
	// Every is the length of a period, such as 7 * 24 * time.Hour; 0 or less: a day.
	Every time.Duration
	// From is the beginning of some period; zero: when the gate was made.
	From time.Time
	// Warn is the share at which to warn; 0 or less, or above 1: 0.8. [EventSoftLimit] comes once a period, with the call whose use crosses
	// it.
	Warn float64
}
