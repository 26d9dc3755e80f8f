package ratelimit

import "time"

// Wait says why a call is held back.
type Wait struct {
	Reason WaitReason
	Until  time.Time
	Ahead  int
}

// A WaitReason is why a call is held back.
type WaitReason string

// WaitBudget is the wait for open reservations.
const WaitBudget WaitReason = "budget"
