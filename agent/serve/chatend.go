package serve

import (
	"encoding/json"

	"github.com/pawlkit/pawl/agent"
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
	case machine.GoesOn(f.Code): // it goes on by itself
		return nil
	case f.Status == agent.Paused:
		c.ending = []uimessage.Chunk{uimessage.Finish{FinishReason: "tool-calls"}}
		return nil
	}
	if err := c.closeNested(f.UserWords()); err != nil {
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
		"text": f.UserWords()})
	c.ending = []uimessage.Chunk{uimessage.Finish{FinishReason: reason}}
	if f.Status == agent.Failed {
		c.ending = []uimessage.Chunk{uimessage.Error{ErrorText: f.UserWords()}}
	}
	if err != nil {
		return err
	}
	return c.put(uimessage.Data{Name: "ended", ID: "ended", Data: raw})
}

// superseded says what became of a run that another message has replaced.
const superseded = "Another message took its place."
