package agent

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
)

// SwitchMode switches the run that ctx belongs to to another mode, from its next model call on. It
// is for tools and hooks, and safe for concurrent use. An unknown mode is an *[ArgError].
func SwitchMode(ctx context.Context, name, reason string) error {
	x := driverIn(ctx)
	if x == nil {
		return errNoRun
	}
	return x.setMode(ctx, name, reason)
}

// SetPhase begins another phase of the work of the run that ctx belongs to, and restarts the count
// of Limits.StepsPerPhase. It is for tools and hooks, and safe for concurrent use.
func SetPhase(ctx context.Context, name string) error {
	x := driverIn(ctx)
	if x == nil {
		return errNoRun
	}
	name = machine.ValidText(name)
	return x.appendIn(ctx, func() Fact {
		if x.State().Phase == name {
			return nil
		}
		return &machine.PhaseChanged{From: x.State().Phase, To: name}
	})
}

// setMode switches the run to another mode, unless ctx has ended.
func (x *driver) setMode(ctx context.Context, name, reason string) error {
	m, err := x.agent.mode(name)
	if err != nil {
		return err
	}
	reason = x.agent.redact.Text(reason)
	err = x.appendIn(ctx, func() Fact {
		if x.State().Mode == name {
			return nil
		}
		return &machine.ModeChanged{From: x.State().Mode, To: name, Reason: reason,
			Limits: x.agent.limits(x.Run().Own, m)}
	})
	if err == nil {
		x.limitTime()
	}
	return err
}

// limitTime sets or resets the timer of Limits.Duration.
func (x *driver) limitTime() {
	x.Lock()
	defer x.Unlock()
	if x.deadline != nil {
		x.deadline.Stop()
	}
	r := x.Run()
	limit := r.Limits.Duration
	if limit < 0 || x.ended {
		return
	}
	rest := max(limit-r.Worked-max(time.Since(r.Since), 0), 0)
	var timer *time.Timer
	timer = time.AfterFunc(rest, func() {
		x.Lock()
		replaced := x.deadline != timer // by that of another mode
		x.Unlock()
		if !replaced {
			x.Cancel(&LimitError{Limit: machine.LimitDuration, Max: int64(limit), Have: int64(limit)})
		}
	})
	x.deadline = timer
}
