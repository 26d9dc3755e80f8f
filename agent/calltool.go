package agent

import (
	"context"
	"encoding/json"

	"github.com/pawlkit/pawl/agent/machine"
)

// CallTool returns an input for a run that makes one call of a tool, without a model: for a button
// of a page, a step of a plan, or a job. The call takes the same path as one that a model makes:
// hooks, schema, policies, approval, journal, verification. The run may therefore pause; a decision
// resumes it as any other ([Resume], [Session.Decide]). It completes when the call has its result,
// whatever that is: see [Result].Called. [Session.Undo] undoes its effect.
//
// The call has an idempotency key of its own, or Input.CallKey.
//
// The input is encoded as JSON; a json.RawMessage is used as it is, and nil is an empty object.
// Mode, Limits, By, Supersede and the other settings of an [Input] may be set; Prompt, Parts,
// Briefing and ToolChoice may not. A tool that doesn't exist, or not in the mode, is an
// *[ArgError]. BeforeFinish hooks aren't called, and what is steered into the run isn't
// delivered.
//
// The conversation has the call and its result like those of a model, after a message that tells
// the model that the call wasn't its own. That message isn't in [Session.Messages].
func CallTool(session, tool string, input any) Input {
	call := &hostCall{tool: tool}
	if input == nil {
		input = json.RawMessage("{}")
	}
	d := Edit("", input) // it encodes and checks the same
	if call.err = d.Err(); call.err == nil {
		call.input, call.err = machine.Marshal(d.Input) // as a journal returns it
	}
	return Input{Session: session, call: call}
}

// Call makes one call of a tool in the session, without a model, and returns when it has its result
// or waits for a decision. It is [Agent.Run] with the input of [CallTool]. Its error is nil only if
// the call has a result ([Result].Called), even a failed one. It is a *[PausedError] if the call
// waits for a decision.
//
//	res, err := a.Session("s-1").Call(ctx, "cms.deletePage", Page{ID: "p1"})
//	var paused *agent.PausedError
//	if errors.As(err, &paused) && paused.Started {
//		return show(res.Pending)
//	}
func (s *Session) Call(ctx context.Context, tool string, input any) (*Result, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	return s.agent.Run(ctx, CallTool(s.id, tool, input))
}
