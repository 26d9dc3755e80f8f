package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/request"
	"github.com/pawlkit/pawl/agent/machine"
)

type askInput struct {
	Prompt  string `json:"prompt" jsonschema:"what the agent should do"`
	Session string `json:"session,omitempty" jsonschema:"the session to continue; empty: a new one"`
}

func (in askInput) session() string { return in.Session }

type sessionInput struct {
	Session string `json:"session"`
}

func (in sessionInput) session() string { return in.Session }

type answerInput struct {
	Session   string          `json:"session"`
	Decisions []decisionInput `json:"decisions" jsonschema:"one for each id in pending"`
}

type decisionInput struct {
	ID       string `json:"id"`
	Decision string `json:"decision" jsonschema:"approve, reject, edit, suggest or answer"`
	Reason   string `json:"reason,omitempty" jsonschema:"of reject and suggest"`
	Input    any    `json:"input,omitempty" jsonschema:"of edit: the corrected input of the call"`
	Value    any    `json:"value,omitempty" jsonschema:"of answer"`
}

// parse returns the decision.
func (in *decisionInput) parse() (agent.Decision, error) {
	d := request.Decision{ID: in.ID, Decision: in.Decision, Reason: in.Reason}
	for _, part := range []struct {
		from any
		to   *json.RawMessage
	}{{in.Input, &d.Input}, {in.Value, &d.Value}} {
		if part.from == nil {
			continue
		}
		raw, err := json.Marshal(part.from)
		if err != nil {
			return agent.Decision{}, err
		}
		*part.to = raw
	}
	return d.Parse()
}

func (in answerInput) session() string { return in.Session }

// ask starts a run, or sends the message to the run in progress. A request that comes again with
// the answers of a person resumes the run.
func (s *server) ask(ctx context.Context, req *call, in askInput) (*mcp.CallToolResult, error) {
	if state := req.Params.RequestState; state != "" {
		return s.answered(ctx, req, state)
	}
	switch {
	case in.Prompt == "":
		return nil, errors.New(`"prompt" is empty`)
	case len(in.Prompt) > maxPrompt:
		return nil, fmt.Errorf(`"prompt" has %d bytes; at most %d are taken`, len(in.Prompt), maxPrompt)
	}
	session := in.Session
	if session == "" {
		session = newSession()
	}
	run := agent.Input{Session: session, Prompt: in.Prompt, Owner: req.user, User: req.user, Interactive: true}
	if s.cfg.Input != nil {
		s.cfg.Input(ctx, &run)
		run.Session, run.Owner = session, req.user
	}
	sent, err := s.hub.Send(ctx, run)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	if sent.Steered {
		return s.outcome(ctx, req, session)
	}
	return s.wait(ctx, req, session, sent.Done)
}

// answer decides on pauses, and resumes the run.
func (s *server) answer(ctx context.Context, req *call, in answerInput) (*mcp.CallToolResult, error) {
	if state := req.Params.RequestState; state != "" {
		return s.answered(ctx, req, state)
	}
	if len(in.Decisions) == 0 {
		return nil, errors.New(`"decisions" is empty`)
	}
	var decisions []agent.Decision
	for i := range in.Decisions {
		d, err := in.Decisions[i].parse()
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, d)
	}
	return s.resume(ctx, req, in.Session, decisions)
}

// resume takes decisions and resumes the run.
func (s *server) resume(ctx context.Context, req *call, session string,
	decisions []agent.Decision) (*mcp.CallToolResult, error) {
	pending, _ := s.agent.Session(session).Pending(ctx) // Decide returns the error
	for i := range decisions {
		decisions[i] = decisions[i].By(req.user)
		if decisions[i].Kind == machine.AnswerGiven && slices.ContainsFunc(pending, func(p agent.Pause) bool {
			return p.ID == decisions[i].ID && p.Kind == machine.PauseSecret
		}) {
			return nil, errors.New("the agent asks for a secret, which a client would keep: " +
				"the user gives it on the agent's page or in its terminal")
		}
	}
	started, err := s.hub.Decide(ctx, session, decisions...)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	if started.Done == nil { // whoever drives the session reads them
		return s.outcome(ctx, req, session)
	}
	return s.wait(ctx, req, session, started.Done)
}

// wait waits for the end of a run, for as long as the configuration says.
func (s *server) wait(ctx context.Context, req *call, session string, done <-chan struct{}) (*mcp.CallToolResult,
	error) {
	timer := time.NewTimer(s.cfg.Wait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done(): // the run goes on
		return nil, context.Cause(ctx)
	}
	return s.outcome(ctx, req, session)
}

func (s *server) status(ctx context.Context, req *call, in sessionInput) (*mcp.CallToolResult, error) {
	return s.outcome(ctx, req, in.Session)
}

func (s *server) cancel(ctx context.Context, req *call, in sessionInput) (*mcp.CallToolResult, error) {
	err := s.hub.Cancel(ctx, in.Session)
	if err != nil && !errors.Is(err, agent.ErrNothingOpen) {
		return nil, s.failed(ctx, err)
	}
	return s.outcome(ctx, req, in.Session)
}

// outcome returns what has become of the newest run of a session. Pauses are input requests, if the
// client can ask people.
func (s *server) outcome(ctx context.Context, req *call, session string) (*mcp.CallToolResult, error) {
	own := s.agent.Session(session)
	res, err := own.Result(ctx)
	if errors.Is(err, agent.ErrNothingOpen) {
		return nil, errForbidden
	}
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	out := outcome{Session: session, Status: string(res.Status), Text: res.Text()}
	for i := range res.Pending {
		out.Pending = append(out.Pending, asPause(&res.Pending[i]))
	}
	if canAsk(req) && req.Params.Name != "status" {
		if ask := inputRequests(session, res.Pending); len(ask.InputRequests) > 0 {
			return ask, nil
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}},
		StructuredContent: json.RawMessage(text), IsError: res.Status == agent.Failed}, nil
}
