package agent

import (
	"cmp"
	"context"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A TraceStep is a model call as it was: what the model saw, what it said, and what came of its calls.
type TraceStep struct {
	Run   string
	Step  int
	Seq   uint64 // of the fact with which it began
	Model string
	Mode  string
	// System is the system text if a hook changed it, and always with Config.Compose; else it was that of the agent, which the
	// log doesn't hold.
	System string
	// Messages is the conversation that the model was shown.
	Messages   []provider.Message
	Tools      []string // offered, in order
	ToolChoice provider.ToolChoice
	Final      string // the limit after which it was the last call
	// AnsweredBy is the hook that answered in the model's place.
	AnsweredBy string
	Again      bool // it is the same step once more, after a crash

	// Reply is what the model said, or had said when Failed, with its Usage. Without both the call was lost.
	Reply  *provider.Message
	Stop   provider.StopReason
	Failed string
	Usage  provider.Usage
	Calls  []TraceCall
}

// A TraceCall is a call of a reply, and what came of it.
type TraceCall struct {
	Call      *provider.ToolCall // with the input that ran
	Started   int                // how often it was started
	Pauses    []Pause
	Decisions []Decision
	Result    *ToolResult // nil: it has none yet
}

// Trace returns the model calls of the session in order, from its log alone: it runs nothing, and calls no model and no hook. It
// is for debugging. The messages are shared with each other, and mustn't be changed.
func (s *Session) Trace(ctx context.Context) ([]TraceStep, error) {
	facts, err := s.Facts(ctx)
	if err != nil {
		return nil, err
	}
	m := machine.New(s.id)
	if len(facts) > 0 {
		m.State().Seq = facts[0].Envelope().Seq - 1
	}
	var steps []TraceStep
	composed := ""
	for _, f := range facts {
		if f, ok := f.(StepStarted); ok {
			step := TraceStep{Run: f.Run, Step: f.Step, Seq: f.Seq, Model: f.Model, Mode: f.Mode, System: f.System, Messages: f.Messages,
				Tools: slices.Clone(f.Tools), ToolChoice: f.ToolChoice, Final: f.Final, AnsweredBy: f.AnsweredBy, Again: m.State().Run != nil && m.State().Run.Stage == machine.StageCalling}
			if s.agent.cfg.Compose != nil { // a step that says nothing has that of the one before
				step.System = cmp.Or(step.System, composed)
				composed = step.System
			}
			steps = append(steps, step)
		}
		if err := m.Apply(f); err != nil {
			return steps, err
		}
		if len(steps) > 0 {
			steps[len(steps)-1].see(f, m)
		}
	}
	return steps, nil
}

// see adds to a step what a fact says of it.
func (s *TraceStep) see(f Fact, m *machine.Machine) {
	switch f := f.(type) {
	case StepStarted:
		if s.Messages == nil { // with the note that came with the call
			s.Messages = m.State().Messages[:len(m.State().Messages):len(m.State().Messages)]
		}
	case Replied:
		s.Reply, s.Stop, s.Usage = &f.Message, f.Stop, f.Usage
		for _, c := range f.Message.Calls() {
			s.Calls = append(s.Calls, TraceCall{Call: c})
		}
	case StepFailed:
		s.Failed, s.Usage = f.Error, f.Usage
		if len(f.Partial.Parts) > 0 {
			s.Reply = &f.Partial
		}
	}
	c := s.call(f.Envelope().Call)
	if c == nil {
		return
	}
	switch f := f.(type) {
	case ToolStarted:
		c.Call = f.Call
		c.Started++
	case Suspended:
		c.Pauses = append(c.Pauses, f.Pause)
	case Decided:
		c.Decisions = append(c.Decisions, f.Decision)
	case ToolFinished:
		c.Result = f.Result
	}
}

func (s *TraceStep) call(id string) *TraceCall {
	for i := range s.Calls {
		if s.Calls[i].Call.ID == id {
			return &s.Calls[i]
		}
	}
	return nil
}
