package agent

import (
	"context"
	"errors"
	"time"
)

// Returned by functions that are for tools and hooks.
var (
	errNoRun = errors.New("agent: the context isn't that of a run")
	errOver  = errors.New("agent: the run, or the call that the context is of, is over")
)

// SwitchMode switches the run that ctx belongs to to another mode, from its next model call on. It is for tools and hooks.
func SwitchMode(ctx context.Context, name, reason string) error {
	x := execOf(ctx)
	if x == nil {
		return errNoRun
	}
	if _, err := x.a.mode(name); err != nil {
		return err
	}
	return x.setMode(ctx, name, reason)
}

// SetPhase begins another phase of the work that ctx belongs to. It is for tools and hooks. Limits.StepsPerPhase counts
// anew.
func SetPhase(ctx context.Context, name string) error {
	x := execOf(ctx)
	if x == nil {
		return errNoRun
	}
	name = valid(name)
	x.lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil || x.ended {
		return errOver
	}
	if x.m.s.Phase == name {
		return nil
	}
	return x.recordLocked(nil, PhaseChanged{Meta: x.stamp(0, ""), From: x.m.s.Phase, To: name})
}

// setMode is for the driving goroutine, and for tools and hooks while their ctx lasts: a call that was left behind, whose
// ctx has ended, may not touch the state any more.
func (x *exec) setMode(ctx context.Context, name, reason string) error {
	reason = x.a.redact(reason)
	x.lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil || x.ended {
		return errOver
	}
	if x.m.s.Mode == name {
		return nil
	}
	f := ModeChanged{Meta: x.stamp(0, ""), From: x.m.s.Mode, To: name, Reason: reason}
	if m, err := x.a.mode(name); err == nil {
		f.Limits = x.a.limits(x.m.s.Run.Own, m)
	}
	if err := x.recordLocked(nil, f); err != nil {
		return err
	}
	x.limitTime()
	return nil
}

// limitTime sets or moves the time when Limits.Duration is over. mu is held.
func (x *exec) limitTime() {
	if x.limit != nil {
		x.limit.Stop()
	}
	r := x.m.s.Run
	limit := r.Limits.Duration
	if limit < 0 {
		return
	}
	rest := max(limit-r.Worked-max(x.now().Sub(r.Since), 0), 0)
	x.limit = time.AfterFunc(rest, func() { x.cancel(&LimitError{Limit: LimitDuration, Max: int64(limit), Have: int64(limit)}) })
}

// currentMode returns the mode of the session. One that the agent no longer has counts as the first.
func (x *exec) currentMode() *mode {
	if len(x.a.modes) == 0 {
		return &x.a.plain
	}
	if m, err := x.a.mode(x.m.s.Mode); err == nil {
		return m
	}
	return &x.a.modes[0]
}
