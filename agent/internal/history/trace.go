package history

import (
	"cmp"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// Trace returns the model calls that the facts of a session record, in order. composed says that
// the agent has a Config.Compose, so that a step without a system text has the one of the step
// before. After an error, the steps before it are returned.
func Trace(session string, facts []machine.Fact, composed bool) ([]machine.TraceStep, error) {
	m := machine.New(session)
	if len(facts) > 0 {
		m = machine.NewAfter(session, facts[0].Envelope().Seq-1)
	}
	var steps []machine.TraceStep
	system := ""
	for _, f := range facts {
		if f, ok := f.(*machine.StepStarted); ok {
			r := m.State().Run
			step := machine.TraceStep{Run: f.Run(), Step: f.Step, Seq: f.Seq, Model: f.Model, Mode: f.Mode,
				System: f.System, Messages: f.Messages, Tools: slices.Clone(f.Tools), ToolChoice: f.ToolChoice,
				Final: f.Final, AnsweredBy: f.AnsweredBy, Again: r != nil && r.Stage == machine.StageCalling}
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
			add(&steps[len(steps)-1], f, m.State().Messages)
		}
	}
	return steps, nil
}

// add adds what a fact says about a step. messages is the conversation after the fact.
func add(s *machine.TraceStep, f machine.Fact, messages []provider.Message) {
	switch f := f.(type) {
	case *machine.StepStarted:
		if s.Messages == nil {
			shown, _ := machine.Shown(messages, false)
			s.Messages = slices.Clip(shown) // with the note of the step
		}
	case *machine.Replied:
		s.Reply, s.Stop, s.Usage = &f.Message, f.Stop, f.Usage
		for _, c := range f.Message.Calls() {
			s.Calls = append(s.Calls, machine.TraceCall{Call: c})
		}
	case *machine.StepFailed:
		s.Failed, s.Usage = f.Error, f.Usage
		if len(f.Partial.Parts) > 0 {
			s.Reply = &f.Partial
		}
	}
	i := slices.IndexFunc(s.Calls, func(c machine.TraceCall) bool { return c.Call.ID == f.Envelope().Call })
	if i < 0 {
		return
	}
	switch c := &s.Calls[i]; f := f.(type) {
	case *machine.ToolStarted:
		c.Call = f.Call
		c.Started++
	case *machine.Suspended:
		c.Pauses = append(c.Pauses, f.Pause)
	case *machine.Decided:
		c.Decisions = append(c.Decisions, f.Decision)
	case *machine.ToolFinished:
		c.Result = f.Result
	}
}
