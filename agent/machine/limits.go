package machine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// Limits bound a run. The zero value of a field stands for the figure named with it, a negative one for no limit. A run
// that reaches a limit is stopped with a *[LimitError] that names the field; what it had done by then is in its Result.
type Limits struct {
	// Steps is how many model calls a run may make with tools. At the limit the model gets one more call, without tools,
	// to say where it stands. 12.
	Steps int `json:"steps,omitempty"`
	// StepsPerPhase is the same for each phase; it is off unless set.
	StepsPerPhase int `json:"steps_per_phase,omitempty"`
	// Tokens is how many tokens a run may use, input and output, with the agents that are its tools; counted after each model
	// call. 1,000,000.
	Tokens int64 `json:"tokens,omitempty"`
	// Cost is what a run, with the agents that are its tools, may cost where the models' prices are known. 10 US dollars.
	Cost provider.Money `json:"cost,omitempty"`
	// Duration is how long a run may work; the time that it is paused doesn't count. 30 minutes.
	Duration time.Duration `json:"duration,omitempty"`
	// PromptBytes bounds the text of an input. 4 MiB.
	PromptBytes int `json:"prompt_bytes,omitempty"`
	// MediaBytes bounds the images and files of an input. 32 MiB.
	MediaBytes int `json:"media_bytes,omitempty"`
	// ParallelCalls is how many tool calls of one reply run at a time. 8.
	ParallelCalls int `json:"parallel_calls,omitempty"`
	// Repeats is after how many calls in a row of one tool with the same input, and the same result or a failure each
	// time, a run counts as stuck. From the third on the model is told. 5.
	Repeats int `json:"repeats,omitempty"`
	// Corrections is how often a model may correct itself after an input that doesn't fit a tool's schema, for each tool,
	// counted anew after a call that fits; then the tool is out of use for the rest of the run. 2.
	Corrections int `json:"corrections,omitempty"`
	// AskAfterCorrections puts a call that still doesn't fit before a person, instead of taking the tool out of use.
	AskAfterCorrections bool `json:"ask_after_corrections,omitempty"`
	// SendBacks is how often a BeforeFinish hook may send a run back to work. 2.
	SendBacks int `json:"send_backs,omitempty"`
	// OutputCorrections is how often a model may correct a structured answer that doesn't fit its schema. 2.
	OutputCorrections int `json:"output_corrections,omitempty"`
	// Idle is how long a provider may be silent within an answer. 120 seconds; of a provider with a guard of its own, as long
	// as that allows. Only the Config's counts.
	Idle time.Duration `json:"idle,omitempty"`
}

// DefaultLimits returns the figures that the zero Limits stand for.
func DefaultLimits() Limits { return Limits{}.Or(Limits{}).WithDefaults() }

// or returns l with the fields that aren't set taken from m.
func (l Limits) Or(m Limits) Limits {
	l.Steps = cmp.Or(l.Steps, m.Steps)
	l.StepsPerPhase = cmp.Or(l.StepsPerPhase, m.StepsPerPhase)
	l.Tokens = cmp.Or(l.Tokens, m.Tokens)
	l.Cost = cmp.Or(l.Cost, m.Cost)
	l.Duration = cmp.Or(l.Duration, m.Duration)
	l.PromptBytes = cmp.Or(l.PromptBytes, m.PromptBytes)
	l.MediaBytes = cmp.Or(l.MediaBytes, m.MediaBytes)
	l.ParallelCalls = cmp.Or(l.ParallelCalls, m.ParallelCalls)
	l.Repeats = cmp.Or(l.Repeats, m.Repeats)
	l.Corrections = cmp.Or(l.Corrections, m.Corrections)
	l.AskAfterCorrections = l.AskAfterCorrections || m.AskAfterCorrections
	l.SendBacks = cmp.Or(l.SendBacks, m.SendBacks)
	l.OutputCorrections = cmp.Or(l.OutputCorrections, m.OutputCorrections)
	l.Idle = cmp.Or(l.Idle, m.Idle)
	return l
}

// orZero returns l, or zero Limits if it is nil: in a fact that no agent has made.
func (l *Limits) orZero() *Limits {
	if l == nil {
		return new(Limits)
	}
	return l
}

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
		Corrections:       2,
		SendBacks:         2,
		OutputCorrections: 2,
		Idle:              120 * time.Second,
	})
}

// repeatWarning is from which repetition on the model is told that it repeats itself.
const repeatWarning = 3

// Names of limits, as a [LimitError] has them.
const (
	LimitSteps             = "Steps"
	LimitStepsPerPhase     = "StepsPerPhase"
	LimitTokens            = "Tokens"
	LimitCost              = "Cost"
	LimitDuration          = "Duration"
	LimitPromptBytes       = "PromptBytes"
	LimitMediaBytes        = "MediaBytes"
	LimitRepeats           = "Repeats"
	LimitSendBacks         = "SendBacks"
	LimitOutputCorrections = "OutputCorrections"
)

// A LimitError says which limit ended a run, or refused an input.
type LimitError struct {
	Limit string // the field of Limits
	Max   int64  // bytes, calls, tokens, millionths of a dollar, or nanoseconds
	Have  int64
	Note  string // what else is to be said, for example which tool was repeated
}

// Error says which limit it was, and its figure.
func (e *LimitError) Error() string {
	s := fmt.Sprintf("agent: the limit %s is reached: %s of %s", e.Limit, e.figure(e.Have), e.figure(e.Max))
	if e.Note != "" {
		s += "; " + e.Note
	}
	return s
}

func (e *LimitError) figure(n int64) string {
	switch e.Limit {
	case LimitCost:
		return provider.Money(n).String()
	case LimitDuration:
		return time.Duration(n).String()
	case LimitPromptBytes, LimitMediaBytes:
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprint(n)
}
