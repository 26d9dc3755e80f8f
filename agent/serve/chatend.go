package serve

import (
	"encoding/json"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// over reports whether the run has ended or paused.
func (c *chatMap) over() bool { return c.ending != nil }

// finish ends the message of a run that has ended or paused.
func (c *chatMap) finish() error {
	for _, chunk := range c.ending {
		if err := c.put(chunk); err != nil {
			return err
		}
	}
	return nil
}

// end notes how the message ends.
func (c *chatMap) end(f *agent.RunEnded) error {
	if f.Code == machine.CodeContextReset {
		return nil
	}
	reason := "other"
	switch {
	case display.Interrupted(f.Code): // it goes on by itself
		return nil
	case f.Status == agent.Paused:
		c.ending = []uimessage.Chunk{uimessage.Finish{FinishReason: "tool-calls"}}
		return nil
	}
	if err := c.closeNested(endText(f)); err != nil {
		return err
	}
	switch {
	case f.Status == agent.Completed, f.Code == machine.CodeSuperseded: // its calls say that
		c.ending = []uimessage.Chunk{uimessage.Finish{FinishReason: "stop"}}
		return nil
	case f.Code == machine.CodeLength:
		reason = "length"
	case f.Code == machine.CodeFiltered:
		reason = "content-filter"
	}
	raw, err := json.Marshal(map[string]string{"status": string(f.Status), "code": f.Code,
		"text": endText(f)})
	c.ending = []uimessage.Chunk{uimessage.Finish{FinishReason: reason}}
	if f.Status == agent.Failed {
		c.ending = []uimessage.Chunk{uimessage.Error{ErrorText: endText(f)}}
	}
	if err != nil {
		return err
	}
	return c.put(uimessage.Data{Name: "ended", ID: "ended", Data: raw})
}

// endText says in a user's words how a run has ended that didn't complete. What exactly failed is
// for the server's log.
func endText(f *agent.RunEnded) string {
	if text := f.Words(); text != "" {
		return text
	}
	switch f.Code {
	case machine.CodeCanceled, machine.CodeAbandoned, machine.CodeHost:
		if f.Status == agent.Paused {
			return "The answer was paused."
		}
		return "The answer was stopped."
	case machine.CodeSuperseded:
		return superseded
	case machine.CodeCondition:
		return "The work was stopped at one of its limits."
	case machine.CodeUnproven:
		return "The answer isn't proven: something that it must have is missing."
	case machine.CodeDrained, machine.CodeLeg:
		return "The server is restarting. The work goes on afterwards."
	case machine.CodeQueued:
		return "The work is tried again later."
	case machine.CodeProvider:
		return "The model couldn't be reached, or couldn't answer."
	}
	if f.Status == agent.Failed {
		return "The work failed."
	}
	return "The work was stopped."
}

// superseded says what became of a run that another message has replaced.
const superseded = "Another message took its place."
