package agent

import (
	"errors"

	"github.com/pawlkit/pawl/agent/machine"
)

// A Pause is a call that waits for a decision. [Result].Pending, [Session.Pending] and the fact
// [Suspended] have it. Decide with [Approve], [Reject], [Edit], [Suggest], [Answer] or
// [AllowAlways], and give the decision to [Resume] or [Session.Decide].
//
//   - ID: names the call with this input; valid for one decision
//   - Kind: what kind of decision it waits for: see [PauseKind]
//   - Title: what the call does, in words for people
//   - Call: the call: its Name and Input are what a person decides on
//   - Reason, Risk: why a person is asked, and the tool's risk: low, medium or high
//   - For: who answers, such as another agent; empty for a person (tools.Suspend)
//   - Approvers, NotSelf: the roles of which one is needed to decide, and that who started the run
//     can't: see tools.Spec
//   - Schema: the JSON schema of the answer; empty if any JSON will do
//   - Expires: when it is too late; zero for never
//   - Expired(): whether it was too late at a given time
//   - Always, Scope: [AllowAlways] is possible, and what it is for: "" for the whole tool
//   - Scopes: how far it may reach: the session, and what policies offer (tools.Verdict)
//   - Offers(): whether a decision's scope is one of these
//   - Preview, PreviewHash: what the call would change, as a unified diff, and the hash of all of it
//   - Again: the call runs again with its answer; otherwise the answer is the call's result
//   - IdempotencyKey: of a call in doubt: the key that its tool was given, to look up whether the
//     call happened
//   - Replaces, Refused: the ids that the pause had before, because a decision on them didn't fit,
//     and what was wrong with the newest of these decisions
//   - Fingerprint: that of the tool's schema and description
//   - Path: for the pause of a subagent, the ids of the calls that lead to it, outermost first
//   - Nested: for a call of a subagent, the pauses of that agent
//   - Successor(): the pause that takes its place, without an id
//   - Flat(): the pauses that can be decided on: the pause itself, or those nested in it
type Pause = machine.Pause

// A PauseKind says what kind of decision a pause waits for. A tool that suspends its call may name
// another kind; such a pause is a question, which [Answer] answers.
//
//   - PauseApproval: the call needs approval before it runs
//   - PauseInDoubt: the call was started, and it is unknown how it ended
//   - PauseCorrection: the input doesn't fit the schema, and the model couldn't correct it
type PauseKind = machine.PauseKind

// The kinds of pauses. [Reject] and [Suggest] fit all of them.
const (
	// PauseApproval is a call that needs approval before it runs: [Approve], [AllowAlways], [Edit].
	PauseApproval PauseKind = machine.PauseApproval
	// PauseInDoubt is a call that was started, and it is unknown how it ended. [Approve] runs it
	// again, [Answer] says what its result was, and [Reject] leaves it as it is.
	PauseInDoubt PauseKind = machine.PauseInDoubt
	// PauseCorrection is a call whose input still doesn't fit the schema after the model's own
	// corrections. [Edit] corrects it.
	PauseCorrection PauseKind = machine.PauseCorrection
)

// A Decision is a decision on a [Pause]. Make one with [Approve], [Reject], [Edit], [Suggest],
// [Answer] or [AllowAlways]. The call that runs is always the stored one.
//
//   - ID: the id of the pause
//   - Kind: what was decided: see [DecisionKind]
//   - Reason: of a rejection or a suggestion
//   - Input, Value: of an edit and of an answer, as JSON
//   - Secret: the answer isn't recorded, and Value is "given"; whoever decides leaves it false
//   - Scope: how far an approval reaches that stands for later calls; "" for the session
//   - For(): an approval that stands for later calls in one of [Pause].Scopes
//   - User: who decided
//   - By(): the decision with the name of who made it
//   - Err(): the error from encoding the input or the value, or nil
type Decision = machine.Decision

// A DecisionKind says what was decided. The kinds are machine.Approved, Rejected, Edited,
// Suggested, AnswerGiven and AlwaysAllow, which people decide, and Expired and Superseded, which
// happen to a pause that nobody decides.
//
//   - Fits(): whether a pause of a given kind can be decided in this way
type DecisionKind = machine.DecisionKind

// A DecisionError is a decision that is refused. Nothing ran and nothing was recorded because of
// it, and the other decisions of the same input are refused with it.
//
//   - Session, ID: the session and the id of the pause
//   - Code: machine.DecisionUnknown, DecisionUsed, DecisionExpired, DecisionRepeated,
//     DecisionReplaced, DecisionBad or DecisionForbidden
//   - Problem: what is wrong, in words
//   - NewID: the id under which the pause is open now, for machine.DecisionReplaced
//   - Err: the cause, or nil
//   - Error(), Unwrap(): all of it in words, and the cause
//   - Fault(): fault.Denied for machine.DecisionForbidden, and fault.Invalid for the others
type DecisionError = machine.DecisionError

// A RolesError says that [Config].Roles has failed, or is nil, so that it isn't known now whether
// somebody may decide. Nothing was recorded: the pause waits as before, and the same decision can
// be made again.
//
//   - Session, User: the session in which people decide, and who has decided
//   - Err: what Config.Roles has returned
//   - Error(), Unwrap(): all of it in words, and the cause
//   - Fault(): fault.Permanent if that is the class of Err, as for an agent without Config.Roles,
//     and fault.Transient otherwise
type RolesError = machine.RolesError

// A Rule is a standing approval: calls of the tool need none as long as its input schema and its
// description don't change. [AllowAlways] makes one for a session, [Config].Rules has those for all
// sessions, and [Session.Revoke] ends one. It doesn't answer what a tool's Ask asks about a call.
// For a tool with Approvers it answers as long as who gave it may decide on such a call.
//
//   - Tool, Fingerprint: the tool, and its tools.Definition.Fingerprint
//   - Scope: limits it to calls for whose input the tool names this scope; "" for the whole tool
//   - By, Since: who gave it, and when
//   - Text(): says in words which calls it answers for
type Rule = machine.Rule

// Approve lets the call run with the input that was shown.
func Approve(id string) Decision { return machine.Approve(id) }

// Reject keeps the call from running. The model reads the reason.
func Reject(id, reason string) Decision { return machine.Reject(id, reason) }

// Edit lets the call run with another input. The input is validated and checked against the
// policies again; if a policy denies it, the call doesn't run. The input is encoded as JSON; a
// json.RawMessage is used as it is.
func Edit(id string, input any) Decision { return machine.Edit(id, input) }

// Suggest keeps the call from running. The model reads what to do instead.
func Suggest(id, alternative string) Decision { return machine.Suggest(id, alternative) }

// Answer gives the result of the call; the tool doesn't run, unless it has asked to run again with
// the answer ([Pause].Again). It is for questions, for jobs that have finished, and for calls in
// doubt that did happen. The value is encoded as JSON and validated against the schema of the
// pause.
func Answer(id string, value any) Decision { return machine.Answer(id, value) }

// AllowAlways lets the call run, and approves later calls of the same tool with the same scope
// ([Pause].Scope) in the same session, as long as the tool's schema and description don't change.
// It isn't possible for tools of high risk unless the tool permits it, nor for what a policy or the
// tool's Ask asks about each call: see [Pause].Always. Decision.For lets it reach further.
func AllowAlways(id string) Decision { return machine.AllowAlways(id) }

// refuse returns a *[DecisionError]; evaluate adds what the decision was on.
func refuse(code string, why error) error {
	return &DecisionError{Code: code, Problem: why.Error(), Err: errors.Unwrap(why)}
}
