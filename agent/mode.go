package agent

import (
	"context"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
)

// Returned by functions that are for tools and hooks.
var (
	errNoRun = errors.New("agent: the context isn't that of a run")
	errOver  = errors.New("agent: the run, or the call that the context is of, is over")
)

// SwitchMode switches the run that ctx belongs to to another mode, from its next model call on. It is for tools and hooks.
func SwitchMode(ctx context.Context, name, reason string) error {
	x := driverIn(ctx)
	if x == nil {
		return errNoRun
	}
	return x.setMode(ctx, name, reason)
}

// SetPhase begins another phase of the work that ctx belongs to. It is for tools and hooks. Limits.StepsPerPhase counts
// anew.
func SetPhase(ctx context.Context, name string) error {
	return appendIn(ctx, func(x *driver) (Fact, error) {
		name := machine.ValidText(name)
		if x.state().Phase == name {
			return nil, nil
		}
		return PhaseChanged{From: x.state().Phase, To: name}, nil
	})
}

// appendIn appends the fact that makes returns, if any, to the log of the run that ctx belongs to. The fact holds nothing that has
// to be redacted. A call that was abandoned,
// whose ctx has ended, may not touch the state any more.
func appendIn(ctx context.Context, makes func(*driver) (Fact, error)) error {
	x := driverIn(ctx)
	if x == nil {
		return errNoRun
	}
	x.lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil || x.ended {
		return errOver
	}
	f, err := makes(x)
	if f == nil || err != nil {
		return err
	}
	return x.appendLocked(nil, redactedFact{f})
}

// setMode switches the run to another mode, as long as ctx lasts.
func (x *driver) setMode(ctx context.Context, name, reason string) error {
	m, err := x.agent.mode(name)
	if err != nil {
		return err
	}
	reason = x.agent.redact.Text(reason)
	x.lock()
	defer x.mu.Unlock()
	switch {
	case ctx.Err() != nil || x.ended:
		return errOver
	case x.state().Mode == name:
		return nil
	}
	f := ModeChanged{From: x.state().Mode, To: name, Reason: reason, Limits: x.agent.limits(x.run().Own, m)}
	if err := x.appendLocked(nil, redactedFact{f}); err != nil {
		return err
	}
	x.limitTimeLocked()
	return nil
}

// limitTime sets the timer of Limits.Duration.
func (x *driver) limitTime() {
	x.lock()
	defer x.mu.Unlock()
	x.limitTimeLocked()
}

// limitTimeLocked sets or moves the timer of Limits.Duration. mu is held.
func (x *driver) limitTimeLocked() {
	if x.deadline != nil {
		x.deadline.Stop()
	}
	r := x.run()
	limit := r.Limits.Duration
	if limit < 0 {
		return
	}
	rest := max(limit-r.Worked-max(time.Since(r.Since), 0), 0)
	var timer *time.Timer
	timer = time.AfterFunc(rest, func() {
		x.lock()
		moved := x.deadline != timer // meanwhile, by another mode
		x.mu.Unlock()
		if moved {
			return
		}
		x.cancel(&LimitError{Limit: machine.LimitDuration, Max: int64(limit), Have: int64(limit)})
	})
	x.deadline = timer
}

// currentMode returns the mode of the session. One that the agent no longer has counts as the first.
func (l *sessionLog) currentMode() *mode {
	if m, err := l.agent.mode(l.state().Mode); err == nil {
		return m
	}
	return &l.agent.modes[0]
}
