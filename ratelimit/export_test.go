package ratelimit

// NewAllowanceMemory is the store that an [Allowance] has if its configuration has none.
func NewAllowanceMemory(most int) AllowanceStore { return newAllowanceMemory(most) }
