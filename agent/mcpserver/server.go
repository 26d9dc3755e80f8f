package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A Config configures a handler. Authorize is required.
type Config struct {
	// Name and Description are those of the server, for clients. An empty Name is "agent".
	Name        string
	Description string
	// Authorize returns the name of the user who makes a request, or an error if the user may not
	// use the session, which is empty for a new one. It is called with the headers of each request.
	// A client is told to try again after an error that may go away by its class, such as
	// serve.ErrTryAgain.
	Authorize func(ctx context.Context, h http.Header, session string) (user string, err error)
	// Input, if it isn't nil, changes the input of a run: its limits, labels or mode. Session,
	// Owner and User are set already.
	Input func(ctx context.Context, in *agent.Input)
	// Wait is how long a request waits for the end of a run; 0: 60 s.
	Wait   time.Duration
	Logger *slog.Logger // nil: nothing is logged
}

const (
	defaultWait = 60 * time.Second
	maxPrompt   = 64 << 10 // bytes
)

// New returns a handler over a hub. The error is a *[agent.ArgError].
func New(hub *live.Hub, cfg Config) (http.Handler, error) {
	switch {
	case hub.Agent() == nil:
		return nil, &agent.ArgError{Func: "mcpserver.New", Field: "Config.Hub",
			Problem: "it is nil or empty; make one with live.New"}
	case cfg.Authorize == nil:
		return nil, &agent.ArgError{Func: "mcpserver.New", Field: "Config.Authorize",
			Problem: "it is nil, so that everything would be refused; say who may do what"}
	case cfg.Wait < 0:
		return nil, &agent.ArgError{Func: "mcpserver.New", Field: "Config.Wait",
			Problem: "it is negative; 0 is the default"}
	}
	cfg.Wait = cmp.Or(cfg.Wait, defaultWait)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{hub: hub, agent: hub.Agent(), cfg: cfg}
	m := mcp.NewServer(&mcp.Implementation{Name: cmp.Or(cfg.Name, "agent"), Version: "1"},
		&mcp.ServerOptions{Instructions: cfg.Description, Logger: cfg.Logger,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}}) // no logging, and they never change
	no := false
	mcp.AddTool(m, &mcp.Tool{Name: "ask", Description: "Asks the agent to do something. " + cfg.Description,
		Annotations: &mcp.ToolAnnotations{}}, tool(s, (*server).ask))
	mcp.AddTool(m, &mcp.Tool{Name: "answer", Description: "Answers what the agent waits for.",
		Annotations: &mcp.ToolAnnotations{}}, tool(s, (*server).answer))
	mcp.AddTool(m, &mcp.Tool{Name: "status", Description: "Says what has become of a request to the agent.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, tool(s, (*server).status))
	mcp.AddTool(m, &mcp.Tool{Name: "cancel", Description: "Stops what the agent is doing.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true}}, tool(s, (*server).cancel))
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return m
	}, &mcp.StreamableHTTPOptions{Stateless: true, Logger: cfg.Logger}), nil
}

type server struct {
	hub   *live.Hub
	agent *agent.Agent
	cfg   Config
}

// An outcome is what the tools answer with.
type outcome struct {
	Session string  `json:"session"`
	Status  string  `json:"status" jsonschema:"running, paused, completed, stopped or failed"`
	Text    string  `json:"text,omitempty"`
	Pending []pause `json:"pending,omitempty" jsonschema:"what the agent waits for: answer it"`
}

// A call is one call of a tool, and who makes it.
type call struct {
	*mcp.CallToolRequest
	user string
}

// headerOf returns the headers of a request.
func headerOf(req *call) http.Header {
	if req.Extra == nil || req.Extra.Header == nil {
		return http.Header{}
	}
	return req.Extra.Header
}

// tool returns the handler of a tool.
func tool[In interface{ session() string }](s *server,
	do func(*server, context.Context, *call, In) (*mcp.CallToolResult, error)) mcp.ToolHandlerFor[In, any] {
	return func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		user, err := s.cfg.Authorize(ctx, headerOf(&call{CallToolRequest: req}), in.session())
		switch {
		case err != nil:
			s.cfg.Logger.InfoContext(ctx, "mcpserver: refused", "session", in.session(), "error", err)
			if fault.Retryable(fault.Of(err)) { // such as serve.ErrTryAgain
				return nil, nil, errLater
			}
			return nil, nil, errForbidden
		case user == "":
			return nil, nil, errors.New("the server doesn't say whom it lets in")
		}
		if in.session() != "" {
			if err := s.belongs(ctx, in.session(), user); err != nil {
				return nil, nil, err
			}
		}
		res, err := do(s, ctx, &call{req, user}, in)
		return res, nil, err
	}
}

// errForbidden is the answer for what somebody may not do, and for sessions of others as well as
// for those that don't exist.
var errForbidden = errors.New("there is no such session, or you may not use it")

var errLater = errors.New("it can't be done now; try again")

// belongs returns an error if a session is somebody else's.
func (s *server) belongs(ctx context.Context, session, user string) error {
	_, err := s.hub.Owned(ctx, session, user)
	if err == nil || errors.Is(err, agent.ErrNothingOpen) { // a new one
		return nil
	}
	return s.failed(ctx, err)
}

// failed returns the error that a client gets, with the same words as in the answers of
// agent/serve.
func (s *server) failed(ctx context.Context, err error) error {
	p := serve.Problem(err)
	if cause := p.Unwrap(); cause != nil {
		s.cfg.Logger.ErrorContext(ctx, "mcpserver: a request failed", "error", cause)
	}
	switch {
	case errors.Is(err, agent.ErrNotOwner):
		return errForbidden
	case p.Code == serve.CodePaused:
		return errors.New("the agent waits for decisions: answer them first")
	}
	return errors.New(p.Detail)
}

// newSession returns the name of a new session.
func newSession() string { return "mcp-" + rand.Text() }
