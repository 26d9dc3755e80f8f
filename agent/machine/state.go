package machine

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
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
	Fingerprints    []ToolFingerprint   `json:"fingerprints,omitempty"` // the agent's tools when it last began or went on

	// ContextReset says that the run goes on with the work of another; its figures are those of the chain.
	ContextReset *ChainState `json:"context_reset,omitempty"`
	// Said is what a person has said after the input, in the runs of a chain: the newest messages, long ones cut.
	Said []string `json:"said,omitempty"`
	// Whole is the input, without what a context reset added to it, if a compaction has changed it.
	Whole []provider.Part `json:"whole,omitempty"`

	First     int    `json:"first"` // the index in Messages of its input
	Stage     Stage  `json:"stage"`
	Step      int    `json:"step"`           // model calls made
	PhaseStep int    `json:"phase_step"`     // of these, in the current phase
	Lost      int    `json:"lost,omitempty"` // model calls that were begun, and made again after a crash
	Final     string `json:"final,omitempty"`
	// Stop is the stop reason of the newest reply.
	Stop  provider.StopReason `json:"stop,omitempty"`
	Model string              `json:"model,omitempty"`
	Calls []CallState         `json:"calls,omitempty"` // of the newest reply

	Usage     provider.Usage       `json:"usage"`
	Cost      provider.Money       `json:"cost,omitempty"`
	Unpriced  bool                 `json:"unpriced,omitempty"` // some calls had no known price
	Worked    time.Duration        `json:"worked,omitempty"`   // before Since
	Since     time.Time            `json:"since"`
	Last      time.Time            `json:"last"` // of the newest fact
	Tools     map[string]ToolState `json:"tools,omitempty"`
	Stuck     string               `json:"stuck,omitempty"` // the tool that is repeated past the limit
	SentBack  int                  `json:"sent_back,omitempty"`
	Corrected int                  `json:"corrected,omitempty"` // structured answers
	ToolNames []string             `json:"tool_names,omitempty"`
}

// A stage is where a run stands between its facts.
type Stage string

const (
	StageReady   Stage = "ready"   // the model is to be called
	StageCalling Stage = "calling" // the model is being called
	StageActing  Stage = "acting"  // calls are open
	StageReplied Stage = "said"    // the model has spoken without calling tools
	StageFailed  Stage = "broken"  // the model call failed
)

// A CallState is how one tool call of the newest reply stands.
type CallState struct {
	Call    *provider.ToolCall `json:"call"` // as the model made it, as a person edited it, then as it was started
	Status  CallStatus         `json:"status"`
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

// A stand is where a call is on its way.
type CallStatus string

const (
	CallOpen      CallStatus = "open"      // not looked at yet
	CallApproved  CallStatus = "approved"  // somebody let it run
	CallStarted   CallStatus = "started"   // it runs, or nobody knows
	CallSuspended CallStatus = "suspended" // it waits for a decision
	CallDecided   CallStatus = "decided"   // it was decided, and isn't run: its result follows
	CallDone      CallStatus = "done"
)

// A toolState is what a run remembers of a tool.
type ToolState struct {
	OK      int    `json:"ok,omitempty"`      // successes
	Invalid int    `json:"invalid,omitempty"` // inputs in a row that didn't fit
	Input   uint64 `json:"input,omitempty"`   // hash of the newest input
	Result  uint64 `json:"result,omitempty"`  // and of its result
	Same    int    `json:"same,omitempty"`    // how often in a row both were the same
	Failing int    `json:"failing,omitempty"` // how often in a row the same input failed
}

// pending returns the pauses of a run.
func (r *RunState) Pending() []Pause {
	if r == nil {
		return nil
	}
	var out []Pause
	for i := range r.Calls {
		c := &r.Calls[i]
		if !c.Waits() {
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

// waits reports whether a call has a pause to decide on: its own, or those of an agent that is a tool. That agent may be at
// work on a decision on one of them: it waits for the others all the same.
func (c *CallState) Waits() bool {
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

// open reports whether a run hasn't ended.
func (r *RunState) IsOpen() bool {
	return r != nil && (r.Status == Running || r.Status == Paused)
}

func (r *RunState) Call(id string) *CallState {
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
// that is nested in it. A call of an agent that is a tool can take decisions while it goes on, too: its driver records them
// once it has come to rest, or when a crash is gone on from.
func (r *RunState) Suspended(id string) (*CallState, *Pause) {
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Status == CallSuspended && c.Pause.ID == id {
			return c, c.Pause
		}
		if c.Waits() {
			if n := c.Pause.Find(id); n != nil {
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

// A NoteState is the newest note of a category.
type NoteState struct {
	Category string  `json:"category"`
	Index    int     `json:"index"`
	Share    float64 `json:"share"`
}

// noted returns the newest note of a category.
func (s *State) Note(category string) NoteState {
	for _, n := range s.Notes {
		if n.Category == category {
			return n
		}
	}
	return NoteState{Category: category}
}

// goal returns the text that the run began with, or the first of the runs that were handed on to it.
func (s *State) Goal() string { return (&provider.Message{Parts: s.Input()}).Text() }

// input returns the input that the run began with, or the first of the runs that were handed on to it, as a person gave it.
func (s *State) Input() []provider.Part {
	if len(s.Run.Whole) > 0 {
		return s.Run.Whole
	}
	return s.Run.prompt(s.Messages[s.Run.First].Parts)
}

// heard returns what a person has said last.
func (s *State) LastUserText() string {
	if said := s.Run.Said; len(said) > 0 {
		return said[len(said)-1]
	}
	return s.Goal()
}

// prompt returns of the parts of a run's input those that a person gave.
func (r *RunState) prompt(parts []provider.Part) []provider.Part {
	if r.ContextReset == nil {
		return parts
	}
	return parts[:min(r.ContextReset.Prompt, len(parts))]
}

// ResultOf returns a result for the call that isn't that of the tool: why it wasn't run, or what somebody answered.
func (c *CallState) ResultOf(status tools.Status, class fault.Class, text string) *ToolResult {
	res := &ToolResult{Status: status, Class: class}
	res.ToolResult = provider.ToolResult{
		CallID: c.Call.ID, Name: c.Call.Name, Parts: []provider.Part{provider.TextPart(text)}, Error: !status.Good(),
	}
	return res
}

// IndexOf returns the place of a call in the newest reply.
func (r *RunState) IndexOf(c *CallState) int {
	for i := range r.Calls {
		if &r.Calls[i] == c {
			return i
		}
	}
	return 0
}

// AddNote adds a part that isn't the tool's: on a line of its own, because most providers are sent the parts as one text.
func (r *ToolResult) AddNote(text string) {
	if n := len(r.Parts); n > 0 && r.Parts[n-1].Text != "" && !strings.HasSuffix(r.Parts[n-1].Text, "\n") {
		text = "\n" + text
	}
	r.Parts = append(r.Parts[:len(r.Parts):len(r.Parts)], provider.TextPart(text))
	r.Notes++
}
