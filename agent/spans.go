package agent

import (
	"context"
	"fmt"
	"sync"

	"github.com/pawlkit/pawl/tools"
)

// spans are the spans of a run.
type spans struct {
	log     *sessionLog
	runEnd  func(error)
	stepEnd func(error)
	step    context.Context // of the step under way
}

// endStep ends the span of the step, which has failed if err isn't nil.
func (s *spans) endStep(err error) {
	if err == nil && s.log.ctx.Err() != nil {
		err = causeOf(s.log.ctx)
	}
	s.step = nil
	s.stepEnd(err)
}

// stepCtx returns the context of the step under way, or that of the run.
func (s *spans) stepCtx() context.Context {
	if s.step != nil {
		return s.step
	}
	return s.log.ctx
}

// A callSpan is the span of a tool call.
type callSpan struct {
	ctx context.Context
	end func(error)
}

// beginSpan begins the span of a call that is about to be executed.
func (cr *callRun) beginSpan() context.Context {
	w := cr.w
	ctx, end := w.log.around(w.log.ctx, Span{NoteMeta: w.log.callMeta(&cr.call), Kind: "tool", Tool: cr.call.Name})
	w.log.Lock()
	defer w.log.Unlock()
	cr.span = callSpan{ctx, end}
	return ctx
}

// spanCtx returns the context for the AfterTool hooks of a call.
func (cr *callRun) spanCtx() context.Context {
	cr.w.log.Lock()
	defer cr.w.log.Unlock()
	if cr.span.ctx != nil {
		return cr.span.ctx
	}
	return cr.w.log.ctx
}

// endSpan ends the span of a call, if it has begun.
func (cr *callRun) endSpan(out *tools.Outcome) {
	cr.w.log.Lock()
	end := cr.span.end
	cr.w.log.Unlock()
	if end == nil {
		return
	}
	err := out.Err
	if err == nil && out.Suspend == nil && !out.Status.Good() {
		err = fmt.Errorf("agent: the call ended as %s", out.Status)
	}
	end(err)
}

// A Span is a piece of work that Hooks.Around wraps. The spans of steps and tools lie within that
// of their run, and the run of a subagent lies within the tool that calls it.
type Span struct {
	NoteMeta // the run, the step and the call
	// Kind is "run" for one call of Run or Stream, from the start or resumption of a run to its end
	// or pause; "step" for a model call, with its preparation and the hooks for it; and "tool" for
	// the execution of a tool call with all its attempts, and the AfterTool hooks for it.
	Kind string
	Tool string // the name, for a tool call
	// Resumed says, for a run, that it has begun before, perhaps in another process: it was paused,
	// or its process died.
	Resumed bool
}

// around calls the Around hooks. It returns the context for the work, and a function that must be
// called at its end; only its first call has an effect.
func (l *sessionLog) around(ctx context.Context, s Span) (context.Context, func(error)) {
	hooks := l.agent.hooksAt(func(h *Hooks) bool { return h.Around != nil })
	if len(hooks) == 0 {
		return ctx, func(error) {}
	}
	return l.aroundBy(hooks, ctx, s)
}

func (l *sessionLog) aroundBy(hooks []*Hooks, ctx context.Context, s Span) (context.Context, func(error)) {
	ends := make([]func(error), len(hooks))
	for i, h := range hooks {
		l.observe(h, func() error {
			next, end := h.Around(ctx, &s)
			ctx, ends[i] = withValues(ctx, next), end
			return nil
		})
	}
	var once sync.Once
	return ctx, func(err error) {
		once.Do(func() {
			for i := len(ends) - 1; i >= 0; i-- {
				if ends[i] != nil {
					l.observe(hooks[i], func() error {
						ends[i](err)
						return nil
					})
				}
			}
		})
	}
}

// observe calls a function of Around, and logs its panic.
func (l *sessionLog) observe(h *Hooks, fn func() error) {
	if err := contained(fn); err != nil {
		l.agent.logger.ErrorContext(l.ctx, "agent: Around failed", "hook", h.Name, "session", l.Name, "error", err)
	}
}

// withValues returns a context that ends with ctx and has the values of values.
func withValues(ctx, values context.Context) context.Context {
	switch {
	case values == nil:
		return ctx
	case values.Done() == ctx.Done(): // it only adds values
		return values
	}
	return valueContext{ctx, values}
}

// A valueContext has the end of one context and the values of another.
type valueContext struct {
	context.Context
	values context.Context
}

func (c valueContext) Value(key any) any {
	v := c.values.Value(key)
	_, isContext := v.(context.Context)
	_, own := key.(*int) // the key by which package context asks which context cancels
	if v == nil || isContext && own {
		return c.Context.Value(key)
	}
	return v
}
