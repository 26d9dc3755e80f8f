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
//   - Model, Mode, ToolChoice, Output, Interactive, Priority, Key, Children: see
//     [Input]
//   - Limits, Own: the limits in force, and those that the input itself set
//   - Caller: who the run works for, in parts: User, Task, Pipeline and TraceParent
//   - Owner, ParentSession: who the session belongs to, and whose work it is: see Input.Parent;
//     only its first run can say so
//   - Tools, Only, External: the fingerprints of the agent's tools; the names of those that are
//     offered, none for all; and the tools that a front end executes
//   - ContextReset: the place in a chain of runs, for a run that continues the one before it
//   - Call, CallKey: the call and its idempotency key, for a run that makes one call without a
//     model
//   - From: the session that the run took place in, for a copy of a session
//   - Replaces: nil, or the run that it replaces, by the number of the fact that started it (Start),
//     the conversation before that run (Before), and what the model is told of effects (Note): see
//     [Input]
//   - Queue: nil, or when a queued run is due (At), and how often it is tried (Attempts): see
//     [QueueOptions]
//   - Ancestors: the runs that have started it, directly or through others, the outermost first: of
//     each the session, the id of the first run of its chain, and its Limits.Tokens and Limits.Cost
//   - Outside: where text from outside comes from that the input has: see [Input]
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
//   - Outside: what of it the provider has looked up or run itself, which is text from outside
//   - Usage: the tokens of the call
//   - Cost, Priced: what it cost, and whether its price is known
type Replied = machine.Replied

// ToolStarted is the fact that a tool call is about to run. It is stored before the tool can have
// an effect, so a call without this fact had none.
//
//   - Meta: see [Meta]
//   - Call: the call with the input that runs: its ID, Name and Input
//   - IdempotencyKey: the same for every attempt at the call
//   - Repeatable: the call may run again if it is unknown how it ended
//   - ReadOnly: the call has no effect
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

// RunEnded is the last event of a run that ends or pauses. Its Result is in the stream of the run
// only: the journal doesn't contain it.
//
//   - Meta: see [Meta]
//   - Status: Paused, Completed, Stopped or Failed
//   - Code: one of the Code constants of package machine; "" for a run that completed
//   - Reason: the same in words
//   - Limit: for the code limit, the name of the limit that was reached, as [LimitError].Limit;
//     "RequirePrices" for the code budget, if the price of the model isn't known; "" in logs of
//     version 0.1
//   - Problem: for the codes provider and context, why the model call failed; nil if that isn't
//     known, and in logs of version 0.1
//   - Words(): how the run has ended and what a person can change; "" if only Reason says it
//   - UserWords(): the same for users of a service, never "" for a run that was stopped or failed
//   - UserReason(): what a hook or a condition of the host has said to them, else UserWords()
//   - Missing: see [Result].Missing
//   - At: when a queued run that has failed is tried again; zero for others
//   - Result: the outcome, in the stream of the run; nil where the fact was read from the journal,
//     as by [Session.Facts] and [Session.Watch]
type RunEnded = machine.RunEnded
