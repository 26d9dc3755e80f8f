package machine

import (
	"slices"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// Conversation returns the conversation that facts record, as a chat page shows it: what the user
// and the model said, with calls and results. facts are those of one session, in order, from its
// beginning or from a [Snapshot] on.
//
// It differs from State.Messages, which is what the model is shown. It keeps what compactions and
// context resets removed. It leaves out what the agent told the model: notes, what a send-back or
// an undo says, that a call wasn't the model's, and the input of a run that continues another's
// work, which repeats the first run's. Runs that were replaced aren't in it. The results of a
// reply's calls are in one message right after it, in call order, as far as they exist.
//
// The messages share their parts with the facts; the caller must not change them.
func Conversation(facts []Fact) []provider.Message {
	var c conversation
	for i, f := range facts {
		switch f := f.(type) {
		case *Snapshot:
			if i == 0 {
				c.snapshot(f.State)
			}
		case *RunStarted:
			if f.ContextReset == nil {
				c.start(f, facts[:i+1])
			}
		case *Steered:
			c.add(f.Message)
		case *Replied:
			c.reply(f.Message)
		case *StepFailed:
			c.add(f.Partial)
		case *ToolFinished:
			c.result(f.Result)
		}
	}
	return c.messages
}

// A conversation is a list of messages. The results of the newest reply's calls are added as they
// come.
type conversation struct {
	messages []provider.Message
	calls    []string // ids of the calls of the newest reply
	results  int      // index of the message with their results; the message exists once there is one
	// inputs are the numbers of messages before the inputs of runs, by the numbers of the facts
	// that started them.
	inputs map[uint64]int
}

// start adds the input of a run. facts are those up to the one that starts it.
func (c *conversation) start(f *RunStarted, facts []Fact) {
	if f.Replaces != nil {
		c.goBack(f, facts)
	}
	c.add(f.History...)
	if c.inputs == nil {
		c.inputs = make(map[uint64]int)
	}
	c.inputs[f.Seq] = len(c.messages)
	if f.Call == nil {
		c.add(f.Message)
	} else {
		c.reply(callMessage(f.Call))
	}
}

// goBack takes the conversation back to what it was before the run that f replaces. If that run
// started before the facts, it becomes what the model was shown of it.
func (c *conversation) goBack(f *RunStarted, facts []Fact) {
	n, known := c.inputs[f.Replaces.Start]
	c.messages, c.calls, c.results = c.messages[:n], nil, n
	if known {
		return
	}
	if m, err := Replay(f.Session(), facts...); err == nil {
		s := m.s
		s.Messages = s.Messages[:s.Run.First]
		c.snapshot(&s)
	}
}

// add adds messages that aren't empty.
func (c *conversation) add(messages ...provider.Message) {
	for _, m := range messages {
		if len(m.Parts) > 0 {
			c.messages = append(c.messages, m)
		}
	}
}

func (c *conversation) reply(m provider.Message) {
	c.add(m)
	c.calls, c.results = nil, len(c.messages)
	for _, call := range m.Calls() {
		c.calls = append(c.calls, call.ID)
	}
}

// result adds the result of one of the newest reply's calls, in call order.
func (c *conversation) result(res *ToolResult) {
	if res == nil || !slices.Contains(c.calls, res.CallID) {
		return
	}
	if c.results == len(c.messages) || c.messages[c.results].Role != provider.RoleTool {
		c.messages = slices.Insert(c.messages, c.results, provider.Message{Role: provider.RoleTool})
	}
	m := &c.messages[c.results]
	m.Parts = append(m.Parts, provider.Part{Kind: provider.PartToolResult, Result: &res.ToolResult})
	slices.SortFunc(m.Parts, func(a, b provider.Part) int {
		return slices.Index(c.calls, a.Result.CallID) - slices.Index(c.calls, b.Result.CallID)
	})
}

// snapshot adds the conversation of a state, without what the agent told the model, and the results
// that aren't in it yet.
func (c *conversation) snapshot(s *State) {
	if s == nil || s.Run == nil {
		return
	}
	for i, m := range s.Messages {
		switch {
		case i == s.Run.First && s.Run.Direct == nil:
			m.Parts = s.Input() // as the user gave it
			c.add(m)
		case !memory.IsHostMessage(&m):
			_, m.Parts = memory.Told(&m)
			c.reply(m)
		}
	}
	for i := range s.Run.Calls {
		c.result(s.Run.Calls[i].Result)
	}
}
