package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// A pause is what a client without people is told of a pause.
type pause struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind" jsonschema:"approval, in_doubt, correction, secret (which the user answers elsewhere), or a question"`
	Title  string          `json:"title" jsonschema:"what the call does, in words"`
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input,omitempty"`
	Reason string          `json:"reason,omitempty"`
	For    string          `json:"for,omitempty" jsonschema:"who answers, if it isn't the user: don't answer it"`
	Schema json.RawMessage `json:"schema,omitempty"`
}

func asPause(p *agent.Pause) pause {
	return pause{ID: p.ID, Kind: string(p.Kind), Title: p.Title, Tool: p.Call.Name, Input: p.Call.Input,
		Reason: p.Reason, For: p.For, Schema: p.Schema}
}

// canAsk reports whether the client can ask people.
func canAsk(req *call) bool {
	p := req.Session.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.Elicitation != nil
}

// inputRequests returns the pauses that people decide on as requests for input. The state is the
// session: who answers is checked as for any request.
func inputRequests(session string, pending []agent.Pause) *mcp.CallToolResult {
	res := &mcp.CallToolResult{RequestState: session, InputRequests: mcp.InputRequestMap{}}
	for i := range pending {
		p := &pending[i]
		if p.For != "" || p.Kind == machine.PauseSecret { // a client must not be asked for a secret
			continue
		}
		res.InputRequests[p.ID] = &mcp.ElicitParams{Mode: "form", Message: message(p), RequestedSchema: form(p)}
	}
	return res
}

// message says what is asked.
func message(p *agent.Pause) string {
	switch p.Kind {
	case machine.PauseApproval:
		return fmt.Sprintf("%s? The agent wants to call %s with %s. (%s)", p.Title, p.Call.Name,
			string(p.Call.Input), p.Reason)
	case machine.PauseInDoubt:
		return fmt.Sprintf("%s: the call of %s with %s was begun, and it isn't known how it ended. Run it again? (%s)",
			p.Title, p.Call.Name, p.Call.Input, p.Reason)
	case machine.PauseCorrection:
		return fmt.Sprintf("%s: the input %s of the call of %s doesn't fit: %s", p.Title,
			p.Call.Invalid+string(p.Call.Input), p.Call.Name, p.Reason)
	}
	return p.Reason
}

type object = map[string]any

// form returns the schema of an answer. Forms have only fields of simple types, so an answer of
// another schema is asked for as JSON.
func form(p *agent.Pause) any {
	text := object{"type": "string"}
	switch p.Kind {
	case machine.PauseApproval, machine.PauseInDoubt:
		return object{"type": "object", "properties": object{"approve": object{"type": "boolean"}, "reason": text},
			"required": []string{"approve"}}
	case machine.PauseCorrection:
		return object{"type": "object",
			"properties": object{"input": object{"type": "string", "description": "the corrected input, as JSON"}},
			"required":   []string{"input"}}
	}
	if isFlat(p.Schema) {
		return p.Schema
	}
	description := "the answer, as JSON"
	if len(p.Schema) > 0 {
		description += " of this schema: " + string(p.Schema)
	}
	return object{"type": "object",
		"properties": object{"answer": object{"type": "string", "description": description}},
		"required":   []string{"answer"}}
}

// isFlat reports whether a schema is that of an object with fields of simple types.
func isFlat(raw json.RawMessage) bool {
	var s struct {
		Type       string `json:"type"`
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil || s.Type != "object" || len(s.Properties) == 0 {
		return false
	}
	for _, p := range s.Properties {
		if !slices.Contains([]string{"string", "number", "integer", "boolean"}, p.Type) {
			return false
		}
	}
	return true
}

// answered takes the answers of a person to input requests.
func (s *server) answered(ctx context.Context, req *call, session string) (*mcp.CallToolResult, error) {
	if err := s.belongs(ctx, session, req.user); err != nil {
		return nil, err
	}
	if user, err := s.cfg.Authorize(ctx, headerOf(req), session); err != nil || user != req.user {
		return nil, errForbidden
	}
	pending, err := s.agent.Session(session).Pending(ctx)
	if err != nil && !errors.Is(err, agent.ErrNothingOpen) {
		return nil, s.failed(ctx, err)
	}
	var decisions []agent.Decision
	for id, response := range req.Params.InputResponses {
		i := slices.IndexFunc(pending, func(p agent.Pause) bool { return p.ID == id })
		got, ok := response.(*mcp.ElicitResult)
		if i < 0 || !ok {
			continue // it was decided meanwhile
		}
		d, err := decision(&pending[i], got)
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, d)
	}
	if len(decisions) == 0 {
		return s.outcome(ctx, req, session)
	}
	return s.resume(ctx, req, session, decisions)
}

// decision returns what an answer decides.
func decision(p *agent.Pause, got *mcp.ElicitResult) (agent.Decision, error) {
	reason, _ := got.Content["reason"].(string)
	if got.Action != "accept" {
		return agent.Reject(p.ID, "the user declined to answer"), nil
	}
	asJSON := func(field string) (json.RawMessage, error) {
		text, _ := got.Content[field].(string)
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%q has to be JSON", field)
		}
		return json.RawMessage(text), nil
	}
	switch p.Kind {
	case machine.PauseApproval, machine.PauseInDoubt:
		if ok, _ := got.Content["approve"].(bool); ok {
			return agent.Approve(p.ID), nil
		}
		return agent.Reject(p.ID, strings.TrimSpace(reason)), nil
	case machine.PauseCorrection:
		input, err := asJSON("input")
		return agent.Edit(p.ID, input), err
	}
	if isFlat(p.Schema) {
		return agent.Answer(p.ID, got.Content), nil
	}
	value, err := asJSON("answer")
	return agent.Answer(p.ID, value), err
}
