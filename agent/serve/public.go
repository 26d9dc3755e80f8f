package serve

import (
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// publicEvent returns an event as users may see it: without system texts, what a hook showed to the
// model, what the agent knows of its tools, what tools keep for the host's logs, why exactly a run
// failed, and what only a provider understands. A snapshot repeats the facts before it, so only its
// envelope is left.
func publicEvent(ev agent.Event) agent.Event {
	switch ev := ev.(type) {
	case *agent.RunStarted:
		own := *ev
		own.Tools, own.External, own.Only, own.Output = nil, nil, nil, nil
		own.History = publicMessages(ev.History)
		return &own
	case *agent.StepStarted:
		own := *ev
		own.Messages, own.System, own.Context, own.Note = nil, "", nil, ""
		return &own
	case *agent.Replied:
		own := *ev
		own.Message = publicMessage(ev.Message)
		return &own
	case *agent.RunEnded:
		own := *ev
		own.Result, own.Reason = nil, ev.UserReason()
		return &own
	case *machine.StepFailed:
		own := *ev
		own.Partial, own.Error = publicMessage(ev.Partial), ""
		return &own
	case *agent.PartAdded:
		own := *ev
		if ev.Part != nil && ev.Part.Opaque != nil {
			part := *ev.Part
			part.Opaque = nil
			own.Part = &part
		}
		return &own
	case *agent.ToolFinished:
		own := *ev
		if ev.Result != nil {
			result := *ev.Result
			result.Cause, result.Mismatch = "", nil
			if result.Exit != nil {
				exit := *result.Exit
				exit.File, result.Exit = "", &exit
			}
			own.Result = &result
		}
		return &own
	case *machine.ToolsChanged:
		own := *ev
		own.Tools = nil
		return &own
	case *machine.Continued:
		own := *ev
		own.Tools, own.Changes = nil, nil
		return &own
	case *machine.Compacted:
		own := *ev
		own.Spans, own.Report = nil, nil
		return &own
	case *machine.NoteWritten:
		own := *ev
		own.Note, own.Error = nil, ""
		return &own
	case *machine.Snapshot:
		own := *ev
		own.State, own.From = nil, ""
		return &own
	case *agent.SourceFailed:
		own := *ev
		own.Err = nil
		return &own
	}
	return ev
}

func publicMessages(messages []provider.Message) []provider.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i] = publicMessage(out[i])
	}
	return out
}

// publicMessage returns a message without what only a provider understands.
func publicMessage(m provider.Message) provider.Message {
	m.Parts = slices.Clone(m.Parts)
	m.Parts = slices.DeleteFunc(m.Parts, func(p provider.Part) bool { return p.Kind == provider.PartOpaque })
	for i := range m.Parts {
		m.Parts[i].Opaque = nil
	}
	return m
}
