package agent

import (
	"context"

	"github.com/pawlkit/pawl/agent/machine"
)

// SwitchMode switches the run that ctx belongs to to another mode, from its next model call on. It
// is for tools and hooks, and safe for concurrent use. An unknown mode is an *[ArgError].
func SwitchMode(ctx context.Context, name, reason string) error {
	x := driverIn(ctx)
	if x == nil {
		return outsideOfRun("SwitchMode")
	}
	if _, err := x.agent.mode(name); err != nil {
		return err
	}
	defer x.stops.limitTime()
	return x.log.appendIn(ctx, func() Fact { return x.log.toMode(name, reason) })
}

// SetPhase begins another phase of the work of the run that ctx belongs to, and restarts the count
// of Limits.StepsPerPhase. It is for tools and hooks, and safe for concurrent use.
func SetPhase(ctx context.Context, name string) error {
	x := driverIn(ctx)
	if x == nil {
		return outsideOfRun("SetPhase")
	}
	name = machine.ValidText(name)
	return x.log.appendIn(ctx, func() Fact {
		if x.log.State().Phase == name {
			return nil
		}
		return &machine.PhaseChanged{From: x.log.State().Phase, To: name}
	})
}

// byHost is the reason of a mode that [Session.SetMode] has set.
const byHost = "set by the host"

// toMode returns the fact that switches the session to another mode; nil if it is in it, or there
// is no such mode, as of a host with other ones.
func (l *sessionLog) toMode(name, reason string) Fact {
	m, err := l.agent.mode(name)
	if err != nil || l.State().Mode == m.Name {
		return nil
	}
	return &machine.ModeChanged{From: l.State().Mode, To: m.Name, Reason: l.agent.redact.Text(reason),
		Limits: l.agent.limits(l.Run().Own, m, l.Run().Parent != "")}
}
