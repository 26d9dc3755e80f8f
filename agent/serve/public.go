package serve

import (
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// publicEvent returns an event as users may see it: without system texts, what a hook showed to the
// model, what the agent knows of its tools, what tools keep for the host's logs, and what only a
// provider understands. A snapshot repeats the facts before it, so only its envelope is left.
func publicEvent(ev agent.Event) agent.Event {
	switch ev := ev.(type) {
	case agent.RunStarted:
		ev.Tools, ev.External, ev.Only, ev.Output = nil, nil, nil, nil
		ev.History = publicMessages(ev.History)
		return ev
	case agent.StepStarted:
		ev.Messages, ev.System, ev.Context, ev.Note = nil, "", nil, ""
		return ev
	case agent.Replied:
		ev.Message = publicMessage(ev.Message)
		return ev
	case agent.StepFailed:
		ev.Partial, ev.Error = publicMessage(ev.Partial), ""
		return ev
	case agent.PartAdded:
		if ev.Part != nil && ev.Part.Opaque != nil {
			part := *ev.Part
			part.Opaque = nil
			ev.Part = &part
		}
		return ev
	case agent.ToolFinished:
		if ev.Result != nil {
			result := *ev.Result
			result.Cause, result.Mismatch = "", nil
			ev.Result = &result
		}
		return ev
	case agent.ToolsChanged:
		ev.Tools = nil
		return ev
	case machine.Continued:
		ev.Tools, ev.Changes = nil, nil
		return ev
	case agent.Compacted:
		ev.Spans, ev.Report = nil, nil
		return ev
	case agent.NoteWritten:
		ev.Note, ev.Error = nil, ""
		return ev
	case agent.Snapshot:
		ev.State, ev.From = nil, ""
		return ev
	case agent.SourceFailed:
		ev.Err = nil
		return ev
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
