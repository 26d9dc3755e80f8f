package agent

import (
	"context"
	"encoding/json"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A HostCall starts a run that makes one call of a tool, without a model: for a button of a page, a
// step of a plan, or a job. The call takes the same path as one that a model makes: hooks, schema,
// policies, approval, journal, verification. The run may therefore pause; a decision resumes it as
// any other ([Resume], [Session.Decide]). It completes when the call has its result, also if the
// call has failed or its input doesn't fit the schema: see [Result].Called. [Session.Undo] undoes
// its effect.
//
// A tool that doesn't exist, or not in the mode, is an *[ArgError]. BeforeFinish hooks aren't
// called, and what is steered into the run isn't delivered.
//
// The conversation has the call and its result like those of a model, after a message that tells
// the model that the call wasn't its own. That message isn't in [Session.Messages].
type HostCall struct {
	Session string // as in [Input]
	Tool    string // its name
	// Input is the input of the call. It is encoded as JSON when the run starts, so it mustn't be
	// changed before that; a json.RawMessage is used as it is, and nil is an empty object.
	// BeforeInput hooks don't see it.
	Input any
	// Key makes a repeated request harmless, such as a second click: see [Input].Key.
	Key string
	// CallKey is the idempotency key that the tool gets ([tools.IdempotencyKey]), for a call that
	// repeats one of an earlier run after it failed, or was interrupted. It doesn't keep the call
	// from being made twice: Key does. Empty: a key of its own. It has at most 200 bytes.
	CallKey string

	// This and the fields below are those of an [Input]. Model is for the model calls that the tool
	// makes ([Generate]).
	History              []provider.Message
	Outside              []string // where text from outside comes from that the call's input has
	Tools                []tools.Tool
	Mode, Model          string
	Limits               *Limits
	User, Task, Pipeline string
	Labels               map[string]string
	Interactive          bool
	Priority             int
	Owner, Parent, Title string
	Supersede            bool
	Replaces             uint64
	Trace                string
	Children             bool
}

// CallTool returns a [HostCall].
func CallTool(session, tool string, input any) HostCall {
	return HostCall{Session: session, Tool: tool, Input: input}
}

// SessionName implements [Work].
func (c HostCall) SessionName() string { return c.Session }

func (c HostCall) work() *job {
	call := &hostCall{tool: c.Tool, key: c.CallKey}
	if c.Input == nil {
		c.Input = json.RawMessage("{}")
	}
	call.err = contained(func() error { // it may have a method of the host that encodes it
		d := Edit("", c.Input) // it encodes and checks the same
		if d.Err() != nil {
			return d.Err()
		}
		data, err := machine.Marshal(d.Input) // as a journal returns it
		call.input = data
		return err
	})
	in := Input{Session: c.Session, History: c.History, Outside: c.Outside, Tools: c.Tools,
		Mode: c.Mode, Model: c.Model, Limits: c.Limits, User: c.User, Task: c.Task, Pipeline: c.Pipeline,
		Labels: c.Labels, Interactive: c.Interactive, Priority: c.Priority, Owner: c.Owner, Parent: c.Parent,
		Title: c.Title, Key: c.Key, Supersede: c.Supersede, Replaces: c.Replaces, Trace: c.Trace, Children: c.Children}
	return newJob("HostCall", &in, call)
}

// A hostCall is the call of a [HostCall].
type hostCall struct {
	tool, key string
	input     json.RawMessage
	err       error // from encoding the input
}

// check returns what is wrong with the call, regardless of the session.
func (c *hostCall) check(limits *Limits) error {
	if c.err != nil {
		return &ArgError{Field: "HostCall.Input", Problem: "it can't be encoded: " + c.err.Error(), Err: c.err}
	}
	if err := checkLine("CallKey", c.key, maxKey); err != nil {
		return err
	}
	return checkSize(machine.LimitPromptBytes, limits.PromptBytes, len(c.input), "give the tool a smaller input")
}

// into adds the call to the fact that starts its run.
func (c *hostCall) into(f *RunStarted) {
	f.Message = memory.HostMessage("The host makes the following call of " + c.tool +
		" itself. It wasn't your decision.")
	f.CallKey = c.key
	f.Call = &provider.ToolCall{ID: machine.CallID(f.Run(), 0, 0), Name: c.tool, Input: c.input}
}

// Call makes one call of a tool in the session, without a model, and returns when it has its result
// or waits for a decision. It is [Agent.Run] with a [HostCall]. Its error is nil only if
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
