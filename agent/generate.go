package agent

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/output"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// Generate makes a model call inside a tool call, with the provider of the run. ctx is the context
// that the tool got: its end and the call's time limit stop the model call.
//
//   - The model is that of the run's mode, or of Config.Params, unless the request names one. The
//     request is as interactive, or has the same priority, as the run's own. It gets the run's
//     labels; of its own labels, only Kind is kept ("tool" by default). Config.Params aren't added.
//     Config.Redact is applied to its text.
//   - What the call costs counts towards the limits of the run, and of the runs that have called it
//     as a subagent: at once, and in the log with the call's [ToolFinished] or [Suspended], as
//     Spent. If one of these limits is reached, no model call is made, and the error is a
//     *[LimitError]. Each call can exceed a limit by one model call. Limits.ReplyBytes bounds the
//     reply. If the process dies during the tool call, what it used isn't in the log.
//   - Nothing of it is in the conversation: the model of the run reads only what the tool returns.
//     The reply may contain calls of tools that the request offers; nobody runs them.
//
// If ctx doesn't belong to a running tool call, the error is an *[ArgError]. The Response is nil if
// no model call was made; with another error it holds the reply so far. Generate is safe for
// concurrent use.
func Generate(ctx context.Context, req *provider.Request) (*provider.Response, error) {
	c, err := generating(ctx, "Generate", req)
	if err != nil {
		return nil, err
	}
	return c.generate(ctx, req)
}

// GenerateFor is [Generate] for an answer that is a T. The model is asked for JSON that fits T's
// schema; it replaces the request's Output. An answer that doesn't fit is sent back, at most
// Limits.OutputCorrections times (2 by default); then the error is an *[OutputError]. As with
// [RunFor], a T that isn't an object is asked for as an object with the one field "value".
func GenerateFor[T any](ctx context.Context, req *provider.Request) (T, error) {
	var zero T
	c, err := generating(ctx, "GenerateFor", req)
	if err != nil {
		return zero, err
	}
	t, err := outputOf[T]("GenerateFor")
	if err != nil {
		return zero, err
	}
	return t.Ask(*req, c.corrections(), func(own *provider.Request) (*provider.Response, error) {
		return c.generate(ctx, own)
	}, func(text string, problem error) error {
		return &OutputError{Text: text, Err: problem}
	})
}

// Book charges what a tool call has spent elsewhere, for example on an image or a search, to the
// run and to the call, as [Generate] does. A cost of 0 with a usage means that the price isn't
// known. ctx is the context that the tool got; if it doesn't belong to a running tool call, or if a
// figure is negative, the error is an *[ArgError], and nothing is charged. That a limit is reached
// is no error here: the next model call of the tool or of the run is refused. A run that the tool
// has started with ctx counts by itself, and needn't be booked. Book is safe for concurrent use.
func Book(ctx context.Context, u provider.Usage, cost provider.Money) error {
	c, err := callIn(ctx, "Book")
	if err != nil {
		return err
	}
	if min(u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, int64(cost)) < 0 {
		return &ArgError{Func: "Book",
			Problem: fmt.Sprintf("a figure is negative: %+v, %v; give what was spent", u, cost)}
	}
	if _, err := c.x.log.place.ownSpending(ctx); err != nil {
		return err
	}
	return c.book("Book", machine.Spent{Usage: u, Cost: cost, Unpriced: cost == 0 && u.Total() > 0})
}

// A toolContext is a running tool call, as found in its context.
type toolContext struct {
	x    *driver
	call *tools.Call
}

// callIn returns the running tool call that ctx belongs to. Without one, the error is a
// *[ArgError] for fn.
func callIn(ctx context.Context, fn string) (toolContext, error) {
	if x := driverIn(ctx); x != nil {
		if call, ok := tools.CallOf(ctx); ok {
			x.log.Lock()
			defer x.log.Unlock()
			if x.workers.runningCall(call) != nil {
				return toolContext{x, call}, nil
			}
		}
	}
	return toolContext{}, noCall(fn)
}

// generating is callIn for a function that makes a model call.
func generating(ctx context.Context, fn string, req *provider.Request) (toolContext, error) {
	c, err := callIn(ctx, fn)
	if err == nil && req == nil {
		err = &ArgError{Func: fn, Problem: "the request is nil"}
	}
	return c, err
}

func noCall(fn string) error {
	return &ArgError{Func: fn,
		Problem: "the context doesn't belong to a tool call that is running; pass on the one that the tool got, and " +
			"use it only until the tool returns"}
}

// book charges s to the call.
func (c toolContext) book(fn string, s machine.Spent) error {
	c.x.log.Lock()
	defer c.x.log.Unlock()
	if c.x.workers.runningCall(c.call) == nil { // it was abandoned
		return noCall(fn)
	}
	c.x.log.place.spending.book(c.call.ID, s)
	return nil
}

// generate makes a model call and charges it.
func (c toolContext) generate(ctx context.Context, req *provider.Request) (*provider.Response, error) {
	all, err := c.x.log.place.ownSpending(ctx)
	if err != nil {
		return nil, err
	}
	if err := all.reached("it is the limit of the run that this tool call belongs to"); err != nil {
		return nil, err
	}
	if err := all.limitReached(); err != nil {
		return nil, err
	}
	if err := c.x.log.place.limit(ctx); err != nil {
		return nil, err
	}
	own, limits, err := c.request(req)
	if err != nil {
		return nil, err
	}
	res, err := output.Generate(context.WithValue(ctx, asideKey{}, true), c.x.agent.provider, own, limits.ReplyBytes)
	if res.Usage.Total() > 0 {
		cost, priced := provider.CostOf(infosOf(c.x.agent.provider, own.Model), res.Model, res.Usage)
		if failed := c.book("Generate",
			machine.Spent{Usage: res.Usage, Cost: cost, Unpriced: !priced, Calls: 1}); err == nil {
			err = failed
		}
	}
	return res, err
}

// request returns req with what it takes from the run, and the limits of the run; an error if its
// model has no price and needs one.
func (c toolContext) request(req *provider.Request) (*provider.Request, *Limits, error) {
	redact := c.x.agent.redact
	own := *req
	own.System, own.Messages = redact.Text(req.System), redact.Messages(req.Messages)
	c.x.log.Lock()
	defer c.x.log.Unlock()
	r := c.x.log.Run()
	own.Model = cmp.Or(req.Model, c.x.log.State().Model, c.x.log.currentMode().Model, c.x.agent.cfg.Params.Model)
	own.Interactive, own.Priority = r.Interactive, r.Priority
	own.Labels = c.x.log.labels(r.Step, cmp.Or(req.Labels.Kind, "tool"))
	return &own, r.Limits, unpriced(c.x.log.State(), own.Model, infosOf(c.x.agent.provider, own.Model))
}

// corrections returns how often an answer that doesn't fit is sent back; below 0: without a limit.
func (c toolContext) corrections() int {
	c.x.log.Lock()
	defer c.x.log.Unlock()
	return c.x.log.Run().Limits.OutputCorrections
}
