package agent

import "github.com/pawlkit/pawl/agent/machine"

// A Fact is an event of a session that is stored before anyone sees it. The same facts make the
// same state, in any process, and a fact must not be changed. What all facts have in common is
// their [Meta], which Envelope returns. The facts are the types of this package that say so, and a
// few of package machine that hosts rarely need.
//
//   - Envelope(): the session, run, number, time and step of the fact
type Fact = machine.Fact

// Meta is the envelope of a fact: which run the fact belongs to, where and when. It is a part of
// each fact, so that its fields and methods are those of the fact, as in ev.Run().
//
//   - Origin: the run, which all its events share; nil for a fact that was made without one
//   - Seq: the number of the fact in its session, from 1 without gaps; 0 for a note
//   - Time: when the fact was recorded; zero for a note
//   - V: the version of the fact's encoding
//   - Step: the model call of the run, from 1; 0 before the first
//   - Call: the id of the tool call that the event is about; "" for others
//   - By: who caused the event; "" if it was the run itself
//   - Session(), Run(): the ids of the session and of the run
//   - Parent(): the call of the parent run, for a subagent
//   - Agent(): the agent's name
//   - Trace(): the W3C trace id
//   - Labels(): those that the host gave to the run
//   - Envelope(): a copy of the Meta itself
type Meta = machine.Meta

// NoteMeta is the envelope of a note: which run and which call the note belongs to. It is a part of
// each note, and has what [Meta] has except for a number, a time, a version and By.
//
//   - Origin: the run, which all its events share; nil for a note that was made without one
//   - Step, Call: see [Meta]
//   - Session(), Run(), Parent(), Agent(), Trace(), Labels(): see [Meta]
//   - Envelope(): the same as a Meta
type NoteMeta = machine.NoteMeta

// RunStarted is the fact that a run has started with an input. It records everything that the run
// needs to continue in another process. Most fields are those of [Input].
//
//   - Meta: see [Meta]
//   - Message, History: the input, and the messages before it that the host began elsewhere
//   - Mode, ToolChoice, Output, Interactive, Priority, Key, Children: see [Input]
//   - Limits, Own: the limits in force, and those that the input itself set
//   - Caller: who the run works for, in parts: User, Task, Pipeline and TraceParent
//   - Owner: who the session belongs to; only its first run can say so
//   - Tools, Only, External: the fingerprints of the agent's tools; the names of those that are
//     offered, none for all; and the tools that a front end executes
//   - ContextReset: the place in a chain of runs, for a run that continues the one before it
//   - Call, CallKey: the call and its idempotency key, for a run that makes one call without a
//     model
//   - From: the session that the run took place in, for a copy of a session
type RunStarted = machine.RunStarted

// StepStarted is the fact that a model is about to be called. The request itself isn't stored:
// [Session.Trace] shows what a model was sent.
//
//   - Meta: see [Meta]; Step is the number of the call in its run
//   - Model, Mode: the model that is asked for, "" for the provider's own, and the mode
//   - Tools, ToolChoice: the names of the tools that are offered, in order, and how to choose
//   - Final: the limit that was reached, for a last call without tools
//   - Note: a message to the model that is added to the conversation before the call
//   - Messages, System: what the model was shown, if a hook or [Config].Compose changed it
//   - Context: what requests contain besides the conversation, from this step on
//   - AnsweredBy: the hook that answered instead of the model
type StepStarted = machine.StepStarted

// Replied is the fact that a model call got its complete reply. The calls in it run only after this
// fact is stored.
//
//   - Meta: see [Meta]
//   - Message: the reply: its text, reasoning and tool calls
//   - Stop: why the model stopped
//   - Model, ResponseID: what the provider says about itself
//   - Usage: the tokens of the call
//   - Cost, Priced: what it cost, and whether its price is known
type Replied = machine.Replied

// StepFailed is the fact that a model call ended without a complete reply. The run fails or pauses
// after it; calls in the part that had arrived never run.
//
//   - Meta: see [Meta]
//   - Partial: the part of the reply that had arrived, without its calls
//   - Error, Class: what went wrong, and its class (package fault)
//   - Usage, Cost, Priced: what the call took, as in [Replied]
type StepFailed = machine.StepFailed

// ToolStarted is the fact that a tool call is about to run. It is stored before the tool can have
// an effect, so a call without this fact had none.
//
//   - Meta: see [Meta]
//   - Call: the call with the input that runs: its ID, Name and Input
//   - IdempotencyKey: the same for every attempt at the call
//   - Repeatable: the call may run again if it is unknown how it ended
type ToolStarted = machine.ToolStarted

// ToolFinished is the fact that a call has its result. Each call of a complete reply gets exactly
// one, whether it ran or not.
//
//   - Meta: see [Meta]
//   - Call: the call: its ID, Name and Input
//   - Result: what the model reads, and more for the host: see [ToolResult]
//   - IdempotencyKey: the key that the tool was given, if it isn't the call's id
//   - Took, Attempts: how long the call took, and how often the tool was called, if more than once
//   - AnsweredBy: the hook that answered instead of the tool
//   - Spent: what the call used of the run's limits: a subagent, or a tool with model calls
type ToolFinished = machine.ToolFinished

// Suspended is the fact that a call waits for a decision. The run pauses when no other call of the
// reply can go on.
//
//   - Meta: see [Meta]
//   - Pause: what is asked, and of which call: see [Pause]
//   - Spent: what the call had used of the run's limits before
//   - State: what a call that runs again with its answer needs; streams don't show it
type Suspended = machine.Suspended

// Decided is the fact that a decision on a pause was accepted. What the decision lets run follows
// as facts of its own.
//
//   - Meta: see [Meta]; its By is who decided
//   - Decision: see [Decision]
type Decided = machine.Decided

// Steered is the fact that a user's message reached a run between two steps. [Session.Steer] sends
// such a message.
//
//   - Meta: see [Meta]; its By is who sent the message
//   - ID, Key: the id of the message ([Receipt]), and the key that the host gave it
//   - Message: what the model reads before its next step
type Steered = machine.Steered

// ModeChanged is the fact that a run works in another [Mode] from the next model call on. A tool, a
// hook or the host has asked for it ([SwitchMode], [Session.SetMode]).
//
//   - Meta: see [Meta]
//   - From, To: the modes, by name
//   - Reason: why, in words
//   - Limits: the limits in force from now on; nil if they stay
type ModeChanged = machine.ModeChanged

// ToolsChanged is the fact that tools have come, have changed, were loaded or are gone during a
// run. It lists only those that differ.
//
//   - Meta: see [Meta]
//   - Tools: each with its Name, the fingerprint of its Schema, whether it is known but not loaded
//     (Lazy) and whether it has disappeared (Gone)
type ToolsChanged = machine.ToolsChanged

// Compacted is the fact that the conversation was replaced by a shorter one. The store keeps the
// original messages, and [Session.Messages] returns what the model is shown now.
//
//   - Meta: see [Meta]
//   - Report: what was done, with figures (memory.Report)
//   - Spans: the new conversation, as pieces of the old one and messages that replace others
//   - Usage, Cost, Priced: what summaries took, as in [Replied]
type Compacted = machine.Compacted

// NoteWritten is the fact that a model wrote a note about the work so far: a progress note, or the
// note of a context reset. [ReadNotes] decodes those of one category.
//
//   - Meta: see [Meta]
//   - Category, Index: the kind of the note, and its number among those of the session, from 1
//   - Share: how full the model's window was, from 0 to 1
//   - Note, Error: the note as JSON, or why there is none
//   - Usage, Cost, Priced: what it took, as in [Replied]
type NoteWritten = machine.NoteWritten

// RuleRevoked is the fact that the standing approvals of a tool have ended. Later calls of it need
// approval again.
//
//   - Meta: see [Meta]; its By is who revoked them
//   - Tool: the tool, in all scopes
type RuleRevoked = machine.RuleRevoked

// TitleChanged is the fact that the session has another title. [Session.SetTitle] and
// [Input].Title set it; lists of sessions show it.
//
//   - Meta: see [Meta]
//   - Title: never empty
type TitleChanged = machine.TitleChanged

// Emitted is the fact that a tool or a hook has recorded something for the host with [Emit]. The
// model doesn't see it, and it changes nothing.
//
//   - Meta: see [Meta]
//   - Kind, Value: the host's own name for it, and its value as JSON
type Emitted = machine.Emitted

// Undone is the fact that effects of calls were undone after their run had ended. See
// [Session.Undo].
//
//   - Meta: see [Meta]; its By is who undid them
//   - Calls: each with its Call, the Step it was made in, and Why it wasn't undone, "" if it was
//   - Message: what informs the model, at the end of the conversation
type Undone = machine.Undone

// Snapshot is the fact that has the whole state of a session. The facts before it aren't needed to
// continue: a process that reads the session begins there, and [Session.Prune] deletes them.
//
//   - Meta: see [Meta]
//   - State: the state, as package machine keeps it
//   - From: the session that the newest run took place in, for a copy of a session
type Snapshot = machine.Snapshot

// RunEnded is the last event of a run that ends or pauses. Its Result is in the stream of the run
// only: the journal doesn't contain it.
//
//   - Meta: see [Meta]
//   - Status: Paused, Completed, Stopped or Failed
//   - Code: one of the Code constants of package machine; "" for a run that completed
//   - Reason: the same in words
//   - Result: the outcome, in the stream of the run; nil where the fact was read from the journal,
//     as by [Session.Facts] and [Session.Watch]
type RunEnded = machine.RunEnded
