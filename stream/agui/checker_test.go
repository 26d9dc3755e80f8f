package agui_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/stream/agui"
)

// A checker is a client that rejects everything that the specification forbids. It is written from
// the rules for what a producer must not do (lifecycle, streaming, tool calls, reasoning,
// subagents, activity), and shares no code with the Writer.
type checker struct {
	thread, run string
	state       string // "", "active", "finished" or "failed"

	open       map[string]string // "text m1": its owner
	owners     map[string]string // of what was ever opened in this run, by the same names
	subagents  map[string]bool   // announced: whether it is active
	mentioned  map[string]bool   // subagents that something was attributed to
	started    []string          // tool calls
	answered   map[string]bool
	activities map[string]bool // in the stream
}

func (c *checker) accept(e agui.Event) error {
	t := agui.TypeOf(e)
	switch e := e.(type) {
	case agui.RunStarted:
		if c.state == "active" {
			return fmt.Errorf("%s in an active run", t)
		}
		if c.thread != "" && c.thread != e.ThreadID {
			return fmt.Errorf("%s of another thread", t)
		}
		if e.ProtocolVersion == "" {
			return fmt.Errorf("%s without a version", t)
		}
		if c.activities == nil {
			c.activities = make(map[string]bool)
		}
		*c = checker{
			thread: e.ThreadID, run: e.RunID, state: "active", open: make(map[string]string),
			owners:    make(map[string]string),
			subagents: make(map[string]bool), mentioned: make(map[string]bool), answered: make(map[string]bool),
			activities: c.activities,
		}
		if e.Input != nil {
			c.seed(e.Input.Messages)
		}
		return nil
	case agui.RunError:
		if c.state == "failed" {
			return fmt.Errorf("%s after another", t)
		}
		c.state = "failed"
		return nil
	}
	if c.state != "active" {
		return fmt.Errorf("%s in state %q", t, c.state)
	}
	if err := c.attribution(e); err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	if err := c.inRun(e); err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	return nil
}

// attribution notes whom events are from that may say so.
func (c *checker) attribution(e agui.Event) error {
	if e, ok := e.(agui.SubagentStarted); ok && c.mentioned[e.SubagentRunID] {
		return fmt.Errorf("subagent %q is announced after an event of its", e.SubagentRunID)
	}
	if owner := owner(e); owner != "" {
		c.mentioned[owner] = true
	}
	return nil
}

func (c *checker) inRun(e agui.Event) error {
	switch e := e.(type) {
	case agui.TextMessageStart:
		return c.start("text "+e.MessageID, e.SubagentRunID)
	case agui.TextMessageContent:
		return c.goOn("text "+e.MessageID, e.SubagentRunID)
	case agui.TextMessageEnd:
		return c.end("text "+e.MessageID, e.SubagentRunID)
	case agui.ToolCallStart:
		parent, known := c.owners["text "+e.ParentMessageID]
		if known && parent != e.SubagentRunID {
			return fmt.Errorf("the call %q is from %q, its message from %q", e.ToolCallID, e.SubagentRunID, parent)
		}
		if !slices.Contains(c.started, e.ToolCallID) {
			c.started = append(c.started, e.ToolCallID)
		}
		return c.start("call "+e.ToolCallID, e.SubagentRunID)
	case agui.ToolCallArgs:
		return c.goOn("call "+e.ToolCallID, e.SubagentRunID)
	case agui.ToolCallEnd:
		return c.end("call "+e.ToolCallID, e.SubagentRunID)
	case agui.ToolCallResult:
		if _, open := c.open["call "+e.ToolCallID]; open {
			return fmt.Errorf("the call %q is open", e.ToolCallID)
		}
		c.answered[e.ToolCallID] = true
		c.owners["text "+e.MessageID] = e.SubagentRunID
	case agui.ReasoningStart:
		return c.start("span "+e.MessageID, e.SubagentRunID)
	case agui.ReasoningEnd:
		return c.end("span "+e.MessageID, e.SubagentRunID)
	case agui.ReasoningMessageStart:
		return c.start("thought "+e.MessageID, e.SubagentRunID)
	case agui.ReasoningMessageContent:
		return c.goOn("thought "+e.MessageID, e.SubagentRunID)
	case agui.ReasoningMessageEnd:
		return c.end("thought "+e.MessageID, e.SubagentRunID)
	case agui.StepStarted:
		return c.start("step "+e.SubagentRunID+" "+e.StepName, e.SubagentRunID)
	case agui.StepFinished:
		return c.end("step "+e.SubagentRunID+" "+e.StepName, e.SubagentRunID)
	case agui.SubagentStarted:
		if _, known := c.subagents[e.SubagentRunID]; known {
			return fmt.Errorf("subagent %q is announced twice", e.SubagentRunID)
		}
		if _, known := c.subagents[e.ParentSubagentRunID]; e.ParentSubagentRunID != "" && !known {
			return fmt.Errorf("the parent of %q isn't announced", e.SubagentRunID)
		}
		c.subagents[e.SubagentRunID] = true
	case agui.SubagentFinished:
		return c.endSubagent(e.SubagentRunID)
	case agui.SubagentError:
		return c.endSubagent(e.SubagentRunID)
	case agui.ActivitySnapshot:
		c.activities[e.MessageID] = true
	case agui.ActivityDelta:
		if !c.activities[e.MessageID] {
			return fmt.Errorf("there is no activity %q", e.MessageID)
		}
	case agui.MessagesSnapshot:
		return c.snapshot(e.Messages)
	case agui.RunFinished:
		return c.finish(e)
	case agui.TextMessageChunk, agui.ToolCallChunk, agui.ReasoningMessageChunk:
		return fmt.Errorf("a Writer writes no chunks")
	}
	return nil
}

func (c *checker) start(name, owner string) error {
	if _, open := c.open[name]; open {
		return fmt.Errorf("%s is open", name)
	}
	if was, known := c.owners[name]; known && was != owner {
		return fmt.Errorf("%s was from %q and is from %q", name, was, owner)
	}
	c.open[name], c.owners[name] = owner, owner
	return nil
}

func (c *checker) goOn(name, owner string) error {
	if _, open := c.open[name]; !open {
		return fmt.Errorf("%s isn't open", name)
	}
	if owner != "" && c.owners[name] != owner {
		return fmt.Errorf("%s is from %q, not %q", name, c.owners[name], owner)
	}
	return nil
}

func (c *checker) end(name, owner string) error {
	err := c.goOn(name, owner)
	delete(c.open, name)
	return err
}

func (c *checker) endSubagent(id string) error {
	if !c.subagents[id] {
		return fmt.Errorf("subagent %q isn't active", id)
	}
	c.subagents[id] = false
	for name, owner := range c.open {
		if owner == id {
			return fmt.Errorf("%s outlives its subagent", name)
		}
	}
	return nil
}

// snapshot replaces the client's messages. What is open and not in it would be dropped, and its
// next event would have no message.
func (c *checker) snapshot(messages []agui.Message) error {
	kept := make(map[string]bool)
	for _, m := range messages {
		kept["text "+m.ID], kept["thought "+m.ID] = true, true
		for _, call := range m.ToolCalls {
			kept["call "+call.ID] = true
		}
	}
	for name := range c.open {
		kind, _, _ := strings.Cut(name, " ")
		if !kept[name] && slices.Contains([]string{"text", "thought", "call"}, kind) {
			return fmt.Errorf("%s is open and isn't in the snapshot", name)
		}
	}
	if slices.ContainsFunc(messages, func(m agui.Message) bool { return m.Role == agui.RoleActivity }) {
		clear(c.activities)
	}
	c.seed(messages)
	return nil
}

func (c *checker) seed(messages []agui.Message) {
	for _, m := range messages {
		name := "text " + m.ID
		switch m.Role {
		case agui.RoleReasoning:
			name = "thought " + m.ID
			if _, known := c.owners["span "+m.ID]; known {
				c.owners["span "+m.ID] = m.SubagentRunID
			}
		case agui.RoleActivity:
			c.activities[m.ID] = true
			continue
		}
		names := []string{name}
		for _, call := range m.ToolCalls {
			names = append(names, "call "+call.ID)
		}
		for _, name := range names {
			c.owners[name] = m.SubagentRunID
			if _, open := c.open[name]; open {
				c.open[name] = m.SubagentRunID
			}
		}
	}
}

func (c *checker) finish(e agui.RunFinished) error {
	c.state = "finished"
	if e.ThreadID != c.thread || e.RunID != c.run {
		return fmt.Errorf("of another run")
	}
	if len(c.open) > 0 {
		return fmt.Errorf("open: %v", c.open)
	}
	for id, active := range c.subagents {
		if active {
			return fmt.Errorf("subagent %q is active", id)
		}
	}
	if e.Outcome.Type == agui.OutcomeSuccess {
		named := e.Outcome.PendingToolCallIDs
		for _, id := range c.started {
			if !c.answered[id] && !slices.Contains(named, id) {
				return fmt.Errorf("%q is pending, and not among %q", id, named)
			}
		}
		if slices.ContainsFunc(named, func(id string) bool { return c.answered[id] }) {
			return fmt.Errorf("one of %q has a result", named)
		}
	}
	ids := make(map[string]bool)
	for _, in := range e.Outcome.Interrupts {
		if ids[in.ID] {
			return fmt.Errorf("two interrupts %q", in.ID)
		}
		ids[in.ID] = true
	}
	return nil
}

// owner returns the subagent that e is attributed to.
func owner(e agui.Event) string {
	switch e := e.(type) {
	case agui.TextMessageStart:
		return e.SubagentRunID
	case agui.TextMessageContent:
		return e.SubagentRunID
	case agui.ToolCallStart:
		return e.SubagentRunID
	case agui.ToolCallArgs:
		return e.SubagentRunID
	case agui.ToolCallResult:
		return e.SubagentRunID
	case agui.ReasoningStart:
		return e.SubagentRunID
	case agui.ReasoningMessageStart:
		return e.SubagentRunID
	case agui.StepStarted:
		return e.SubagentRunID
	case agui.StateSnapshot:
		return e.SubagentRunID
	case agui.StateDelta:
		return e.SubagentRunID
	case agui.ActivitySnapshot:
		return e.SubagentRunID
	case agui.ActivityDelta:
		return e.SubagentRunID
	case agui.Raw:
		return e.SubagentRunID
	case agui.Custom:
		return e.SubagentRunID
	}
	return ""
}
