package agent

import (
	"context"
	"errors"
)

type execKey struct{}

// errNoRun is returned by functions that are for tools and hooks.
var errNoRun = errors.New("agent: the context isn't that of a run")

// SwitchMode switches the run that ctx belongs to to another mode, from its next model call on. It is for tools and hooks.
func SwitchMode(ctx context.Context, name, reason string) error {
	x, ok := ctx.Value(execKey{}).(*exec)
	if !ok {
		return errNoRun
	}
	if _, err := x.a.mode(name); err != nil {
		return err
	}
	return x.setMode(name, reason)
}

// SetPhase begins another phase of the work that ctx belongs to. It is for tools and hooks. Limits.StepsPerPhase counts
// anew.
func SetPhase(ctx context.Context, name string) error {
	x, ok := ctx.Value(execKey{}).(*exec)
	if !ok {
		return errNoRun
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || x.m.s.Phase == name {
		return nil
	}
	return x.recordLocked(nil, PhaseChanged{Meta: x.stamp(0, ""), From: x.m.s.Phase, To: name})
}

func (x *exec) setMode(name, reason string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || x.m.s.Mode == name {
		return nil
	}
	return x.recordLocked(nil, ModeChanged{Meta: x.stamp(0, ""), From: x.m.s.Mode, To: name, Reason: x.a.redact(reason)})
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
