package ratelimit

var (
	ErrAllowanceFull = errAllowanceFull
	ErrReleased      = errReleased
)
