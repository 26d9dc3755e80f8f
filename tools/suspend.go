package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// MaxState is how many bytes the JSON of [Suspend].State has at most: 64 KiB.
const MaxState = 64 << 10

// Suspend is the error with which a tool suspends its call until there is an answer: a question to
// a person, a long job, an approval in a subagent. Without Again, the answer becomes the call's
// result and the tool isn't run again.
//
// With Again, the call runs again when it is answered: [Resumed] then returns the state and the
// answer. This may happen days later, in another process. The call may suspend itself any number of
// times. It keeps its input and its [IdempotencyKey]; hooks aren't asked about it again, but
// policies and the tool's Check are. A call that is rejected, or expires, while it waits counts as
// not run and isn't undone, so a tool must do nothing before it suspends that would have to be
// undone.
//
// To ask several questions at once, give an object schema with a property for each: there is one
// answer.
type Suspend struct {
	Kind   string          // for the host, for example "question"
	Prompt string          // for the person who answers
	Schema json.RawMessage // of the answer; empty: any JSON
	// For names who answers, if that isn't a person: another agent, for example. People aren't
	// asked then: lists and pages that are for people leave the pause out or show it without
	// buttons, and who is named finds it by that name (approvals.Filter). It isn't checked who
	// answers in the end; the host's authorization does that. It is cut at 512 bytes.
	For     string
	Expires time.Duration // after which the call counts as rejected; 0: the default of the agent, which is never
	// Again says that the call runs again with the answer.
	Again bool
	// Secret says that the answer is a secret, such as a password: it is never recorded. It needs
	// Again, and the kind of the pause is machine.PauseSecret, whatever Kind is. The call gets the
	// answer once, in memory; logs, events and hooks have the text "given" in its place. What the
	// call itself returns, emits or reports is recorded as ever, so it must not contain the answer.
	//
	// The answer has to be given to the process that continues the call, within an hour before
	// it does. If another process drives the session, the decision is refused. If the call can't
	// have the answer any more, because the process that was given it has ended, the person is
	// asked again: the pause opens under another id, or the call runs as if it were the first time,
	// without its State.
	Secret bool
	// State is what the call needs to go on: anything that encodes to JSON of at most [MaxState]
	// bytes. It is stored with the pause, redacted like all that is stored, and not shown to the
	// person who answers. It is used only with Again.
	State any
}

// Error says what the call waits for.
func (s Suspend) Error() string { return "tools: the call is suspended: " + s.Kind + ": " + s.Prompt }

// A Resumption is what a call that was suspended with [Suspend].Again has when it runs again.
type Resumption struct {
	State  json.RawMessage // as the call gave it; empty if it gave none
	Answer json.RawMessage // fits Suspend.Schema
	By     string          // who answered; empty if unknown
}

// Decode decodes the state and the answer. Either argument may be nil.
func (r Resumption) Decode(state, answer any) error {
	for _, part := range []struct {
		name string
		raw  json.RawMessage
		to   any
	}{{"state", r.State, state}, {"answer", r.Answer, answer}} {
		if part.to == nil || len(part.raw) == 0 {
			continue
		}
		if err := json.Unmarshal(part.raw, part.to); err != nil {
			return fault.Errorf(fault.Permanent, "tools: the %s of a suspended call can't be decoded: %w", part.name,
				err)
		}
	}
	return nil
}

// Resumed returns the state and the answer if the call that ctx belongs to was suspended with
// [Suspend].Again and runs again. It returns false in the first run of a call, and outside of a
// call.
func Resumed(ctx context.Context) (Resumption, bool) {
	c, ok := CallOf(ctx)
	if !ok || c.Resumed == nil {
		return Resumption{}, false
	}
	return *c.Resumed, true
}

// suspended makes an Outcome of a suspended call. Its State is a json.RawMessage, or nil.
func (d *Definition) suspended(s Suspend) Outcome {
	state := s.State
	if s.State = nil; !s.Again || state == nil {
		return Outcome{Suspend: &s}
	}
	text, err := marshal(state)
	switch {
	case err != nil:
		err = fmt.Errorf("tools: %s: Suspend.State: %w", d.spec.Name, err)
	case len(text) > MaxState:
		err = fmt.Errorf(
			"tools: %s: Suspend.State has %d bytes as JSON; at most %d are kept, so store the rest elsewhere",
			d.spec.Name, len(text), MaxState)
	}
	if err != nil {
		return d.fail(Failed, fault.Permanent, err, broken)
	}
	s.State = json.RawMessage(strings.ToValidUTF8(text, "\uFFFD"))
	return Outcome{Suspend: &s}
}
