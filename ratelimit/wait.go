package ratelimit

import "time"

// A Wait says why a request doesn't start yet.
type Wait struct {
	Reason WaitReason
	// Until is the earliest time at which this reason ends; zero if that isn't known. It may become earlier or later: a
	// provider can prolong a pause, another call can free a slot.
	Until time.Time
	// Ahead is at most how many of the requests that are waiting now go first; requests of a higher rank that arrive
	// later aren't included.
	Ahead int
	// Detail is the host's reason for pausing the background lane; empty for other reasons.
	Detail string
}

// A WaitReason is what a request waits for. The texts are stable and may be stored.
type WaitReason string

// The reasons for waiting.
const (
	WaitQueue     WaitReason = "queue"               // for a slot, or for requests ahead of it, including those that just started after a rate limit
	WaitRateLimit WaitReason = "rate_limit"          // the provider asked for a pause
	WaitRequests  WaitReason = "requests_per_minute" // the next in line, for the rate of requests
	WaitTokens    WaitReason = "tokens_per_minute"   // the next in line, for the rate of tokens
	WaitPaused    WaitReason = "paused"              // the host has paused the background lane
	WaitBudget    WaitReason = "budget"              // open reservations have to be settled
)
