package agent

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A State is what the facts of a session add up to. It is made by a [Machine] alone, and marshals to the same JSON
// wherever the same facts are replayed.
type State struct {
	Session string `json:"session"`
	Seq     uint64 `json:"seq"`
	// Messages is the conversation. Between compactions and context resets it only grows; the open step's results come in when all
	// are there.
	Messages []provider.Message `json:"messages,omitempty"`
	Mode     string             `json:"mode,omitempty"`
	Phase    string             `json:"phase,omitempty"`
	Rules    []Rule             `json:"rules,omitempty"`
	Run      *RunState          `json:"run,omitempty"` // the newest; nil before the first
	// Used are the ids of pauses that were decided, the newest 1,000.
	Used []string `json:"used,omitempty"`
	// Notes are the newest of each category.
	Notes []NoteState `json:"notes,omitempty"`
}

// mostUsed is how many ids of decided pauses a session remembers, so that it can say that one was used.
const mostUsed = 1000

// A RunState is how the newest run of a session stands.
type RunState struct {
	ID     string `json:"id"`
	Trace  string `json:"trace,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Parent string `json:"parent,omitempty"`
	Status Status `json:"status"`
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`

	Limits          *Limits             `json:"limits"` // may be those of other runs
	Own             *Limits             `json:"own,omitempty"`
	ToolChoice      provider.ToolChoice `json:"tool_choice,omitzero"`
	Output          json.RawMessage     `json:"output,omitempty"`
	Interactive     bool                `json:"interactive,omitempty"`
	ContextResetDue bool                `json:"context_reset_due,omitempty"` // the context is to be reset before the next model call
	Priority        int                 `json:"priority,omitempty"`
	Task            string              `json:"task,omitempty"`
	Fingerprints    []ToolFingerprint   `json:"fingerprints,omitempty"` // the agent's tools when it last began or continued

	// ContextReset says that the run continues the work of another; its figures are those of the chain.
	ContextReset *ChainState `json:"context_reset,omitempty"`
	// Said is what a person has said after the input, in the runs of a chain: the newest messages, long ones cut.
	Said []string `json:"said,omitempty"`
	// Whole is the input, without what a context reset added to it, if a compaction has changed it.
	Whole []provider.Part `json:"whole,omitempty"`

	First     int      `json:"first"` // the index in Messages of its input
	Stage     runStage `json:"stage"`
	Step      int      `json:"step"`           // model calls made
	PhaseStep int      `json:"phase_step"`     // of these, in the current phase
	Lost      int      `json:"lost,omitempty"` // model calls that were begun, and made again after a crash
	Final     string   `json:"final,omitempty"`
	// Stop is the stop reason of the newest reply.
	Stop  provider.StopReason `json:"stop,omitempty"`
	Model string              `json:"model,omitempty"`
	Calls []CallState         `json:"calls,omitempty"` // of the newest reply

	Usage     provider.Usage `json:"usage"`
	Cost      provider.Money `json:"cost,omitempty"`
	Unpriced  bool           `json:"unpriced,omitempty"` // some calls had no known price
	Worked    time.Duration  `json:"worked,omitempty"`   // before Since
	Since     time.Time      `json:"since"`
	Last      time.Time      `json:"last"` // of the newest fact
	Tools     toolStates     `json:"tools,omitempty"`
	Stuck     string         `json:"stuck,omitempty"` // the tool that is repeated past the limit
	SentBack  int            `json:"sent_back,omitempty"`
	Corrected int            `json:"corrected,omitempty"` // structured answers
	ToolNames []string       `json:"tool_names,omitempty"`
}

// A runStage is where a run stands between its facts.
type runStage string

const (
	stageReady   runStage = "ready"   // the model is to be called
	stageCalling runStage = "calling" // the model is being called
	stageActing  runStage = "acting"  // calls are open
	stageSaid    runStage = "said"    // the model has spoken without calling tools
	stageBroken  runStage = "broken"  // the model call failed
)

// A CallState is how one tool call of the newest reply stands.
type CallState struct {
	Call    *provider.ToolCall `json:"call"` // as the model made it, as a person edited it, then as it was started
	Status  callStatus         `json:"status"`
	Pause   *Pause             `json:"pause,omitempty"`
	Pauses  int                `json:"pauses,omitempty"` // how often it was suspended
	By      string             `json:"by,omitempty"`     // who approved it
	Edited  bool               `json:"edited,omitempty"`
	Retry   bool               `json:"retry,omitempty"` // a person lets a call in doubt run again
	Started bool               `json:"started,omitempty"`
	Repeat  bool               `json:"repeatable,omitempty"`
	Answers []Decision         `json:"answers,omitempty"` // for the agent that the call is of, since it was last suspended
	Result  *ToolResult        `json:"result,omitempty"`
}

// A callStatus says where a call is on its way.
type callStatus string

const (
	callOpen      callStatus = "open"      // not looked at yet
	callApproved  callStatus = "approved"  // somebody let it run
	callStarted   callStatus = "started"   // it runs, or nobody knows
	callSuspended callStatus = "suspended" // it waits for a decision
	callSettled   callStatus = "settled"   // it was decided, and isn't run: its result follows
	callDone      callStatus = "done"
)

// A toolState is what a run remembers of a tool.
type toolState struct {
	OK      int    `json:"ok,omitempty"`      // successes
	Invalid int    `json:"invalid,omitempty"` // inputs in a row that didn't fit
	Input   uint64 `json:"input,omitempty"`   // hash of the newest input
	Result  uint64 `json:"result,omitempty"`  // and of its result
	Same    int    `json:"same,omitempty"`    // how often in a row both were the same
	Failing int    `json:"failing,omitempty"` // how often in a row the same input failed
}

// next returns the state after another call, and how often in a row the call was made without new information then.
func (t toolState) next(input, result uint64, ok bool) (toolState, int) {
	if t.Same == 0 || t.Input != input {
		t.Same, t.Failing = 0, 0
	}
	if t.Same > 0 && t.Result == result {
		t.Same++
	} else {
		t.Same = 1
	}
	if ok {
		t.Failing = 0
	} else {
		t.Failing++
	}
	t.Input, t.Result = input, result
	return t, max(t.Same, t.Failing)
}

// judgeRepeat returns how often in a row the call has been made without new information if it ends with res, and what the tool's state
// is then. Calls that polled, waited for a person or never ran don't count.
func (r *RunState) judgeRepeat(call *provider.ToolCall, res *ToolResult, polls bool) (toolState, int) {
	t := r.Tools.of(call.Name)
	switch res.Status {
	case tools.Invalid:
		t.Invalid++
	case tools.OK, tools.Answered:
		t.OK++
		t.Invalid = 0
	case tools.Failed, tools.Unverified, tools.TimedOut: // the input fitted
		t.Invalid = 0
	}
	if polls {
		t.Same, t.Failing = 0, 0
		return t, 0
	}
	switch res.Status {
	case tools.Rejected, tools.NotRun, tools.Canceled, tools.Answered, tools.InDoubt, tools.Unavailable:
		return t, 0
	}
	return t.next(hashString(string(call.Input)+call.Invalid), hashParts(res.Parts[:max(len(res.Parts)-res.Notes, 0)]), res.Status == tools.OK)
}

// repeats reports whether the model is to be told that it repeats itself, if a call ends with res.
func (r *RunState) repeats(call *provider.ToolCall, res *ToolResult) bool {
	t := r.Tools.of(call.Name)
	if r.Limits.Repeats <= 0 || max(t.Same, t.Failing) < repeatWarning-1 { // whatever res is
		return false
	}
	_, n := r.judgeRepeat(call, res, res.Polls)
	return n >= repeatWarning
}

// hashString is FNV-1a, 64 bits (draft-eastlake-fnv), over characters: stable across machines, which hash/maphash is not,
// and the same for bytes that aren't UTF-8 and what JSON makes of them.
func hashString(s string) uint64 { return fnv(fnvOffset, s) }

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func fnv(h uint64, s string) uint64 {
	for _, r := range s {
		h = (h ^ uint64(r)) * fnvPrime
	}
	return h
}

func hashParts(parts []provider.Part) uint64 {
	h := uint64(fnvOffset)
	for i := range parts {
		h = fnv(fnv(h, string(parts[i].Kind)), parts[i].Text)
		if m := parts[i].Media; m != nil {
			for _, c := range m.Data { // not characters
				h = (h ^ uint64(c)) * fnvPrime
			}
			h = fnv(fnv(h, m.URL), m.FileID)
		}
	}
	return h
}

// pending returns the pauses of a run.
func (r *RunState) pending() []Pause {
	if r == nil {
		return nil
	}
	var out []Pause
	for i := range r.Calls {
		c := &r.Calls[i]
		if !c.waits() {
			continue
		}
		for _, p := range c.Pause.flat() {
			if !slices.ContainsFunc(c.Answers, func(d Decision) bool { return d.ID == p.ID }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// waits reports whether a call has a pause to decide on: its own, or those of an agent that is a tool. That agent may be at
// work on a decision on one of them: it waits for the others all the same.
func (c *CallState) waits() bool {
	switch c.Status {
	case callSuspended:
		return c.Pause != nil
	case callApproved:
		return c.Pause != nil && c.Pause.Kind == PauseAgent
	case callStarted:
		return c.Pause != nil && c.Pause.Kind == PauseAgent && c.Repeat
	}
	return false
}

// open reports whether a run hasn't ended.
func (r *RunState) open() bool {
	return r != nil && (r.Status == Running || r.Status == Paused)
}

func (r *RunState) callByID(id string) *CallState {
	if r == nil {
		return nil
	}
	for i := range r.Calls {
		if r.Calls[i].Call.ID == id {
			return &r.Calls[i]
		}
	}
	return nil
}

// suspended returns the call that waits for a decision on the pause with that id, and the pause: the call's own, or one
// that is nested in it. A call of an agent that is a tool can take decisions while it continues, too: its driver records them
// once it has stopped, or when a run is resumed after a crash.
func (r *RunState) suspended(id string) (*CallState, *Pause) {
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Status == callSuspended && c.Pause.ID == id {
			return c, c.Pause
		}
		if c.waits() {
			if n := c.Pause.nested(id); n != nil {
				return c, n
			}
		}
	}
	return nil, nil
}

// callsRun reports whether the calls of the newest reply may be run: never those of one that was cut, or of the last.
func (r *RunState) callsRun() bool { return r.Stop.RunsCalls() && r.Final == "" }

// is reports whether call is this one, whatever its input.
func (c *CallState) is(call *provider.ToolCall) bool {
	return call != nil && call.ID == c.Call.ID && call.Name == c.Call.Name
}
