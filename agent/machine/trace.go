package machine

import (
	"cmp"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// A TraceStep is a model call as the facts record it: what the model was shown, what it replied,
// and the results of its calls.
type TraceStep struct {
	Run   string
	Step  int
	Seq   uint64 // the number of the fact with which it began
	Model string
	Mode  string
	// System is the system text if a hook changed it, and always with Config.Compose of package
	// agent. Otherwise it was the agent's own, which the facts don't contain.
	System string
	// Messages is the conversation that the model was shown.
	Messages   []provider.Message
	Tools      []string // the tools that were offered, in order
	ToolChoice provider.ToolChoice
	Final      string // the limit that was reached, if it was the last call
	// AnsweredBy is the hook that answered instead of the model.
	AnsweredBy string
	Again      bool // the same step was made again, after a crash

	// Reply is the model's reply, with its Usage, or the text of a reply that Failed. If both are
	// empty, the reply was lost.
	Reply  *provider.Message
	Stop   provider.StopReason
	Failed string
	Usage  provider.Usage
	Calls  []TraceCall
}

// A TraceCall is a call of a reply, and what happened to it.
type TraceCall struct {
	Call      *provider.ToolCall // with the input that ran
	Started   int                // how often it was started
	Pauses    []Pause
	Decisions []Decision
	Result    *ToolResult // nil if it has none yet
}

// Trace returns the model calls that the facts of a session record, in order. composed says that
// the agent has a Config.Compose, so that a step without a system text has the one of the step
// before. After an error, the steps before it are returned.
func Trace(session string, facts []Fact, composed bool) ([]TraceStep, error) {
	m := New(session)
	if len(facts) > 0 {
		m.s.Seq = facts[0].Envelope().Seq - 1
	}
	var steps []TraceStep
	system := ""
	for _, f := range facts {
		if f, ok := f.(*StepStarted); ok {
			step := TraceStep{Run: f.Run(), Step: f.Step, Seq: f.Seq, Model: f.Model, Mode: f.Mode, System: f.System,
				Messages: f.Messages,
				Tools:    slices.Clone(f.Tools), ToolChoice: f.ToolChoice, Final: f.Final, AnsweredBy: f.AnsweredBy,
				Again: m.s.Run != nil && m.s.Run.Stage == StageCalling}
			if composed {
				step.System = cmp.Or(step.System, system)
				system = step.System
			}
			steps = append(steps, step)
		}
		if err := m.Apply(f); err != nil {
			return steps, err
		}
		if len(steps) > 0 {
			steps[len(steps)-1].add(f, m.s.Messages)
		}
	}
	return steps, nil
}

// add adds what a fact says about the step. messages is the conversation after the fact.
func (s *TraceStep) add(f Fact, messages []provider.Message) {
	switch f := f.(type) {
	case *StepStarted:
		if s.Messages == nil {
			shown, _ := Shown(messages, false)
			s.Messages = slices.Clip(shown) // with the note of the step
		}
	case *Replied:
		s.Reply, s.Stop, s.Usage = &f.Message, f.Stop, f.Usage
		for _, c := range f.Message.Calls() {
			s.Calls = append(s.Calls, TraceCall{Call: c})
		}
	case *StepFailed:
		s.Failed, s.Usage = f.Error, f.Usage
		if len(f.Partial.Parts) > 0 {
			s.Reply = &f.Partial
		}
	}
	i := slices.IndexFunc(s.Calls, func(c TraceCall) bool { return c.Call.ID == f.Envelope().Call })
	if i < 0 {
		return
	}
	switch c := &s.Calls[i]; f := f.(type) {
	case *ToolStarted:
		c.Call = f.Call
		c.Started++
	case *Suspended:
		c.Pauses = append(c.Pauses, f.Pause)
	case *Decided:
		c.Decisions = append(c.Decisions, f.Decision)
	case *ToolFinished:
		c.Result = f.Result
	}
}
