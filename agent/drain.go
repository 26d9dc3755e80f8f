package agent

import (
	"context"
	"fmt"
	"sort"
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
// another process resumes them.
//
// Drain returns when nothing is under way any more, or a *[DrainError] when ctx ends. The process may end even so: what
// was under way is then resumed as after a crash. An agent that was drained stays so.
func (a *Agent) Drain(ctx context.Context) error {
	ctx = orBackground(ctx)
	a.mu.Lock()
	if !a.draining {
		a.draining, a.idle = true, make(chan struct{})
		for _, s := range a.sessions {
			if s.busy != nil {
				s.put(steerMessage{id: newID("m-"), what: steerDrain})
				s.busy.poke()
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
	e := &DrainError{Err: context.Cause(ctx)}
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, s := range a.sessions {
		if s.busy != nil {
			e.Sessions = append(e.Sessions, name)
		}
	}
	if sort.Strings(e.Sessions); len(e.Sessions) == 0 {
		return nil
	}
	return e
}

// drains reports whether the agent that drives x, or one above it, is being drained.
func (x *exec) drains() bool {
	x.a.mu.Lock()
	draining := x.a.draining
	x.a.mu.Unlock()
	return draining || x.parent != nil && x.parent.x.drains()
}

// drained closes idle if no run is under way. mu is held.
func (a *Agent) drained() {
	select {
	case <-a.idle:
		return
	default:
	}
	for _, s := range a.sessions {
		if s.busy != nil {
			return
		}
	}
	close(a.idle)
}
