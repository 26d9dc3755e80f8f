package machine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A State is what the facts of a session add up to, for tools that read logs. Only a [Machine]
// makes it. The same facts give the same JSON, in any process.
type State struct {
	Session string `json:"session"`
	Seq     uint64 `json:"seq"` // the number of the newest fact
	// Messages is the conversation. It only grows, except by compactions, context resets and runs
	// that replace others. The results of a step are added together, when all of them exist.
	Messages []provider.Message `json:"messages,omitempty"`
	Mode     string             `json:"mode,omitempty"`
	Model    string             `json:"model,omitempty"` // that the newest run's input asked for: see [RunStarted]
	Phase    string             `json:"phase,omitempty"`
	Rules    []Rule             `json:"rules,omitempty"`
	Run      *RunState          `json:"run,omitempty"` // the newest run; nil before the first
	// Used are the ids of the newest 1,000 pauses that were decided.
	Used []string `json:"used,omitempty"`
	// Keys are the newest 100 keys of inputs, messages and facts of the host.
	Keys []keyState `json:"keys,omitempty"`
	// Labels are those of the newest run, and OwnLabels those of the session itself: see
	// [LabelChanged]. Title is what lists show.
	Labels    provider.LabelSet `json:"labels,omitempty"`
	OwnLabels provider.LabelSet `json:"own_labels,omitempty"`
	Title     string            `json:"title,omitempty"`
	Owner     string            `json:"owner,omitempty"`  // who the session belongs to: see [RunStarted]
	Parent    string            `json:"parent,omitempty"` // whose work the session is: see RunStarted.ParentSession
	// Outside is the text from outside in Messages, with summaries of it. HadOutside says that such
	// text has come into the session, even if it has left since.
	Outside    []OutsideText `json:"outside,omitempty"`
	HadOutside bool          `json:"had_outside,omitempty"`
	// Notes are the newest note of each category.
	Notes []NoteState `json:"notes,omitempty"`
	// Ends are those of queued runs that the host hasn't been told of, oldest first.
	Ends []EndState `json:"ends,omitempty"`
	// Totals are of all runs of the session, also of those that were pruned or replaced.
	Totals Totals `json:"totals,omitzero"`
	// Spent is what earlier runs have used, by the trees that they are in: the newest 20 sums.
	Spent []TreeSpent `json:"spent,omitempty"`
}

// maxUsed is how many ids of decided pauses a session knows: a decision on one of them comes late.
const maxUsed = 1000

// A RunState is the state of the newest run of a session, for tools that read logs.
type RunState struct {
	ID     string `json:"id"`
	Trace  string `json:"trace,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Parent string `json:"parent,omitempty"`
	Status Status `json:"status"`
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
	Limit  string `json:"limit,omitempty"` // the limit that ended it: see [RunEnded]
	// Problem and Missing are those of the newest RunEnded.
	Problem *provider.Problem `json:"problem,omitempty"`
	Missing []string          `json:"missing,omitempty"`

	// fixed when the run starts, except that a mode may change the limits
	Limits      *Limits             `json:"limits"` // may be shared with other runs
	Own         *Limits             `json:"own,omitempty"`
	ToolChoice  provider.ToolChoice `json:"tool_choice,omitzero"`
	Output      json.RawMessage     `json:"output,omitempty"`
	Interactive bool                `json:"interactive,omitempty"`
	Children    bool                `json:"children,omitempty"` // its stream shows the events of its subagents
	Passes      bool                `json:"passes,omitempty"`   // the newest model call that failed may succeed later
	// ContextResetDue says that the context is to be reset before the next model call.
	ContextResetDue bool `json:"context_reset_due,omitempty"`
	Priority        int  `json:"priority,omitempty"`
	Caller
	Fingerprints []ToolFingerprint `json:"fingerprints,omitempty"` // of the tools that the run knows, in order
	// the tools that are offered; empty: all that the mode permits
	Only     []string          `json:"only,omitempty"`
	External []json.RawMessage `json:"external,omitempty"` // tools of this run that a front end executes

	// Ancestors are the runs that have started it: see [RunStarted].
	Ancestors []Ancestor `json:"ancestors,omitempty"`

	// ContextReset is set if the run continues the work of another. The counts below then include
	// those of the runs before it.
	ContextReset *chainState `json:"context_reset,omitempty"`
	// UserMessages are the user's messages after the input, in all runs of a chain: the newest 20,
	// each cut to 4 KiB.
	UserMessages []string `json:"user_messages,omitempty"`
	// Whole is the input, without what a context reset added to it, if a compaction has changed it.
	Whole []provider.Part `json:"whole,omitempty"`

	// Direct is set for a run that makes one call of a tool without a model. The run completes when
	// the call has its result.
	Direct *DirectRun `json:"direct,omitempty"`

	// Queue is set for a run that was queued.
	Queue *QueueState `json:"queue,omitempty"`

	Start     uint64 `json:"start,omitempty"` // the number of the fact that started it, or the first run of its chain
	First     int    `json:"first"`           // the index of the input in State.Messages
	Stage     Stage  `json:"stage"`
	Step      int    `json:"step"`       // model calls so far
	PhaseStep int    `json:"phase_step"` // model calls in the current phase
	Final     string `json:"final,omitempty"`
	// Stop is the stop reason of the newest reply.
	Stop  provider.StopReason `json:"stop,omitempty"`
	Model string              `json:"model,omitempty"`
	Calls []CallState         `json:"calls,omitempty"` // the calls of the newest reply until all have their results

	Usage     provider.Usage       `json:"usage"`
	Cost      provider.Money       `json:"cost,omitempty"`
	Unpriced  bool                 `json:"unpriced,omitempty"` // some usage had no known price
	Worked    time.Duration        `json:"worked,omitempty"`   // working time before Since
	Since     time.Time            `json:"since"`              // when the run started or was last resumed
	Last      time.Time            `json:"last"`               // time of the newest fact
	Tools     map[string]ToolState `json:"tools,omitempty"`
	Stuck     string               `json:"stuck,omitempty"` // the tool that was repeated up to the limit
	ToolNames []string             `json:"tool_names,omitempty"`
	// Outcomes is a pointer because a RunState with the slice takes 128 bytes more of the heap. The
	// slice is never changed in place.
	Outcomes *[]callOutcome `json:"outcomes,omitempty"`
	Effects  []callEffect   `json:"effects,omitempty"` // the newest 10 of the calls that had or may have had one
	Counts
}

// Counts are what a run has counted for its limits, for tools that read logs. Those of a run that
// continues the work of another include that run's.
type Counts struct {
	Lost          int `json:"lost,omitempty"`           // model calls that were lost in a crash and made again
	SentBack      int `json:"sent_back,omitempty"`      // how often hooks sent the run back that no fact names
	Corrected     int `json:"corrected,omitempty"`      // how often a structured answer was sent back
	Failures      int `json:"failures,omitempty"`       // tool calls that failed, in a row
	SubagentCalls int `json:"subagent_calls,omitempty"` // model calls of subagents and tools
	Closed        int `json:"closed,omitempty"`         // calls of the newest reply that have their results
	Effected      int `json:"effected,omitempty"`       // calls that had or may have had an effect and weren't undone
	// SentBackBy is how often each hook sent the run back.
	SentBackBy map[string]int `json:"sent_back_by,omitempty"`
}

// A DirectRun is the state of a run that makes one call without a model, for tools that read logs.
type DirectRun struct {
	Result *ToolResult `json:"result,omitempty"` // of the call; nil until it has one
	Key    string      `json:"key,omitempty"`    // the idempotency key of the call; empty: its id
}

// A Stage is where a run is in its loop, for tools that read logs. Together with the [Status] it
// says which facts may follow: see the table in the package documentation.
type Stage string

// The stages of a run.
const (
	StageReady   Stage = "ready"   // the model may be called
	StageCalling Stage = "calling" // a model call has begun and hasn't ended
	StageActing  Stage = "acting"  // calls of the newest reply have no results yet
	StageReplied Stage = "replied" // the newest reply calls no tools
	StageFailed  Stage = "failed"  // the newest model call failed
)

// A CallState is the state of one tool call of the newest reply, for tools that read logs.
type CallState struct {
	// Call is the call as the model made it, then as a person edited it, then as it was started.
	Call   *provider.ToolCall `json:"call"`
	Status CallStatus         `json:"status"`
	Pause  *Pause             `json:"pause,omitempty"`  // what it waits for
	Pauses int                `json:"pauses,omitempty"` // how often it was suspended
	By     string             `json:"by,omitempty"`     // who approved it
	// Approved is, until the call starts, the pause that it was approved with, if that had a
	// preview. The text of the preview is left out.
	Approved *Pause `json:"approved,omitempty"`
	Edited   bool   `json:"edited,omitempty"`
	Retry    bool   `json:"retry,omitempty"`      // a person lets a call in doubt run again
	Started  bool   `json:"started,omitempty"`    // and not suspended since to run again
	Repeat   bool   `json:"repeatable,omitempty"` // it may run again if it is unknown how it ended
	ReadOnly bool   `json:"read_only,omitempty"`  // it has no effect
	// Answers are the decisions since the call was last suspended that it runs again with: for a
	// call of a subagent those that are passed on, for another call the answer. State is what the
	// call was suspended with.
	Answers []Decision      `json:"answers,omitempty"`
	State   json.RawMessage `json:"state,omitempty"`
	Result  *ToolResult     `json:"result,omitempty"`
}

// A callOutcome is what the messages of a run don't say about a call that has its result. A call
// that has none, and whose result isn't an error, is OK and ran with the input of the model.
type callOutcome struct {
	ID     string          `json:"id"`
	Status tools.Status    `json:"status"`
	Input  json.RawMessage `json:"input,omitempty"` // that it ran with, if it isn't the model's
}

// A CallStatus is the status of a call, for tools that read logs.
type CallStatus string

// The statuses of a call.
const (
	CallOpen      CallStatus = "open"      // nothing was done about it yet
	CallApproved  CallStatus = "approved"  // a person lets it run
	CallStarted   CallStatus = "started"   // it is running, or it is unknown how it ended
	CallSuspended CallStatus = "suspended" // it waits for a decision
	CallDecided   CallStatus = "decided"   // a decision keeps it from running; its result follows
	CallDone      CallStatus = "done"      // it has its result
)

// A ToolState is what a run remembers of a tool, for tools that read logs.
type ToolState struct {
	OK      int    `json:"ok,omitempty"`      // successes
	Invalid int    `json:"invalid,omitempty"` // invalid inputs in a row
	Input   uint64 `json:"input,omitempty"`   // hash of the newest input
	Result  uint64 `json:"result,omitempty"`  // hash of its result
	Same    int    `json:"same,omitempty"`    // how often in a row both were the same
	Failing int    `json:"failing,omitempty"` // how often in a row the same input failed
	Failed  int    `json:"failed,omitempty"`  // how often in a row it failed, with any input
}

// IsOpen reports whether a run exists and hasn't ended.
func (r *RunState) IsOpen() bool {
	return r != nil && (r.Status == Running || r.Status == Paused)
}

// Interrupted reports whether the run is paused because its process has ended, its leg is over, or
// its turn hasn't come: it waits for a process, not for a person.
func (r *RunState) Interrupted() bool {
	return r != nil && r.Status == Paused && GoesOn(r.Code)
}

// Continues reports whether the run has an id, or continues the work of that run after context
// resets.
func (r *RunState) Continues(id string) bool {
	return r != nil && id != "" && (r.ID == id || r.ContextReset != nil && r.ContextReset.First == id)
}

// Call returns the call of the newest reply that has the id, or nil.
func (r *RunState) Call(id string) *CallState {
	if r == nil {
		return nil
	}
	if i := callIndex(id); i >= 0 && i < len(r.Calls) && r.Calls[i].Call.ID == id {
		return &r.Calls[i]
	}
	return nil
}

// Index returns the index of the call among the calls of its reply.
func (c *CallState) Index() int { return callIndex(c.Call.ID) }

// Pending returns the pauses that wait for a decision. Those of a subagent replace that of its
// call.
func (r *RunState) Pending() []Pause {
	if r == nil {
		return nil
	}
	var out []Pause
	for i := range r.Calls {
		c := &r.Calls[i]
		if !c.waits() {
			continue
		}
		for _, p := range c.Pause.Flat() {
			if !slices.ContainsFunc(c.Answers, func(d Decision) bool { return d.ID == p.ID }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// Suspended returns the call that waits for a decision on the pause with the id, and that pause:
// the call's own, or one that is nested in it. It returns nil if there is none.
func (r *RunState) Suspended(id string) (*CallState, *Pause) {
	if r == nil {
		return nil, nil
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Status == CallSuspended && c.Pause.ID == id {
			return c, c.Pause
		}
		if c.waits() {
			if n := c.Pause.find(id); n != nil {
				return c, n
			}
		}
	}
	return nil, nil
}

// ContextResets returns how many context resets led to the run.
func (r *RunState) ContextResets() int {
	if r == nil || r.ContextReset == nil {
		return 0
	}
	return r.ContextReset.Index
}

// callsMayRun reports whether calls of the newest reply may run. Those of a reply that was cut off,
// and of the last one, may not.
func (r *RunState) callsMayRun() bool { return r.Stop.RunsCalls() && r.Final == "" }

// waits reports whether the call has a pause to decide on: its own, or those of a subagent. While
// that agent acts on one decision, its other pauses may still be decided.
func (c *CallState) waits() bool {
	switch c.Status {
	case CallSuspended:
		return c.Pause != nil
	case CallApproved:
		return c.Pause != nil && c.Pause.Kind == PauseAgent
	case CallStarted:
		return c.Pause != nil && c.Pause.Kind == PauseAgent && c.Repeat
	}
	return false
}

// ResultOf returns a result for the call that isn't the tool's own: why the call didn't run, or
// what a person answered.
func (c *CallState) ResultOf(status tools.Status, class fault.Class, text string) *ToolResult {
	res := &ToolResult{Status: status, Class: class}
	res.ToolResult = provider.ToolResult{
		CallID: c.Call.ID, Name: c.Call.Name, Parts: []provider.Part{provider.TextPart(text)}, Error: !status.Good(),
	}
	return res
}

// matches reports whether call is this call, possibly with another input.
func (c *CallState) matches(call *provider.ToolCall) bool {
	return call != nil && call.ID == c.Call.ID && call.Name == c.Call.Name
}

// Note returns the newest note of a category; its Index is 0 if there is none.
func (s *State) Note(category string) NoteState {
	for _, n := range s.Notes {
		if n.Category == category {
			return n
		}
	}
	return NoteState{Category: category}
}

// Input returns the newest run's input as the user gave it. In a chain of runs it is the input of
// the first run. It returns nil before the first run.
func (s *State) Input() []provider.Part {
	switch {
	case s.Run == nil:
		return nil
	case len(s.Run.Whole) > 0:
		return s.Run.Whole
	}
	_, parts := memory.Told(&s.Messages[s.Run.First])
	if c := s.Run.ContextReset; c != nil { // which has added others
		parts = parts[:min(c.Prompt, len(parts))]
	}
	return parts
}

// Goal returns the text of [State.Input].
func (s *State) Goal() string { return (&provider.Message{Parts: s.Input()}).Text() }

// LastUserText returns the text of the user's newest message in the newest run: of a steering
// message, or the goal.
func (s *State) LastUserText() string {
	if s.Run != nil && len(s.Run.UserMessages) > 0 {
		return s.Run.UserMessages[len(s.Run.UserMessages)-1]
	}
	return s.Goal()
}

// Undecided returns the result of a suspended call without a decision. A call in doubt remains in
// doubt.
func (c *CallState) Undecided(why string) *ToolResult {
	switch {
	case c.Pause.Kind == PauseInDoubt:
		return c.ResultOf(tools.InDoubt, fault.Permanent,
			"The call was started, and it is not known whether it had its effect: "+why)
	case c.Started, c.Pause.Again:
		return c.ResultOf(tools.Rejected, fault.Denied, "The call wasn't answered: "+why)
	}
	return c.ResultOf(tools.Rejected, fault.Denied, "The call wasn't run: "+why)
}

// Unanswered returns the decisions that the newest run still waits for. Expirations aren't among
// them: the run notices them itself.
func (s *State) Unanswered(decisions []Decision) []Decision {
	var out []Decision
	for _, d := range decisions {
		if c, _ := s.Run.Suspended(d.ID); c != nil && !slices.Contains(s.Used, d.ID) && d.Kind != Expired {
			out = append(out, d)
		}
	}
	return out
}

// AnyExpired reports whether a pause has expired, by the clock or because one of the decisions says
// so.
func (r *RunState) AnyExpired(now time.Time, decisions []Decision) bool {
	return slices.ContainsFunc(r.Pending(), func(p Pause) bool {
		return p.Expired(now) ||
			slices.ContainsFunc(decisions, func(d Decision) bool { return d.ID == p.ID && d.Kind == Expired })
	})
}
