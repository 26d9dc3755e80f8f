package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/circuit"
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
	asked   []question
	signIns int // for which the call has waited
}

// call calls a tool of the server. own is the server's name of it.
func (c *conn) call(ctx context.Context, own string, input json.RawMessage, output *schema.Schema,
	repeatable bool) (tools.Result, error) {
	r := &running{ctx: ctx}
	params := &mcp.CallToolParams{Name: own, Arguments: input, Meta: mcp.Meta{}}
	if call, ok := tools.CallOf(ctx); ok {
		params.Meta[metaKey] = call.IdempotencyKey
	}
	if err := r.resume(ctx, params); err != nil {
		return tools.Result{}, err
	}
	var res *mcp.CallToolResult
	err := c.do(ctx, repeatable, func(ctx context.Context, s *session) (err error) {
		token := s.begin(r)
		defer s.end(token)
		params.SetProgressToken(token)
		if res, err = s.CallTool(ctx, params); err != nil && len(r.asked) > 0 && ctx.Err() == nil && !lost(err) {
			res, err = nil, nil // the question was dismissed, so that the call has failed
		}
		return err
	})
	var ask *signInError
	switch {
	case errors.As(err, &ask):
		return tools.Result{}, r.signIn(c.server.cfg.Name, ask, params)
	case err != nil:
		return tools.Result{}, err
	case len(r.asked) > 0 || res.NeedsInput():
		return tools.Result{}, r.suspend(c.server.cfg.Name, res)
	}
	return c.result(own, res, output)
}

// do makes a request. If the server doesn't know the session any more, or the session ended before
// the request was sent, it is made once more with another session. Its error is that of this
// request alone: a request that might have run, and may not be repeated, is in doubt.
func (c *conn) do(ctx context.Context, repeatable bool, request func(context.Context, *session) error) error {
	ctx, stop := c.server.whileOpen(ctx)
	defer stop()
	for again := false; ; again = true {
		s, err := c.open(ctx)
		if err != nil {
			return err
		}
		permit, err := c.server.breaker.Allow()
		if open := (*circuit.OpenError)(nil); errors.As(err, &open) {
			return &ConnectError{Server: c.server.cfg.Name, Until: open.Until, Err: open}
		}
		x := &exchange{}
		x.sent.Store(!s.observed)
		s.use(1)
		err = request(context.WithValue(ctx, exchangeKey{}, x), s)
		s.use(-1)
		permit.Done(ofServer(err))
		if err == nil {
			c.worked()
			return nil
		}
		if again || ctx.Err() != nil || !c.renew(s, x, err, repeatable) {
			return c.failed(ctx, s, x, err, repeatable)
		}
	}
}

// worked notes that the server accepts the credential.
func (c *conn) worked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.signIns = 0
}

// renew drops the session if it is over. It reports whether the request may be made once more.
func (c *conn) renew(s *session, x *exchange, err error, repeatable bool) bool {
	var no *refusal
	switch {
	case errors.As(err, &no):
		if !no.unknown {
			return false
		}
	case unsent(err): // it can't be reached, or there is no key
		return false
	case !x.sent.Load(): // the session has ended before
	case !lost(err) || !repeatable: // a transport of the host's may have lost the session to another request
		return false
	}
	c.drop(s)
	return true
}

// failed returns the error of a request that has no result.
func (c *conn) failed(ctx context.Context, s *session, x *exchange, err error, repeatable bool) error {
	var (
		no     *refusal
		answer *jsonrpc.Error
		ask    *signInError
	)
	switch closed := errors.Is(context.Cause(ctx), ErrClosed); {
	case errors.As(err, &ask):
		return ask
	case closed:
		err = ErrClosed
	case ctx.Err() != nil:
		if timeout := (*tools.TimeoutError)(nil); errors.As(context.Cause(ctx), &timeout) {
			c.ping(s)
		}
		return cmp.Or(context.Cause(ctx), err)
	case errors.As(err, &no):
		if no.notRun() || repeatable {
			return no
		}
		return &tools.DoubtError{Err: no}
	case errors.As(err, &answer) && answer.Code != codeRejected && !lost(err):
		return c.server.answered(answer)
	case lost(err):
		c.drop(s)
	}
	switch {
	case !x.sent.Load():
		return &ConnectError{Server: c.server.cfg.Name, Err: err}
	case s.said != nil:
		err = fmt.Errorf("%w%s", err, s.said())
	}
	if !lost(err) {
		c.ping(s)
	}
	err = fault.Errorf(fault.Transient, "mcp: the server %q gave no answer: %w", c.server.cfg.Name, err)
	if repeatable { // it is tried again
		return err
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

// use counts the requests under way.
func (s *session) use(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users += n
}

func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users > 0
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
