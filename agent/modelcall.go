package agent

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/stream"
	"github.com/pawlkit/pawl/tools"
)

// abandonable returns the Provider so that its calls end with their context. One that doesn't
// declare that gets a wrapper, which abandons calls that don't return: see [guard.Abandonable].
func (a *Agent) abandonable() provider.Provider {
	session := func(ctx context.Context) string {
		if x := driverIn(ctx); x != nil {
			return x.Name
		}
		return ""
	}
	return guard.Abandonable(a.cfg.Provider, guard.AbandonConfig{
		Grace: grace,
		OnAbandoned: func(ctx context.Context, _ *provider.Request) {
			a.abandoned.Add(1)
			a.logger.ErrorContext(ctx, "agent: the provider ignores the end of its context and is abandoned", "session",
				session(ctx))
		},
		OnReturned: func(ctx context.Context, _ *provider.Request) {
			a.abandoned.Add(-1)
			a.logger.WarnContext(ctx, "agent: a model call that was abandoned has ended", "session", session(ctx))
		},
	})
}

// stream makes the model call: it shows the chunks of the reply and collects them. A panic of the
// provider becomes the error of the call. One of the consumer goes on.
func (x *driver) stream(req *provider.Request) {
	returned := false
	defer func() {
		if returned || x.yielding {
			return
		}
		if v := recover(); v != nil {
			x.reply.err = panicked(v)
		}
	}()
	x.agent.provider.Stream(x.stepCtx(), req)(x.reply.take)
	returned = true
	if p, ok := errors.AsType[*stream.PanicError](x.reply.err); ok {
		x.reply.err = &tools.PanicError{In: "the provider", Value: p.Value, Stack: p.Stack}
	}
}
