package serve

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// A chatMap turns the events of one turn into the chunks of a message.
type chatMap struct {
	put func(uimessage.Chunk) error

	run    string                                  // that has begun; empty before
	from   uint64                                  // the number of the fact with which the turn begins
	left   bool                                    // another turn has begun
	step   int                                     // how many steps have begun
	shown  display.Reply                           // of the reply in progress
	nested map[string]string                       // the calls of subagents, by their pauses
	open   []string                                // those of these pauses that wait
	asked  map[string]uimessage.ToolInputAvailable // the calls that need approval, by their pauses
	// with which the message ends if the run doesn't go on; nil unless it has ended or paused
	ending []uimessage.Chunk

	// reasoning has the parts of reasoning of the reply in progress: true if they have ended
	reasoning map[int]bool
	resumed   map[int]int // how often each has gone on after it was ended
}

func newChatMap(put func(uimessage.Chunk) error) *chatMap {
	return &chatMap{put: put, nested: make(map[string]string), asked: make(map[string]uimessage.ToolInputAvailable)}
}

// follow makes the map begin with a turn that doesn't begin with its run. The message begins with
// its first content.
func (c *chatMap) follow(t turn) {
	if c.from = t.from; t.runs || t.id == t.run {
		return
	}
	c.run = t.run
	put, begun := c.put, false
	c.put = func(chunk uimessage.Chunk) error {
		if !begun {
			begun = true
			if err := put(uimessage.Start{MessageID: t.id}); err != nil {
				return err
			}
		}
		return put(chunk)
	}
}

// event puts the chunks of an event. Events before the beginning of a run are left out.
func (c *chatMap) event(ev agent.Event) error {
	meta := ev.Envelope()
	if start, ok := ev.(*agent.RunStarted); ok {
		return c.begin(start)
	}
	if c.run == "" || c.left {
		return nil
	}
	switch ev := ev.(type) {
	case *machine.Continued:
		c.ending = nil
		return nil
	case *agent.StepStarted:
		c.ending = nil
		return c.beginStep()
	case *agent.Reset:
		c.shown, c.reasoning, c.resumed = display.Reply{}, nil, nil
		return c.put(uimessage.ResetStep{})
	case *agent.Lagged:
		c.shown.Repeated = true
		return nil
	case *agent.TextDelta, *agent.ReasoningDelta, *agent.CallBegun, *agent.CallDelta, *agent.PartAdded:
		return c.note(ev)
	case *agent.Replied:
		return c.reply(&ev.Message)
	case *machine.StepFailed:
		return c.reply(&ev.Partial)
	case *agent.Suspended:
		return c.suspended(ev.Pause)
	case *machine.Decided:
		c.ending = nil
		return c.decided(&ev.Decision)
	case *agent.ToolFinished:
		return c.finished(ev)
	case *machine.Steered:
		return c.steered(ev)
	case *machine.Emitted:
		return c.data(ev.Kind, meta.Seq, ev.Value)
	case *machine.ModeChanged:
		return c.data("mode", meta.Seq, map[string]string{"mode": ev.To})
	case *agent.Shown:
		return c.put(uimessage.Data{Name: ev.Kind, Data: ev.Value, Transient: true})
	case *agent.Waiting:
		return c.transient("waiting", ev.Wait)
	case *agent.Progress:
		return c.transient("progress",
			map[string]any{"call": meta.Call, "tool": ev.Tool, "text": ev.Text, "done": ev.Done})
	case *agent.RunEnded:
		return c.end(ev)
	}
	return nil
}

// begin begins the message, unless the run continues the work of the one before.
func (c *chatMap) begin(f *agent.RunStarted) error {
	if f.ContextReset != nil && c.run != "" {
		return nil
	}
	if c.run != "" {
		c.left = true
		return nil
	}
	c.run = f.Run()
	if err := c.put(uimessage.Start{MessageID: f.Run()}); err != nil {
		return err
	}
	if f.Call == nil {
		return nil
	}
	if err := c.beginStep(); err != nil {
		return err
	}
	return c.call(f.Call)
}

// steered ends the message: what answers a message to the run in progress is one of its own.
func (c *chatMap) steered(f *machine.Steered) error {
	if f.Seq <= c.from {
		return nil
	}
	c.left, c.ending = true, []uimessage.Chunk{uimessage.Finish{FinishReason: "stop"}}
	return c.transient("steered", map[string]string{"text": f.Message.Text()})
}

func (c *chatMap) beginStep() error {
	c.step++
	c.shown, c.reasoning, c.resumed = display.Reply{}, nil, nil
	return c.put(uimessage.StartStep{})
}

// part returns the id of a part of the reply in progress.
func (c *chatMap) part(index int) string {
	return c.run + "." + strconv.Itoa(c.step) + "." + strconv.Itoa(index)
}

// thought returns the id of a part of reasoning: another one each time that it goes on after it was
// ended.
func (c *chatMap) thought(index int) string {
	if n := c.resumed[index]; n > 0 {
		return c.part(index) + "-" + strconv.Itoa(n)
	}
	return c.part(index)
}

// note puts a piece of the reply in progress.
func (c *chatMap) note(ev agent.Event) error {
	switch ev := ev.(type) {
	case *agent.TextDelta:
		if err := c.thoughtUntil(ev.Index); err != nil {
			return err
		}
		return c.put(uimessage.TextDelta{ID: c.part(ev.Index), Delta: c.shown.Piece(ev.Index, ev.Text)})
	case *agent.ReasoningDelta:
		if err := c.thoughtUntil(ev.Index); err != nil {
			return err
		}
		piece := c.shown.Piece(ev.Index, ev.Text)
		if c.reasoning[ev.Index] && piece == "" { // a reader that was too slow gets it once more
			return nil
		}
		if c.reasoning == nil {
			c.reasoning, c.resumed = make(map[int]bool), make(map[int]int)
		}
		if c.reasoning[ev.Index] { // pieces of another part came in between
			c.resumed[ev.Index]++
		}
		c.reasoning[ev.Index] = false
		return c.put(uimessage.ReasoningDelta{ID: c.thought(ev.Index), Delta: piece})
	case *agent.CallBegun:
		if !c.shown.First(ev.Index) {
			return nil
		}
		if err := c.thoughtUntil(ev.Index); err != nil {
			return err
		}
		return c.put(uimessage.ToolInputStart{ToolCallID: ev.Call, ToolName: ev.Name})
	case *agent.CallDelta:
		return c.put(uimessage.ToolInputDelta{ToolCallID: ev.Call, InputTextDelta: c.shown.Piece(ev.Index, ev.Text)})
	case *agent.PartAdded:
		if !display.Complete(ev.Part) || !c.shown.First(ev.Index) {
			return nil
		}
		return c.whole(ev.Part, ev.Index)
	}
	return nil
}

// thoughtUntil ends the parts of reasoning before the part of an index. A reader that was too slow
// may still lack some of them.
func (c *chatMap) thoughtUntil(index int) error {
	if c.shown.Repeated {
		return nil
	}
	for i, ended := range c.reasoning {
		if ended || i >= index {
			continue
		}
		c.reasoning[i] = true
		if err := c.put(uimessage.ReasoningEnd{ID: c.thought(i)}); err != nil {
			return err
		}
	}
	return nil
}

// reply puts what of a reply wasn't shown while it came.
func (c *chatMap) reply(m *provider.Message) error {
	for i := range m.Parts {
		p := &m.Parts[i]
		if !display.Complete(p) {
			continue
		}
		var err error
		switch id := c.part(i); p.Kind {
		case provider.PartText, provider.PartRefusal:
			if rest := c.shown.Rest(i, p.Text); rest != "" {
				err = c.put(uimessage.TextDelta{ID: id, Delta: rest})
			}
			if err == nil && p.Text != "" {
				err = c.put(uimessage.TextEnd{ID: id})
			}
		case provider.PartReasoning:
			rest := c.shown.Rest(i, p.Text)
			if rest != "" {
				if c.reasoning[i] {
					c.resumed[i]++
				}
				err = c.put(uimessage.ReasoningDelta{ID: c.thought(i), Delta: rest})
			}
			if err == nil && p.Text != "" && (rest != "" || !c.reasoning[i]) {
				err = c.put(uimessage.ReasoningEnd{ID: c.thought(i)})
			}
		case provider.PartToolCall:
			err = c.call(p.Call)
		default:
			if c.shown.First(i) {
				err = c.whole(p, i)
			}
		}
		if err != nil && !ungrammatical(err) {
			return err
		}
	}
	c.shown, c.reasoning, c.resumed = display.Reply{}, nil, nil
	return nil
}

// ungrammatical reports that a chunk was refused. A hook may have changed a reply after it was
// shown.
func ungrammatical(err error) bool {
	var wrong *uimessage.GrammarError
	return errors.As(err, &wrong)
}

// call puts the whole input of a call.
func (c *chatMap) call(call *provider.ToolCall) error {
	if call.Invalid != "" {
		raw, _ := json.Marshal(call.Invalid)
		return c.put(uimessage.ToolInputError{ToolCallID: call.ID, ToolName: call.Name, Input: raw,
			ErrorText: "The input isn't valid JSON."})
	}
	return c.put(uimessage.ToolInputAvailable{ToolCallID: call.ID, ToolName: call.Name, Input: orEmpty(call.Input)})
}

func orEmpty(input json.RawMessage) json.RawMessage {
	if len(input) == 0 {
		return json.RawMessage("{}")
	}
	return input
}

// whole puts a part that comes whole.
func (c *chatMap) whole(p *provider.Part, index int) error {
	switch p.Kind {
	case provider.PartSource:
		if p.Source.URL == "" {
			return c.put(uimessage.SourceDocument{SourceID: c.part(index), MediaType: "text/plain",
				Title: p.Source.Title})
		}
		return c.put(uimessage.SourceURL{SourceID: c.part(index), URL: p.Source.URL, Title: p.Source.Title})
	case provider.PartMedia:
		return c.put(uimessage.File{URL: mediaURL(p.Media), MediaType: p.Media.Type})
	case provider.PartProviderCall:
		return c.put(uimessage.ToolInputAvailable{ToolCallID: c.providerCall(p.Call.ID), ToolName: p.Call.Name,
			Input: orEmpty(p.Call.Input), ProviderExecuted: true, Dynamic: true})
	case provider.PartProviderResult:
		return c.put(uimessage.ToolOutputAvailable{ToolCallID: c.providerCall(p.Result.CallID),
			Output: output(p.Result.Parts), ProviderExecuted: true, Dynamic: true})
	}
	return nil
}

// providerCall returns the id of a call that the provider has run. Its own id is unique in a reply
// only.
func (c *chatMap) providerCall(id string) string { return fmt.Sprintf("%s.%d.%s", c.run, c.step, id) }

// mediaURL returns media as a URL.
func mediaURL(m *provider.Media) string {
	if len(m.Data) > 0 {
		return "data:" + m.Type + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
	}
	return m.URL
}

// data puts data that is part of the message. Its id is the number of its fact, so that a
// repetition replaces it.
func (c *chatMap) data(name string, seq uint64, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.put(uimessage.Data{Name: name, ID: strconv.FormatUint(seq, 10), Data: raw})
}

func (c *chatMap) transient(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.put(uimessage.Data{Name: name, Data: raw, Transient: true})
}
