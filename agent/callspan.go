package agent

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/tools"
)

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
