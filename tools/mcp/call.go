package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

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
	// that the server asked and that have no answer, with servers that wait for it within the call
	asked []question
}

// call calls a tool of the server. own is the server's name of it.
func (c *conn) call(ctx context.Context, own string, input json.RawMessage, output *schema.Schema,
	repeatable bool) (tools.Result, error) {
	r, ex := &running{ctx: ctx}, &exchange{}
	asking := context.WithValue(ctx, exchangeKey{}, ex)
	params := &mcp.CallToolParams{Name: own, Arguments: input, Meta: mcp.Meta{}}
	if call, ok := tools.CallOf(ctx); ok {
		params.Meta[metaKey] = call.IdempotencyKey
	}
	if err := r.resume(ctx, params); err != nil {
		return tools.Result{}, err
	}
	for again := false; ; again = true {
		s, err := c.open(ctx)
		if err != nil {
			return tools.Result{}, err
		}
		token := s.begin(r)
		params.SetProgressToken(token)
		res, err := s.CallTool(asking, params)
		s.end(token)
		switch {
		case err == nil && (res.NeedsInput() || len(r.asked) > 0):
			return tools.Result{}, r.suspend(c.server.cfg.Name, res)
		case err == nil:
			return c.result(own, res, output)
		case len(r.asked) > 0 && ctx.Err() == nil && !lost(err):
			return tools.Result{}, r.suspend(c.server.cfg.Name, nil)
		case !again && errors.Is(err, mcp.ErrSessionMissing):
			// the server has refused the request, because it doesn't know the session any more
			c.drop(s)
			continue
		}
		return tools.Result{}, c.failed(ctx, s, ex, err, repeatable)
	}
}

// failed returns the error of a call that has no result.
func (c *conn) failed(ctx context.Context, s *session, ex *exchange, err error, repeatable bool) error {
	var answered *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return cmp.Or(context.Cause(ctx), err)
	case errors.Is(err, errSignIn):
		return errSignIn
	case errors.As(err, &answered) && answered.Code != codeRejected && !lost(err):
		return c.server.answered(answered)
	}
	c.drop(s)
	if refused := ex.refused(); refused != nil {
		return &ConnectError{Server: c.server.cfg.Name, Err: refused}
	}
	err = &ConnectError{Server: c.server.cfg.Name, Err: err}
	if repeatable { // it is tried again, over another connection
		return fault.Wrap(fault.Transient, err)
	}
	return &tools.DoubtError{Err: err}
}

// answered returns an error that the server has answered with. Its message is data, like a result.
func (s *Server) answered(e *jsonrpc.Error) error {
	message := tools.Cut(strings.ToValidUTF8(e.Message, "\uFFFD"), maxMessage)
	return fault.Wrap(classOf(e.Code), errors.New(tools.Untrusted(s.cfg.Name, message)))
}

// codeRejected is the code of the SDK's own error for a request that its transport couldn't
// complete. It may have arrived all the same.
const codeRejected = -32005

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

// begin notes that a call is under way, and returns its progress token. The ids of calls won't do:
// two sessions may have the same ones.
func (s *session) begin(r *running) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	token := strconv.Itoa(s.begun)
	s.calls[token] = r
	return token
}

// end notes that a call is over.
func (s *session) end(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, token)
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
