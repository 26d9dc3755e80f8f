package ratelimit

import "time"

// A Wait says why a request doesn't start yet.
type Wait struct {
	Reason WaitReason
	// Until is the earliest time at which this reason ends; zero if that isn't known. It may move either way: a provider
	// can prolong a pause, somebody else can give a slot back.
	Until time.Time
	// Ahead is how many requests may go first, at most, of those that are waiting now; requests with more right to go
	// that come later aren't foreseen.
	Ahead int
	// Detail is what the host said when it paused the background lane; empty for other reasons.
	Detail string
}

// A WaitReason is what a request waits for. The texts are stable and may be stored.
type WaitReason string

// The reasons for waiting.
const (
	WaitQueue     WaitReason = "queue"               // for a slot, or for requests ahead of it, those too that just started after a rate limit
	WaitRateLimit WaitReason = "rate_limit"          // the provider asked for a pause
	WaitRequests  WaitReason = "requests_per_minute" // the next in line, for the rate of requests
	WaitTokens    WaitReason = "tokens_per_minute"   // the next in line, for the rate of tokens
	WaitPaused    WaitReason = "paused"              // the host has paused the background lane
	WaitBudget    WaitReason = "budget"              // open reservations have to be settled
)
