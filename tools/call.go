package tools

import (
	"context"
	"encoding/json"
)

// A Call is one call on its way. Whoever makes it fills in what it knows, [Registry.Admit] makes of the input what may run,
// and from [Execute] on it mustn't be changed.
type Call struct {
	Session string
	Run     string
	Step    int
	Index   int // among the calls of the reply, from 0
	ID      string
	Name    string
	Input   json.RawMessage

	// IdempotencyKey is the idempotency key: the same for every attempt at this call, and for no other call.
	IdempotencyKey string
	// Fence grows whenever the session gets another writer; systems that remember the highest can refuse a stale writer.
	Fence uint64
	// By is who approved the call, if somebody had to.
	By string

	Mode string
	// Succeeded reports whether a tool has succeeded in this run, for prerequisites; nil: none has.
	Succeeded func(tool string) bool
	// OnProgress is told of progress, on the goroutine that reports it. OnTimeout is told, once, that the call's context has
	// ended at the time limit; it is called on any goroutine, and mustn't wait for the end of the call, which waits for it.
	// OnRetry is told that an attempt has failed and that another follows, before the wait for it, on the goroutine that runs
	// the call; a panic of it is one of [Execute]. Each may be nil.
	OnProgress func(*Call, ProgressReport)
	OnTimeout  func(*Call)
	OnRetry    func(*Call, Retrying)
}

// A ProgressReport is what a running call reports.
type ProgressReport struct {
	Text string
	Done float64 // from 0 to 1, other figures are brought there; 0 if unknown
}

// CallOf returns the call that ctx belongs to. What it points to mustn't be changed.
func CallOf(ctx context.Context) (*Call, bool) {
	if r, ok := ctx.Value(callKey{}).(*running); ok {
		return r.call, true
	}
	return nil, false
}

// IdempotencyKey returns the idempotency key of the call that ctx belongs to, or "" outside of a call. It is the same for every
// attempt at the call, in every process: give it to systems that remember such keys.
func IdempotencyKey(ctx context.Context) string {
	if c, ok := CallOf(ctx); ok {
		return c.IdempotencyKey
	}
	return ""
}

// Fence returns the fencing number of the run that the call belongs to, or 0 outside of a call. It grows whenever
// another process takes a session over.
func Fence(ctx context.Context) uint64 {
	if c, ok := CallOf(ctx); ok {
		return c.Fence
	}
	return 0
}

// Progress reports what a running call is doing. With Spec.Progress it also moves the call's time limit. Outside of a
// call, and when its context has ended, it does nothing.
func Progress(ctx context.Context, note ProgressReport) {
	r, ok := ctx.Value(callKey{}).(*running)
	if !ok || r.ctx.Err() != nil {
		return
	}
	r.extend()
	if !(note.Done > 0) { // NaN too
		note.Done = 0
	}
	note.Done = min(note.Done, 1)
	if r.call.OnProgress != nil {
		r.call.OnProgress(r.call, note)
	}
}
