package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/tools"
)

// metaKey is the field of a request's metadata with the idempotency key of the call.
const metaKey = "pawl/key"

// A running is a call under way.
type running struct {
	ctx     context.Context
	answers map[string]answer // that a person has given, by the question
	asked   []question        // that the server asked and that have no answer, with servers that wait for it within the call
}

// call calls a tool of the server. own is the server's name of it.
func (c *conn) call(ctx context.Context, own string, input json.RawMessage, output *schema.Schema, repeatable bool) (tools.Result, error) {
	r := &running{ctx: ctx}
	params := &mcp.CallToolParams{Name: own, Arguments: input, Meta: mcp.Meta{}}
	if call, ok := tools.CallOf(ctx); ok {
		params.Meta[metaKey] = call.IdempotencyKey
		params.SetProgressToken(call.ID)
	}
	if err := r.resume(ctx, params); err != nil {
		return tools.Result{}, err
	}
	for again := false; ; again = true {
		s, err := c.open(ctx)
		if err != nil {
			return tools.Result{}, err
		}
		s.begin(params.GetProgressToken(), r)
		res, err := s.CallTool(ctx, params)
		s.end(params.GetProgressToken())
		switch {
		case err == nil && (res.NeedsInput() || len(r.asked) > 0):
			return tools.Result{}, r.suspend(c.server.cfg.Name, res)
		case err == nil:
			return c.result(own, res, output)
		case len(r.asked) > 0 && ctx.Err() == nil && !lost(err):
			return tools.Result{}, r.suspend(c.server.cfg.Name, nil)
		case !again && errors.Is(err, mcp.ErrSessionMissing): // the server has refused the request, because it doesn't know the session any more
			c.drop(s)
			continue
		}
		return tools.Result{}, c.failed(ctx, s, err, repeatable)
	}
}

// failed returns the error of a call that has no result.
func (c *conn) failed(ctx context.Context, s *session, err error, repeatable bool) error {
	var answered *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return cmp.Or(context.Cause(ctx), err)
	case errors.As(err, &answered) && !lost(err):
		return fault.Wrap(classOf(answered.Code), errors.New(answered.Message))
	}
	c.drop(s)
	err = &ConnectError{Server: c.server.cfg.Name, Err: err}
	if repeatable { // it is tried again, over another connection
		return fault.Wrap(fault.Transient, err)
	}
	return &tools.DoubtError{Err: err}
}

// classOf returns the class of an error that the server has answered with.
func classOf(code int64) fault.Class {
	switch code {
	case jsonrpc.CodeInvalidParams:
		return fault.Invalid
	case jsonrpc.CodeMethodNotFound:
		return fault.NotFound
	}
	return fault.Permanent
}

// begin and end say that a call is under way.
func (s *session) begin(token any, r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, _ := token.(string)
	s.calls[id] = r
}

func (s *session) end(token any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, _ := token.(string)
	delete(s.calls, id)
}

func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls) > 0
}

// progress passes on the progress of a call.
func (s *session) progress(p *mcp.ProgressNotificationParams) {
	id, _ := p.ProgressToken.(string)
	s.mu.Lock()
	r := s.calls[id]
	s.mu.Unlock()
	if r == nil {
		return
	}
	report := tools.ProgressReport{Text: p.Message}
	if p.Total > 0 {
		report.Done = p.Progress / p.Total
	}
	tools.Progress(r.ctx, report)
}
