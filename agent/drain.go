package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// ErrDraining is what a new input gets once [Agent.Drain] was called. Another process may take it.
var ErrDraining = fault.New(fault.Transient, "agent: this agent is draining and takes no new input; another process may")

// A DrainError says that runs were still under way when the context of [Agent.Drain] ended.
type DrainError struct {
	Sessions []string // in the order of their names
	Err      error
}

// Error names the sessions.
func (e *DrainError) Error() string {
	return fmt.Sprintf("agent: %d runs were still under way when draining ended (%v): %s", len(e.Sessions), e.Err, strings.Join(e.Sessions, ", "))
}

// Unwrap returns the cause.
func (e *DrainError) Unwrap() error { return e.Err }

// Drain brings the agent to rest before its process ends. Inputs are refused with [ErrDraining] from now on; runs under
// way are paused at their next safe point, that is when the model call or the tool calls under way have ended, with
// [CodeDrained], those of agents that are tools among them. In a journal they count as running, so that [Agent.Recover] in
// another process goes on with them.
//
// Drain returns when nothing is under way any more, or a *[DrainError] when ctx ends. The process may end even so: what
// was under way is then gone on with as after a crash. An agent that was drained stays so.
func (a *Agent) Drain(ctx context.Context) error {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return errNoAgent
	}
	a.mu.Lock()
	if !a.draining {
		a.draining, a.idle = true, make(chan struct{})
		for _, l := range a.held {
			if l.driver != nil {
				l.driver.poke()
			}
		}
		a.drained()
	}
	idle := a.idle
	a.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held) == 0 {
		return nil
	}
	return &DrainError{Sessions: slices.Sorted(maps.Keys(a.held)), Err: context.Cause(ctx)}
}

// drains reports whether the agent that drives x, or one above it, is being drained.
func (x *driver) drains() bool {
	x.agent.mu.Lock()
	draining := x.agent.draining
	x.agent.mu.Unlock()
	return draining || x.parent != nil && x.parent.driver.drains()
}

// drained closes idle if no session is held. mu is held.
func (a *Agent) drained() {
	select {
	case <-a.idle:
		return
	default:
	}
	if len(a.held) == 0 {
		close(a.idle)
	}
}
