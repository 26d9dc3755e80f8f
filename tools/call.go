package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"

	"github.com/pawlkit/pawl/provider"
)

// A Call is one tool call. The caller fills in the fields, [Registry.Admit] replaces the input by
// the validated one, which mustn't be changed any more, and after the start of [Execute] nothing
// may be changed. A copy of a Call is admitted if the Call is.
type Call struct {
	Session string
	Run     string
	Step    int
	Index   int // among the calls of the reply, from 0
	ID      string
	Name    string
	Input   json.RawMessage

	// IdempotencyKey is the idempotency key: the same for every attempt at this call, and for no
	// other call.
	IdempotencyKey string
	// Fence is the fencing token, which grows whenever the session gets another writer; systems
	// that remember the highest one can reject a stale writer.
	Fence uint64
	// By is the person who approved the call, if approval was needed.
	By string
	// User is the person that the run works for, and Labels are those that the host has given to
	// the run.
	User   string
	Labels provider.LabelSet
	// Resumed is set if the call was suspended and runs again: see [Resumed].
	Resumed *Resumption

	// Outside are the tools whose results from outside ([Spec].Outside), or a summary of them, are
	// in the conversation that the call was made in, and other sources of such text, by name: those
	// of the host may say more than the names of tools. Empty: no such text is there, or nobody has
	// said so.
	Outside []string
	// Starting is set for policies that are asked right before the call starts
	// ([Registry.Recheck]), and not for those that are asked whether it needs approval
	// ([Registry.Admit]).
	Starting bool

	Mode string
	// Succeeded returns how often a tool has succeeded in this run; nil, or if it panics: none has.
	Succeeded func(tool string) int
	// MayApprove reports whether a person may decide on a call of that tool, which has
	// Spec.Approvers; nil, or if it panics: nobody may.
	MayApprove func(tool *Spec, user string) bool
	// OnProgress is called with each progress report, on the goroutine that reports it. OnTimeout
	// is called once when the call's context has ended at the time limit, on any goroutine; it
	// mustn't wait for the end of the call, which waits for it. OnRetry is called after an attempt
	// has failed that another will follow, before the delay, on the goroutine that runs the call;
	// if it panics, [Execute] panics. Each may be nil.
	OnProgress func(*Call, ProgressReport)
	OnTimeout  func(*Call)
	OnRetry    func(*Call, Retrying)

	admitted  *Definition // that has validated the input; nil: none has
	sum       uint64      // of that input
	unasked   bool        // Admit has allowed it without a question
	permitted bool        // and a policy has answered the question of the tool
}

// seed is for sums of inputs, which are compared within this process only.
var seed = maphash.MakeSeed()

// admit notes that d has validated the input.
func (c *Call) admit(d *Definition) { c.admitted, c.sum = d, maphash.Bytes(seed, c.Input) }

// succeeded returns how often a tool has succeeded in this run.
func (c *Call) succeeded(tool string) (n int) {
	if c.Succeeded == nil {
		return 0
	}
	err := guarded(c.Name, func() error { n = c.Succeeded(tool); return nil })
	if err != nil {
		return 0
	}
	return n
}

// mayApprove reports whether a person may decide on the call, which is one of d.
func (c *Call) mayApprove(d *Definition, user string) (may bool) {
	if user == "" || c.MayApprove == nil {
		return false
	}
	err := guarded(c.Name, func() error { may = c.MayApprove(&d.spec, user); return nil })
	return err == nil && may
}

// notAdmitted returns why [Execute] doesn't run the call with d; "" if it does.
func (c *Call) notAdmitted(d *Definition) string {
	switch {
	case c.admitted == nil:
		return "it wasn't admitted; use Registry.Run, or Registry.Admit before Execute"
	case c.admitted != d:
		return fmt.Sprintf("it was admitted for another tool, %q", c.admitted.spec.Name)
	case c.sum != maphash.Bytes(seed, c.Input):
		return "its input was changed after it was admitted"
	}
	return ""
}

// A ProgressReport is what a running call reports.
type ProgressReport struct {
	Text string
	Done float64 // from 0 to 1, other figures are adjusted to that; 0 if unknown
}

// CallOf returns the call that ctx belongs to. The Call mustn't be changed.
func CallOf(ctx context.Context) (*Call, bool) {
	if ctx == nil {
		return nil, false
	}
	switch v := ctx.Value(callKey{}).(type) {
	case *running:
		return v.call, true
	case *Call:
		return v, true
	}
	return nil, false
}

// WithCall returns a context that belongs to c, a call that isn't running, for [Definition.Undo]:
// [CallOf] returns c, and [Progress] does nothing. c mustn't be changed afterwards.
func WithCall(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// IdempotencyKey returns the idempotency key of the call that ctx belongs to, or "" outside of a
// call. It is the same for every attempt at the call, in every process: pass it to systems that
// support such keys.
func IdempotencyKey(ctx context.Context) string {
	if c, ok := CallOf(ctx); ok {
		return c.IdempotencyKey
	}
	return ""
}

// Fence returns the fencing token of the run that the call belongs to, or 0 outside of a call. It
// grows whenever another process takes over the session.
func Fence(ctx context.Context) uint64 {
	if c, ok := CallOf(ctx); ok {
		return c.Fence
	}
	return 0
}

// Progress reports what a running call is doing. With Spec.Progress it also moves the call's time
// limit. Outside of a call, and when its context has ended, it does nothing.
func Progress(ctx context.Context, note ProgressReport) {
	if ctx == nil {
		return
	}
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
