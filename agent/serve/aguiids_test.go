package serve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/agui"
)

// An aguiClient has the messages of a thread as a stock client has them.
type aguiClient struct{ messages []agui.Message }

func (c *aguiClient) find(id string, role agui.Role) *agui.Message {
	for i := range c.messages {
		if c.messages[i].ID == id {
			return &c.messages[i]
		}
	}
	c.messages = append(c.messages, agui.Message{ID: id, Role: role})
	return &c.messages[len(c.messages)-1]
}

func (c *aguiClient) call(id string) (message, call int) {
	for i, m := range c.messages {
		if n := slices.IndexFunc(m.ToolCalls, func(c agui.ToolCall) bool { return c.ID == id }); n >= 0 {
			return i, n
		}
	}
	return -1, -1
}

// read applies events.
func (c *aguiClient) read(all []aguiEvent) {
	for _, ev := range all {
		switch ev.Type {
		case "TEXT_MESSAGE_START":
			c.find(ev.MessageID, agui.RoleAssistant)
		case "TEXT_MESSAGE_CONTENT":
			c.find(ev.MessageID, agui.RoleAssistant).Content.Text += ev.Delta
		case "REASONING_MESSAGE_START":
			c.find(ev.MessageID, agui.RoleReasoning)
		case "REASONING_MESSAGE_CONTENT":
			c.find(ev.MessageID, agui.RoleReasoning).Content.Text += ev.Delta
		case "TOOL_CALL_START":
			if i, _ := c.call(ev.ToolCallID); i < 0 {
				m := c.find(ev.ParentMessageID, agui.RoleAssistant)
				m.ToolCalls = append(m.ToolCalls, agui.Call(ev.ToolCallID, ev.ToolCallName, ""))
			}
		case "TOOL_CALL_ARGS":
			i, n := c.call(ev.ToolCallID)
			c.messages[i].ToolCalls[n].Function.Arguments += ev.Delta
		case "TOOL_CALL_RESULT":
			at, _ := c.call(ev.ToolCallID)
			for at++; at < len(c.messages) && c.messages[at].Role == agui.RoleTool; {
				at++
			}
			c.messages = slices.Insert(c.messages, at, agui.Message{ID: ev.MessageID, Role: agui.RoleTool,
				ToolCallID: ev.ToolCallID, Content: ev.Content})
		case "MESSAGES_SNAPSHOT":
			reasons := func(m agui.Message) bool { return m.Role == agui.RoleReasoning }
			named := func(list []agui.Message, id string) int {
				return slices.IndexFunc(list, func(m agui.Message) bool { return m.ID == id })
			}
			c.messages = slices.DeleteFunc(c.messages, func(m agui.Message) bool {
				return named(ev.Messages, m.ID) < 0 && (!reasons(m) || slices.ContainsFunc(ev.Messages, reasons))
			})
			for _, m := range ev.Messages {
				if i := named(c.messages, m.ID); i >= 0 {
					c.messages[i] = m
				} else {
					c.messages = append(c.messages, m)
				}
			}
		}
	}
}

// said returns the messages as "role: text name(input)".
func (c *aguiClient) said() (out []string) {
	for _, m := range c.messages {
		text := m.Content.Text
		for _, call := range m.ToolCalls {
			text += " " + call.Function.Name + "(" + call.Function.Arguments + ")"
		}
		out = append(out, string(m.Role)+": "+strings.TrimSpace(text))
	}
	return out
}

// aguiThread is the answer of GET agui/messages.
type aguiThread struct {
	Messages           []agui.Message
	Interrupts         []agui.Interrupt
	PendingToolCallIDs []string
	Running            bool
	Error              string
}

func (s *site) aguiThread(who, thread string) (out aguiThread) {
	s.t.Helper()
	s.must(who, "GET", "agui/messages?thread="+thread, nil, &out)
	return out
}

// post posts a message after those that the client has.
func (c *aguiClient) post(s *site, id, text string, more ...obj) []aguiEvent {
	s.t.Helper()
	c.messages = append(c.messages, agui.Message{ID: id, Role: agui.RoleUser, Content: agui.Text(text)})
	return c.run(s, more...)
}

// run posts what the client has.
func (c *aguiClient) run(s *site, more ...obj) []aguiEvent {
	s.t.Helper()
	body := obj{"threadId": "t-1", "messages": slices.Clone(c.messages)}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	all := s.aguiRun("ann", body)
	c.read(all)
	return all
}

func TestTheMessagesOfAGUIAreTheSameInStreamSnapshotAndHistory(t *testing.T) {
	s := newSite(t, serve.Config{},
		providertest.Reply(providertest.Think("Look first."), providertest.Say("I look."),
			providertest.Calls(providertest.CallSpec{Tool: "look", Input: Page{"home"}},
				providertest.CallSpec{Tool: "delete", Input: Page{"old"}},
				providertest.CallSpec{Tool: "look", Input: Page{"blog"}})),
		providertest.Reply(providertest.Think("So."), providertest.Say("Done.")),
		providertest.Calls(providertest.CallSpec{Tool: "look", Input: Page{"x"}}), providertest.Say("Saw x."))
	var c aguiClient
	all := c.post(s, "u-1", "Clean up.")
	require.Equal(t, []string{"user: Clean up.", "reasoning: Look first.",
		`assistant: I look. look({"page":"home"}) delete({"page":"old"}) look({"page":"blog"})`,
		"tool: saw home", "tool: saw blog"}, c.said())
	var streamed aguiClient
	streamed.read(slices.DeleteFunc(slices.Clone(all), func(ev aguiEvent) bool {
		return ev.Type == "MESSAGES_SNAPSHOT"
	}))
	require.Equal(t, streamed.messages, c.messages[1:], "the snapshot before an interrupt changes nothing")

	interrupts := outcome(t, all).Outcome.Interrupts
	thread := s.aguiThread("ann", "t-1")
	require.Equal(t, interrupts, thread.Interrupts)
	require.Equal(t, c.messages[1:], thread.Messages[1:])

	resume := obj{"resume": []obj{{"interruptId": interrupts[0].ID, "status": "resolved",
		"payload": obj{"approved": true}}}}
	c.run(s, resume)
	require.Equal(t, []string{"tool: saw home", "tool: saw blog", "tool: deleted old", "reasoning: So.",
		"assistant: Done."}, c.said()[3:])
	c.post(s, "u-2", "And x?")
	require.Equal(t, []string{"user: And x?", `assistant: look({"page":"x"})`, "tool: saw x", "assistant: Saw x."},
		c.said()[8:])
	before := slices.Clone(c.messages)
	c.run(s, resume)
	require.Equal(t, before, c.messages, "a repeated answer changes nothing")

	thread = s.aguiThread("ann", "t-1")
	require.Empty(t, thread.Interrupts)
	require.False(t, thread.Running)
	for i, m := range thread.Messages {
		if m.Role == agui.RoleUser {
			thread.Messages[i].ID = before[i].ID // a client's own ids aren't stored
		}
	}
	require.Equal(t, before, thread.Messages)
	require.Equal(t, 404, s.refused("bob", "GET", "agui/messages?thread=t-1", nil).Status)

	reloaded := aguiClient{messages: s.aguiThread("ann", "t-1").Messages}
	before = slices.Clone(reloaded.messages)
	all = s.aguiRun("ann", obj{"threadId": "t-1", "messages": before})
	reloaded.read(all)
	require.Equal(t, before, reloaded.messages, "a client that was loaded again has the same ids from then on")
}

func TestARetriedReplyOfAGUIKeepsItsIds(t *testing.T) {
	reply := providertest.Reply(providertest.Think("hm"), providertest.SayChunks("One ", "two ", "three."))
	s := newSite(t, serve.Config{},
		providertest.FailAfter(4, reply, fault.Transient, providertest.RetryAfter(0)), reply)
	var c aguiClient
	c.post(s, "u-1", "Count.")
	require.Equal(t, []string{"user: Count.", "reasoning: hm", "assistant: One two three."}, c.said())
	require.Equal(t, c.messages[1:], s.aguiThread("ann", "t-1").Messages[1:])
}

func TestAFailedRunOfAGUIIsVisibleAfterAReload(t *testing.T) {
	s := newSite(t, serve.Config{})
	var c aguiClient
	all := c.post(s, "u-1", "x")
	require.Equal(t, all[len(all)-1].Message, s.aguiThread("ann", "t-1").Error)
}

func TestAClientOfAGUIConnectsToAThread(t *testing.T) {
	model, g := held(1)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	empty := aguiEvents(t, s.request("ann", "POST", "agui/connect",
		obj{"threadId": "t-1", "runId": "r", "messages": []obj{}}))
	var kinds []string
	for _, ev := range empty {
		kinds = append(kinds, ev.Type)
	}
	require.Equal(t, []string{"RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"}, kinds)
	s.must("ann", "POST", "sessions/send", obj{"session": "t-1", "text": "Go."}, nil)
	<-g.called
	require.True(t, s.aguiThread("ann", "t-1").Running)
	read := make(chan []aguiEvent)
	go func() {
		res := s.request("ann", "POST", "agui/connect", obj{"threadId": "t-1", "runId": "r", "messages": []obj{}})
		read <- aguiEvents(t, res)
	}()
	g.open <- struct{}{}
	var c aguiClient
	c.read(<-read)
	require.Equal(t, s.aguiThread("ann", "t-1").Messages, c.messages)
	require.Len(t, c.messages, 2)
}

func TestAMessageWithoutAnIDIsNoRepetition(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("One."), providertest.Say("Two."))
	all := s.aguiRun("ann", obj{"threadId": "t", "messages": user("", "First")})
	require.Equal(t, "One.", text(all))
	said := all[slices.IndexFunc(all, func(ev aguiEvent) bool { return ev.Type == "TEXT_MESSAGE_START" })]
	messages := append(user("", "First"),
		obj{"id": said.MessageID, "role": "assistant", "content": "One."},
		obj{"id": "", "role": "user", "content": "Second"})
	for range 2 { // the second time it is one
		s.aguiRun("ann", obj{"threadId": "t", "runId": "r-2", "messages": messages})
		conversation, err := s.agent.Session("t").Messages(t.Context())
		require.NoError(t, err)
		require.Len(t, conversation, 4)
		require.Equal(t, "Two.", conversation[3].Text())
	}
}
