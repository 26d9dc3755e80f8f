package machine

import (
	"encoding/json"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A Fact is an event of a session that is recorded in its journal. Facts are the only input of a
// [Machine]: the same facts make the same state, in any process. The facts are the types of this
// file, by pointer; no other package can add one. A fact must not be changed once it has been
// applied or shared.
type Fact interface {
	// Envelope returns what all facts have in common.
	Envelope() Meta
	meta() *Meta
	kind() string
	// apply folds the fact into the state. r is the newest run. If the contents don't fit the
	// state, it says why and changes nothing.
	apply(m *Machine, r *RunState) (problem string)
	// redact redacts the texts of the fact in place: see Redactor.Fact.
	redact(r Redactor)
}

// RunStarted starts a run with an input.
type RunStarted struct {
	Meta
	// History comes before the input, for a session that the host began elsewhere.
	History []provider.Message `json:"history,omitempty"`
	Message provider.Message   `json:"message"` // the input
	// Model is the model that the input asks for; empty: that of the mode.
	Model string `json:"model,omitempty"`
	Mode  string `json:"mode,omitempty"`
	// Limits are the limits in force, with defaults filled in. Runs whose inputs set no limits
	// share one value.
	Limits     *Limits             `json:"limits"`
	Own        *Limits             `json:"own,omitempty"` // the limits that the input itself set
	ToolChoice provider.ToolChoice `json:"tool_choice,omitzero"`
	// Output is the JSON schema of a structured answer; empty for an answer in free form.
	Output      json.RawMessage `json:"output,omitempty"`
	Interactive bool            `json:"interactive,omitempty"`
	// Children shows the events of subagents in the stream of the run: see Input.Children of
	// package agent.
	Children bool  `json:"children,omitempty"`
	Priority int32 `json:"priority,omitempty"`
	Caller
	// Owner is who the session belongs to. Only the first run of a session can say so.
	Owner string `json:"owner,omitempty"`
	// ParentSession is the session, or the log of another package, whose work this session is. Only
	// the first run of a session can say so. Parent is the call.
	ParentSession string `json:"parent_session,omitempty"`
	// Key is the key of the input: the next input with the same key starts no run.
	Key string `json:"key,omitempty"`
	// Tools are the fingerprints of the agent's tools. A process that resumes the run compares its
	// own tools with them.
	Tools []ToolFingerprint `json:"tools,omitempty"`
	// Only are the tools that are offered, by name; empty: all that the mode permits.
	Only []string `json:"only,omitempty"`
	// External are the tools of this run that a front end executes, as the JSON of their
	// tools.Spec: see tools.External. They are stored so that another process can resume the run.
	External []json.RawMessage `json:"external,omitempty"`
	// ContextReset is set if the run continues the work of the run before it, in a new
	// conversation.
	ContextReset *ContextResetState `json:"context_reset,omitempty"`
	// Call is set for a run that makes this one call, without a model: see [RunState].Direct.
	Call *provider.ToolCall `json:"tool_call,omitempty"`
	// CallKey is the idempotency key of that call; empty: its id.
	CallKey string `json:"call_key,omitempty"`
	// From is set in a copy of a session, see Session.Fork of package agent: the session that the
	// run took place in, and that owns its effects.
	From string `json:"from,omitempty"`
	// Replaces says what the run replaces: nil, or an earlier run and all runs after that. See
	// Input.Replaces of package agent.
	Replaces *Replaced `json:"replaces,omitempty"`
	// Queue is set for a run that waits until a worker continues it: it is paused with
	// [CodeQueued].
	Queue *Queue `json:"queue,omitempty"`
	// Outside says where text from outside comes from that the input has: see tools.Spec.Outside.
	Outside []string `json:"outside,omitempty"`
	// Ancestors are the runs that have started this one, directly or through others: the outermost
	// first. What it uses counts towards their limits.
	Ancestors []Ancestor `json:"ancestors,omitempty"`
}

// Replaced is what a run begins with that replaces others.
type Replaced struct {
	// Start is the number of the fact that started the first of the replaced runs.
	Start uint64 `json:"start"`
	// Before is the conversation before the input of that run, as parts of the present one.
	Before []Span `json:"before,omitempty"`
	// Outside is the text from outside in that conversation.
	Outside []OutsideText `json:"outside,omitempty"`
	// Note, if it isn't empty, tells the model which effects the replaced runs have had.
	Note string `json:"note,omitempty"`
}

// StepStarted starts a model call.
type StepStarted struct {
	Meta
	Model      string              `json:"model,omitempty"`
	Mode       string              `json:"mode,omitempty"`
	Tools      []string            `json:"tools,omitempty"` // the tools that are offered, in order
	ToolChoice provider.ToolChoice `json:"tool_choice,omitzero"`
	// Final names the limit that was reached if this is the last call, without tools.
	Final string `json:"final,omitempty"`
	// Note is a message to the model that is added to the conversation before this call.
	Note string `json:"note,omitempty"`
	// Messages and System are what the model was shown if a hook changed them.
	Messages []provider.Message `json:"messages,omitempty"`
	// System is also set if Config.Compose of package agent made another system text than for the
	// step before.
	System string `json:"system,omitempty"`
	// Context is what requests contain besides the conversation, from this step on.
	Context *memory.Context `json:"context,omitempty"`
	// AnsweredBy is the hook that answered instead of the model.
	AnsweredBy string `json:"answered_by,omitempty"`
}

// Compacted replaces the conversation by a shorter one. The journal keeps the original messages.
type Compacted struct {
	Meta
	// Report says what was done, with figures. Its Trigger is "without effect" if summaries were
	// paid for, but the conversation couldn't be made to fit, or the run ended before that.
	Report *memory.Report `json:"report"`
	// Spans are the new conversation. Without spans the conversation is unchanged, and only the
	// usage counts.
	Spans []Span `json:"spans,omitempty"`
	// Usage is what summaries took, and Cost its price as far as prices are known; Priced says that
	// all of it has a known price. All of it counts towards the limits of the run.
	Usage  provider.Usage `json:"usage,omitzero"`
	Cost   provider.Money `json:"cost,omitempty"`
	Priced bool           `json:"priced,omitempty"`
}

// A Span is a piece of a conversation that was made of another, by a compaction or by going back.
// Old messages that are in no span were left out.
type Span struct {
	// From and To are indexes in the old conversation, To exclusive. The messages between them are
	// kept, or replaced by Messages if there are any.
	From     int                `json:"from"`
	To       int                `json:"to"`
	Messages []provider.Message `json:"messages,omitempty"`
}

// NoteWritten is a note that a model wrote about the work so far: a progress note, or the one of a
// context reset (see [ContextResetCategory]).
type NoteWritten struct {
	Meta
	Category string          `json:"category"`
	Index    int             `json:"index"` // among the notes of this category in the session, from 1
	Share    float64         `json:"share"` // how full the context window was, without its reserve: 0 to 1
	Note     json.RawMessage `json:"note,omitempty"`
	Error    string          `json:"error,omitempty"` // why there is no note, or why the context reset failed
	// Usage is what writing the note took, and Cost its price if that is known (Priced).
	Usage  provider.Usage `json:"usage,omitzero"`
	Cost   provider.Money `json:"cost,omitempty"`
	Priced bool           `json:"priced,omitempty"`
}

// Replied is the complete reply to a model call.
type Replied struct {
	Meta
	Message    provider.Message    `json:"message"` // its calls have the ids that [CallID] makes
	Stop       provider.StopReason `json:"stop"`
	Model      string              `json:"model,omitempty"`
	ResponseID string              `json:"response_id,omitempty"`
	Usage      provider.Usage      `json:"usage"`
	Cost       provider.Money      `json:"cost,omitempty"`
	Priced     bool                `json:"priced,omitempty"` // Cost is known
	// Outside says where text from outside comes from that the reply has: see [OutsideInReply].
	Outside []string `json:"outside,omitempty"`
}

// StepFailed is a model call that ended without a complete reply.
type StepFailed struct {
	Meta
	// Partial is the part of the reply that had arrived, without its calls, which never run.
	Partial provider.Message `json:"partial,omitzero"`
	Usage   provider.Usage   `json:"usage"`
	Cost    provider.Money   `json:"cost,omitempty"`
	Priced  bool             `json:"priced,omitempty"` // Cost is known
	Class   fault.Class      `json:"class"`
	Error   string           `json:"error"`
}

// ToolStarted is a call that is about to run. It is recorded before the tool can have an effect.
type ToolStarted struct {
	Meta
	Call *provider.ToolCall `json:"tool_call"` // with the input that runs
	// IdempotencyKey is the same for every attempt at the call.
	IdempotencyKey string `json:"idempotency_key"`
	// Repeatable says that the call may run again if it is unknown how it ended.
	Repeatable bool `json:"repeatable,omitempty"`
	// ReadOnly says that the call has no effect.
	ReadOnly bool `json:"read_only,omitempty"`
}

// ToolFinished is the result of a call. Each call has exactly one.
type ToolFinished struct {
	Meta
	Call   *provider.ToolCall `json:"tool_call"`
	Result *ToolResult        `json:"result"`
	// IdempotencyKey is set if it isn't the call's id.
	IdempotencyKey string        `json:"idempotency_key,omitempty"`
	Took           time.Duration `json:"took,omitempty"` // in nanoseconds
	// Attempts is how often the tool was called, if more than once.
	Attempts int `json:"attempts,omitempty"`
	// AnsweredBy is the hook that answered instead of the tool.
	AnsweredBy string `json:"answered_by,omitempty"`
	// Spent is what the call used of the run's limits: a subagent, or a tool that made model calls
	// or booked something. What it had used before a pause is in the pause's fact, except for a
	// subagent.
	Spent *Spent `json:"spent,omitempty"`
}

// Spent is what a call has used.
type Spent struct {
	Usage    provider.Usage `json:"usage"`
	Cost     provider.Money `json:"cost,omitempty"`
	Unpriced bool           `json:"unpriced,omitempty"` // some model calls had no known price
	Calls    int            `json:"calls,omitempty"`    // model calls
}

// Add returns the sum of s and t.
func (s Spent) Add(t Spent) Spent {
	return Spent{Usage: s.Usage.Add(t.Usage), Cost: s.Cost.Add(t.Cost), Unpriced: s.Unpriced || t.Unpriced,
		Calls: s.Calls + t.Calls}
}

// Suspended says that a call waits for a decision. If the pause has Replaces, the call waited
// before, and its pause has another id now: a decision on the earlier one couldn't be accepted.
type Suspended struct {
	Meta
	Pause Pause `json:"pause"`
	// Spent is what the call booked of the run's limits before the pause.
	Spent *Spent `json:"spent,omitempty"`
	// State is what a call that runs again with its answer needs to go on: see [Pause.Again].
	// Streams don't show it.
	State json.RawMessage `json:"state,omitempty"`
}

// Decided is a decision on a suspended call.
type Decided struct {
	Meta
	Decision Decision `json:"decision"`
}

// Steered is a user's message that reached the run between two steps.
type Steered struct {
	Meta
	ID      string           `json:"id,omitempty"`
	Key     string           `json:"key,omitempty"` // like that of an input: see [State].Keys
	Message provider.Message `json:"message"`
	Outside []string         `json:"outside,omitempty"` // see [RunStarted]
}

// SentBack keeps a run from completing. The model reads what is missing.
type SentBack struct {
	Meta
	Why  string `json:"why"` // SendBackHook or SendBackOutput
	Text string `json:"text"`
	// Hooks are the hooks that want more, for SendBackHook. Logs of v0.1.0 don't name them.
	Hooks []string `json:"hooks,omitempty"`
}

// Emitted is what a tool, a hook or the host has recorded for the host: see Emit and Session.Emit
// of package agent. The model doesn't see it, and it changes nothing.
type Emitted struct {
	Meta
	Kind  string          `json:"kind"`          // the host's
	Key   string          `json:"key,omitempty"` // like that of an input: see [State].Keys
	Value json.RawMessage `json:"value"`
}

// The reasons of a [SentBack].
const (
	SendBackHook   = "hook"   // a BeforeFinish hook wants more
	SendBackOutput = "output" // the structured answer doesn't fit its schema
)

// ModeChanged switches to another mode, from the next model call on, which may be that of another
// run.
type ModeChanged struct {
	Meta
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Limits are the limits in force from now on; nil if they don't change.
	Limits *Limits `json:"limits,omitempty"`
}

// PhaseChanged starts another phase of the work.
type PhaseChanged struct {
	Meta
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// ContextResetRequested says that a tool or a hook has asked for a context reset before the next
// model call.
type ContextResetRequested struct{ Meta }

// ToolsChanged says that tools have come, have changed, were loaded or are gone since the last fact
// that has tools.
type ToolsChanged struct {
	Meta
	// Tools are the tools that differ, in order: see [ChangeTools].
	Tools []ToolFingerprint `json:"tools"`
}

// Continued resumes a run that its host had paused, whose process had died, or whose agent has
// changed since.
type Continued struct {
	Meta
	// Tools are the fingerprints of the agent's tools from now on, if they have changed.
	Tools []ToolFingerprint `json:"tools,omitempty"`
	// Changes say how they differ.
	Changes []ToolChange `json:"changes,omitempty"`
}

// RuleRevoked ends the standing approvals of a tool, in all scopes.
type RuleRevoked struct {
	Meta
	Tool string `json:"tool"`
}

// Undone says that effects of calls were undone after their run had ended: see Session.Undo of
// package agent.
type Undone struct {
	Meta
	// Calls are those that were undone, or, in a fact with a Message, those that weren't.
	Calls []UndoneCall `json:"calls,omitempty"`
	// Message informs the model. It is added to the end of the conversation.
	Message provider.Message `json:"message,omitzero"`
}

// Snapshot is the state of a session at this point. The facts before it aren't needed to rebuild
// the state: a process that reads the session begins with its last snapshot, and Session.Prune of
// package agent deletes them.
type Snapshot struct {
	Meta
	State *State `json:"state"`
	// From is set in a copy of a session: the session that the newest run took place in. See
	// [RunStarted].
	From string `json:"from,omitempty"`
	// Erased is how many of the facts before it were rewritten, because words were erased from the
	// session: see Erase of package agent. The state has none of these words.
	Erased int `json:"erased,omitempty"`
}

// RunEnded ends a run, or pauses it. A queued run that has failed is paused again by one with
// [CodeQueued].
type RunEnded struct {
	Meta
	Status Status `json:"status"`         // Paused, Completed, Stopped or Failed
	Code   string `json:"code,omitempty"` // one of the Code constants
	Reason string `json:"reason,omitempty"`
	// Limit is one of the Limit constants, for [CodeLimit]: the limit that was reached. Versions up
	// to 0.1 didn't say it.
	Limit string `json:"limit,omitempty"`
	// Problem is why the model call failed, for [CodeProvider] and [CodeContext]. Versions up to
	// 0.1 didn't say it.
	Problem *provider.Problem `json:"problem,omitempty"`
	// Missing is what hooks wanted when they could send the run back no more.
	Missing []string `json:"missing,omitempty"`
	// At is set for [CodeQueued]: the run is continued not before that.
	At time.Time `json:"at,omitzero"`
	// Result is the outcome, in the stream of the run. In a log it is nil.
	Result *Result `json:"-"`
}

// An UndoneCall is a call whose effect was to be undone.
type UndoneCall struct {
	Call *provider.ToolCall `json:"call"`
	Step int                `json:"step"`
	// Why says why the effect wasn't undone; empty if it was.
	Why string `json:"why,omitempty"`
}

// A ContextResetState is the place of a run in a chain of runs that continue each other's work.
type ContextResetState struct {
	Index  int    `json:"index"`  // how many context resets there were, from 1
	From   string `json:"from"`   // the run before
	Prompt int    `json:"prompt"` // how many of the first parts of the input come from the first run's input
}
