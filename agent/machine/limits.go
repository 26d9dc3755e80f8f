package machine

import (
	"fmt"
	"reflect"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// Limits bound a run. A zero field stands for the default that its comment gives, a negative one
// for no limit. A run that reaches a limit is stopped with a *[LimitError] that names the field;
// its Result holds what it had done by then.
//
// To add a limit, add a field here and its default in [Limits.WithDefaults]. One that stops the run
// has a Limit constant, and is compared in RunState.nextStep; one that makes a tool unavailable has
// none, and is compared by package agent. Runs that older versions began have the default.
type Limits struct {
	// Steps is how many model calls with tools a run may make. At the limit the model gets one more
	// call, without tools, to report its progress. Default 12.
	Steps int `json:"steps,omitempty"`
	// StepsPerPhase is the same for each phase. Default: no limit.
	StepsPerPhase int `json:"steps_per_phase,omitempty"`
	// Tokens is how many input and output tokens a run may use, with all that it starts, directly
	// or through others: subagents, background work and the runs that it is reported in, the nodes
	// of plans, and runs of tools, also in other sessions. They are counted before each model call.
	// Default 1,000,000.
	Tokens int64 `json:"tokens,omitempty"`
	// Cost is what a run may cost, with all that it starts. Default 10 US dollars. Where it is set,
	// a model whose price isn't known isn't called: see RequirePrices, and what it excepts.
	Cost provider.Money `json:"cost,omitempty"`
	// Duration is how long a run may work. The time in which it is paused doesn't count. Default 30
	// minutes.
	Duration time.Duration `json:"duration,omitempty"`
	// PromptBytes bounds the text of an input. Default 4 MiB.
	PromptBytes int `json:"prompt_bytes,omitempty"`
	// MediaBytes bounds the images and files of an input. Default 32 MiB.
	MediaBytes int `json:"media_bytes,omitempty"`
	// ParallelCalls is how many tool calls of one reply run at a time. Default 8.
	ParallelCalls int `json:"parallel_calls,omitempty"`
	// Repeats is how often in a row one tool may be called with the same input, and give the same
	// result or fail each time. At this count the run is stopped. From the third time on the model
	// is warned. Default 5.
	Repeats int `json:"repeats,omitempty"`
	// ToolFailures is how often in a row calls of one tool may fail, with any inputs, before the
	// tool is unavailable for the rest of the run. From the third failure on the model is warned.
	// Failed, unverified and timed out calls count, a refusal by an open breaker doesn't. A success
	// resets the count. Default 5.
	ToolFailures int `json:"tool_failures,omitempty"`
	// Failures is the same for the calls of all tools together: at this count the run is stopped.
	// Calls of unknown tools, with inputs that don't fit, or that are denied count, too, those of
	// one reply once; what a person rejects doesn't. Default 8.
	Failures int `json:"failures,omitempty"`
	// ReplyCalls is how many tool calls of one reply may run. The others get a result that says so.
	// Default 128.
	ReplyCalls int `json:"reply_calls,omitempty"`
	// ReplyBytes bounds a reply of the model: text, reasoning, names and inputs of calls, and
	// sources together. A chunk without any counts as a byte. At the limit the model call and the
	// run are stopped, and the usage so far is recorded; of a longer text 16 KiB are kept. If
	// Params.MaxOutput is set, a reply has at most 16 bytes for each of its tokens, too, which is
	// at least twice what it can have, or 4 KiB if that is more. A model call of a tool ends in the
	// same way, with a *[LimitError]. Default 4 MiB.
	ReplyBytes int `json:"reply_bytes,omitempty"`
	// SubagentCalls is how many model calls the subagents of a run may make in all, with their own
	// subagents, and tools with Generate. At the limit the subagents are stopped before their next
	// model call, and the run continues. Each running subagent may exceed it by one call. Default
	// 200.
	SubagentCalls int `json:"subagent_calls,omitempty"`
	// RequirePrices stops a run, and all that it starts, before a model is called whose price isn't
	// known, if there is a limit of Cost. Default true where Cost is set, false with the default
	// Cost. If it is false, what such a model costs isn't counted, and the run shows a note,
	// UnknownPrice of package agent. Summaries, notes and critics with models of their own are
	// called all the same: only a budget refuses them.
	RequirePrices bool `json:"require_prices,omitempty"`
	// AllowUnknownPrices makes RequirePrices false, whatever else is set.
	AllowUnknownPrices bool `json:"allow_unknown_prices,omitempty"`
	// Corrections is how often in a row a model may correct itself after an input that doesn't fit
	// a tool's schema. After that, the tool is unavailable for the rest of the run. It is counted
	// for each tool. Default 2.
	Corrections int `json:"corrections,omitempty"`
	// AskAfterCorrections asks a person to correct a call that still doesn't fit, instead of making
	// the tool unavailable.
	AskAfterCorrections bool `json:"ask_after_corrections,omitempty"`
	// SendBacks is how often each BeforeFinish hook may send a run back to work. Default 2.
	SendBacks int `json:"send_backs,omitempty"`
	// OutputCorrections is how often a model may correct a structured answer that doesn't fit its
	// schema. Default 2.
	OutputCorrections int `json:"output_corrections,omitempty"`
	// Idle is how long a provider may be silent within a reply. Default 120 seconds, and 10 minutes
	// while it sends pings, as during a long thought; for a provider with its own guard, what the
	// guard allows. Only the agent's configuration sets it.
	Idle time.Duration `json:"idle,omitempty"`
}

// DefaultLimits returns what the zero Limits stand for.
func DefaultLimits() Limits { return Limits{}.WithDefaults() }

// Or returns l with its zero fields taken from m.
func (l Limits) Or(m Limits) Limits {
	own, other := reflect.ValueOf(&l).Elem(), reflect.ValueOf(m)
	for i := range own.NumField() {
		if own.Field(i).IsZero() {
			own.Field(i).Set(other.Field(i))
		}
	}
	return l
}

// inForce returns the limits of a fact or a state, with the defaults for those that it doesn't
// have: the version that has written it may not have known them.
func (l *Limits) inForce() *Limits {
	if l == nil {
		return new(DefaultLimits())
	}
	v := reflect.ValueOf(l).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.IsZero() && f.Kind() != reflect.Bool { // false is the default
			return new(l.WithDefaults())
		}
	}
	return l
}

// LimitsLeft returns what bounds a subagent that the run calls beside its own limits: what is left
// of the run's tokens, cost and duration, where that is less than own. used is what the run and its
// subagents have used.
func (r *RunState) LimitsLeft(own *Limits, used Spent, now time.Time) *Limits {
	left := new(Limits)
	if l := r.Limits.Tokens; l >= 0 && (own.Tokens < 0 || own.Tokens > l-used.Usage.Total()) {
		left.Tokens = max(l-used.Usage.Total(), 1)
	}
	if l := r.Limits.Cost; l >= 0 && (own.Cost < 0 || own.Cost > l-used.Cost) {
		left.Cost = max(l-used.Cost, 1)
	}
	if l := r.Limits.Duration; l >= 0 {
		rest := max(l-r.Worked-max(now.Sub(r.Since), 0), time.Millisecond)
		if own.Duration < 0 || own.Duration > rest {
			left.Duration = rest
		}
	}
	return left
}

// WithDefaults returns l with its zero fields set to their defaults.
func (l Limits) WithDefaults() Limits {
	return l.Or(Limits{
		Steps:             12,
		StepsPerPhase:     -1,
		Tokens:            1_000_000,
		Cost:              10 * provider.USD,
		Duration:          30 * time.Minute,
		PromptBytes:       4 << 20,
		MediaBytes:        32 << 20,
		ParallelCalls:     8,
		Repeats:           5,
		ToolFailures:      5,
		Failures:          8,
		ReplyCalls:        128,
		ReplyBytes:        4 << 20,
		SubagentCalls:     200,
		Corrections:       2,
		SendBacks:         2,
		OutputCorrections: 2,
		Idle:              120 * time.Second,
	})
}

// Names of limits, as in [LimitError]. Each is the name of a field of [Limits].
const (
	LimitSteps         = "Steps"
	LimitStepsPerPhase = "StepsPerPhase"
	LimitTokens        = "Tokens"
	LimitCost          = "Cost"
	LimitDuration      = "Duration"
	LimitPromptBytes   = "PromptBytes"
	LimitMediaBytes    = "MediaBytes"
	LimitRepeats       = "Repeats"
	LimitFailures      = "Failures"
	LimitReplyBytes    = "ReplyBytes"
	LimitSubagentCalls = "SubagentCalls"
	LimitRequirePrices = "RequirePrices"
)

// A LimitError says which limit ended a run, or refused an input.
type LimitError struct {
	Limit string // the field of [Limits]
	Max   int64  // in bytes, calls, tokens, millionths of a US dollar, or nanoseconds
	Have  int64  // in the same unit
	Note  string // more about it, for example which tool was repeated
}

// Error names the field of Limits and both figures.
func (e *LimitError) Error() string {
	if e.Limit == LimitRequirePrices {
		return "agent: Limits.RequirePrices: " + e.Note
	}
	s := fmt.Sprintf("agent: Limits.%s is reached: %s of %s", e.Limit, e.format(e.Have), e.format(e.Max))
	if e.Note != "" {
		s += "; " + e.Note
	}
	return s
}

func (e *LimitError) format(n int64) string {
	switch e.Limit {
	case LimitCost:
		return provider.Money(n).String()
	case LimitDuration:
		return time.Duration(n).String()
	case LimitPromptBytes, LimitMediaBytes, LimitReplyBytes:
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprint(n)
}

// limitError returns the error of a limit that the run has reached.
func (r *RunState) limitError(limit string) *LimitError {
	e := &LimitError{Limit: limit}
	last := 0
	if r.Final != "" {
		last = 1 // the last call, without tools, doesn't count
	}
	switch limit {
	case LimitSteps:
		e.Max, e.Have = int64(r.Limits.Steps), int64(r.Step+r.Lost-last)
		if r.Lost > 0 {
			e.Note = fmt.Sprintf("%d of them were lost in a crash, and made again", r.Lost)
		}
	case LimitStepsPerPhase:
		// another phase may have begun since
		e.Max, e.Have = int64(r.Limits.StepsPerPhase), int64(max(r.PhaseStep-last, 0))
	case LimitTokens:
		e.Max, e.Have = r.Limits.Tokens, r.Usage.Total()
	case LimitCost:
		e.Max, e.Have = int64(r.Limits.Cost), int64(r.Cost)
	case LimitFailures:
		e.Max, e.Have, e.Note = int64(r.Limits.Failures), int64(r.Failures), "so many tool calls in a row have failed"
	case LimitRepeats:
		t := r.Tools[r.Stuck]
		e.Max, e.Have = int64(r.Limits.Repeats), int64(max(t.Same, t.Failing))
		e.Note = "the model repeats the same call of " + r.Stuck + " without new information"
	}
	return e
}

// WhyCut says why the calls of the newest reply don't run. The model reads it.
func (r *RunState) WhyCut() string {
	switch {
	case r.Final != "":
		return "the run is at its limit of " + r.Final
	case r.Stop == provider.StopLength:
		return "your reply was cut at the output limit, so its calls may be incomplete. Make the call again, with " +
			"less in it."
	case r.Stop == provider.StopFiltered:
		return "your reply was cut by a content filter"
	}
	return "your reply ended before it was complete (" + string(r.Stop) + ")"
}
