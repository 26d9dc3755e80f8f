package agent

import "github.com/pawlkit/pawl/agent/machine"

// A Result is the outcome of a run, or of the part of it that one call of [Agent.Run] drove. It
// exists however the run ended, and has what the run had done by then.
//
//   - Text(): the model's answer, or its refusal; "" if it said nothing
//   - Err(): nil if the run completed, otherwise why it didn't: a *[PausedError], a *[StopError]
//     that wraps the cause (a *[LimitError], for example), or the error of the provider, of a hook
//     or of the journal
//   - Status: [Completed], [Paused], [Stopped] or [Failed]
//   - Code, Reason: why, as one of the constants machine.CodeLimit, machine.CodeCanceled and so on,
//     and in words; both are empty for most runs that completed
//   - Limit: for machine.CodeLimit the name of the limit that was reached: see [LimitError]
//   - Missing: what hooks have asked for and the run has ended without: see [SendBack] and [Require]
//   - Session, Run, Trace: the ids of the session, the run and its trace
//   - Steps: how many steps there were: model calls, and replies of hooks in their place
//     ([Step.Answer])
//   - Usage: the tokens of the model calls
//   - Cost, Unpriced: their price as far as prices are known, and whether some aren't
//   - Problem: why the model call failed, for the codes provider and context; nil if that isn't known
//   - Pending: the pauses that wait for a decision: answer each with [Resume]
//   - Messages: the messages of this run, from its input on; they mustn't be changed
//   - ToolNames(): the names of the tools that the model called, in order
//   - Calls(): the calls of the model, or of some tools, each with its ID, Name, Input, Status and
//     Result: see [Call]
//   - ToolResult(): the newest result of a tool, by its name; nil if there is none
//   - Attempts(): a summary of the calls, also of the runs before it in a chain
//   - Called: the result of the call, for a run that makes one call without a model ([CallTool])
//   - Suspended(): the pauses of the run's own calls; that of a subagent contains that agent's
//   - Mode, Phase: those in which the run ended
//   - Outside: text from outside has come into the session, so what the run says may repeat it
//   - Start: the number of the fact that started the run, or the first run of its chain;
//     [Input].Replaces takes it
type Result = machine.Result

// A Status is the status of a run. A run is open while it is running or paused.
//
//   - Running, Paused: it works, or it waits for decisions or for [Continue]
//   - Completed: the model ended its turn with an answer, or a stop condition held
//   - Stopped: by a limit, a hook, a person, or the end of its context; or the reply was cut,
//     filtered or empty
//   - Failed: the model couldn't be called, or a hook or the journal failed
type Status = machine.Status

// The statuses of a run.
const (
	Running   Status = machine.Running
	Paused    Status = machine.Paused    // it waits for decisions, or for Continue
	Completed Status = machine.Completed // the model ended its turn
	Stopped   Status = machine.Stopped   // by a limit, a hook, a person, or the end of its context
	Failed    Status = machine.Failed    // the model couldn't be called
	// Queued is how [Agent.Sessions] shows a run that waits for a worker: see [Agent.Enqueue]. Its
	// Result is Paused.
	Queued Status = machine.Queued
)

// A Call is a tool call of a run, as Calls of its [Result] returns it. It says what the tool was
// called with and how that ended.
//
//   - ID, Name: of the call, and of its tool
//   - Input: what it ran with, where a person or a hook changed it, else what the model gave; empty
//     if that isn't JSON
//   - Status: how it ended: tools.OK, tools.TimedOut, tools.Unknown and so on; empty: it hasn't
//   - Result: what the model reads; nil: there is none yet
type Call = machine.Call

// A ToolResult is the result of a tool call: what the model reads, and what the host may want to
// know. Its Text is all that most hosts need.
//
//   - ToolResult: what the model reads, in parts: CallID, Name, Parts (text and media), and Error,
//     which says that the parts describe a failure
//   - Text(): the text parts, joined
//   - Status: how the call ended: tools.OK, tools.Failed, tools.Rejected and so on
//   - Data: JSON for the host; the model doesn't see it
//   - Class, Cause: the class of the error (package fault) and what went wrong, for logs
//   - Cut: how many bytes of text were left out
//   - Notes: how many of the last parts are warnings that the agent added
//   - Mismatch: what the tool expected and found, if it said so
//   - Outside: it has text from outside: see [tools.Spec]
//   - Exit: how the program ended that the call ran (package tools); nil: it ran none
//   - Succeeded(): the call, and the program that it ran, did what they should
//   - Polls: the tool polls, so repeated calls don't mean that the run is stuck
//   - AddNote(): adds a warning, as the agent does
type ToolResult = machine.ToolResult

// Limits bound a run. A zero field stands for its default, and a negative one for no limit. A run
// that reaches a limit is stopped with a *[LimitError] that names the field; its [Result] has what
// it had done by then. [Config].Limits sets them for all runs, [Mode].Limits for a mode, and
// [Input].Limits for one run.
//
//   - Steps: model calls with tools; the model gets one more, without tools, to report. Default 12
//   - StepsPerPhase: the same for each phase. Default: no limit
//   - Tokens: input and output tokens of the run and of all that it starts, directly or through
//     others: subagents, background work and its reports, plans, runs of tools, also in other
//     sessions. Default 1,000,000
//   - Cost: money for the same. Default 10 US dollars
//   - RequirePrices: stop before a model is called whose price isn't known. Default true where Cost
//     is set, and false with the default Cost, with which such calls aren't counted. Summaries,
//     notes and critics with models of their own are called all the same: only a budget refuses
//     them
//   - AllowUnknownPrices: RequirePrices is false, whatever else is set. Default false
//   - Duration: time without pauses. Default 30 minutes
//   - PromptBytes, MediaBytes: the text, and the images and files of an input. Default 4 MiB and
//     32 MiB
//   - ReplyBytes: one reply of the model. Default 4 MiB
//   - ReplyCalls, ParallelCalls: tool calls of one reply, in all and at a time. Default 128 and 8
//   - SubagentCalls: model calls of subagents and of tools in all. Default 200
//   - Repeats: calls in a row of one tool with the same input and the same result. Default 5
//   - ToolFailures: failures in a row of one tool, before it is unavailable. Default 5
//   - Failures: failures in a row of all tools, before the run is stopped; the refused calls of a
//     reply count as one. Default 8
//   - Corrections: how often in a row the model may correct an input that doesn't fit a tool's
//     schema, before the tool is unavailable. Default 2
//   - AskAfterCorrections: a person corrects the input then. Default false
//   - OutputCorrections: the same for a structured answer. Default 2
//   - SendBacks: how often each BeforeFinish hook may send the run back to work. Default 2
//   - Idle: how long a provider may be silent within a reply. Default 120 s, or what the provider's
//     own guard allows; only [Config].Limits sets it
//   - Or(): these limits, with zero fields taken from others
//   - WithDefaults(): these limits, with zero fields set to their defaults
type Limits = machine.Limits

// A LimitError says which limit ended a run, or refused an input. Errors of [Agent.Run] and
// [Result.Err] contain it.
//
//   - Limit: the field of [Limits], for example "Steps"
//   - Max, Have: the limit and what was reached, in bytes, calls, tokens, millionths of a US
//     dollar, or nanoseconds
//   - Note: more about it, for example which tool was repeated
//   - Error(): the field and both figures, in words
//   - Words(): the limit for people, without figures, and what they can do
type LimitError = machine.LimitError

// A StopError says why a run was stopped: by a limit, a hook, a person, the end of its context, or
// a reply that is no answer. Its cause can be matched with errors.Is and errors.As.
//
//   - Code: machine.CodeCanceled, machine.CodeAborted and so on
//   - Limit: for machine.CodeLimit the name of the limit, also of a Result that was read
//   - Problem: of a Result that was read, why the model call failed, for machine.CodeProvider and
//     machine.CodeContext
//   - Words(): the same for people; "" if only Err says it: see [Words]
//   - Err: the cause; nil if the code says everything
//   - Error(), Unwrap(): the code and the cause in words, and the cause
//   - Fault(): the class of the cause; fault.None if somebody wanted the run to end
type StopError = machine.StopError

// A PausedError says that a session waits: for decisions, or for [Continue]. A decision is given
// with [Resume] or [Session.Decide]. To see whether a run waits, look at the Status of its Result:
// an error of a hook may contain the PausedError of another run.
//
//   - Session: the session that waits
//   - Started: true if this call's run has paused; false if the session was paused before, so that
//     no run was started and there is no Result
//   - Pending: what it waits for: see [Pause]; none for a session that waits for [Continue]
//   - Error(): what the session waits for, in words
//   - Fault(): fault.None, because waiting isn't a failure
type PausedError = machine.PausedError
