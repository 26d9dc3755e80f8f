package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// useChatColumns are the columns of clients with useChat, and of assistant-ui on top of it.
func useChatColumns() (columns []matrixColumn) {
	for _, c := range useChatClients {
		cells := make(map[string]matrixCell)
		for name, test := range useChatCases {
			cells[name] = matrixCell{test: func(t *testing.T) {
				t.Parallel()
				test(t, c)
			}}
		}
		columns = append(columns, matrixColumn{c.name, cells})
	}
	return columns
}

// opened opens the chat of a session whose model has a script.
func opened(t *testing.T, c *useChatClient, steps ...providertest.Step) (*site, *nodeChat) {
	t.Helper()
	cfg := scripted(steps...)
	cfg.Tools = append(cfg.Tools, tools.New(tools.Spec{Name: "break"}, func(context.Context, target) (string, error) {
		return "", fault.New(fault.Invalid, "it is broken")
	}))
	s := newSite(t, c.level, cfg)
	return s, c.open(t, s.http.URL, "s-1")
}

var useChatCases = map[string]func(t *testing.T, c *useChatClient){
	"text": func(t *testing.T, c *useChatClient) {
		_, b := opened(t, c, providertest.Say("All <b>fine</b>."), providertest.Say("Bye."))
		b.say("How is it?")
		b.ready(2, "All <b>fine</b>.")
		b.say("Thanks.")
		b.ready(4, "Bye.")
		b.asAfterAReload()
	},
	"reasoning": func(t *testing.T, c *useChatClient) {
		_, b := opened(t, c, providertest.Reply(providertest.Think("I have to look."), providertest.Say("Fine.")))
		b.say("How is it?")
		b.ready(2, "Fine.")
		require.Equal(t, "reasoning", b.Messages[1].Parts[1].Type)
		require.Equal(t, "done", b.Messages[1].Parts[1].State)
		b.asAfterAReload()
	},
	"parallel tools": func(t *testing.T, c *useChatClient) {
		look := func(page string) providertest.CallSpec {
			return providertest.CallSpec{Tool: "look", Input: object{"page": page}}
		}
		_, b := opened(t, c, providertest.Calls(look("a"), look("b"), look("c")), providertest.Say("All seen."))
		b.say("Look.")
		b.ready(2, "All seen.")
		require.Equal(t, `"saw c"`, string(b.call(2).Output))
		b.asAfterAReload()
	},
	"tool error": func(t *testing.T, c *useChatClient) {
		_, b := opened(t, c, providertest.Call("break", object{"page": "a"}), providertest.Say("It didn't work."))
		b.say("Try.")
		b.ready(2, "It didn't work.")
		require.Equal(t, "output-error", b.call(0).State)
		b.asAfterAReload()
	},
	"approve": func(t *testing.T, c *useChatClient) {
		s, b := opened(t, c, providertest.Calls(deletes("a"), deletes("b")), providertest.Say("Both gone."))
		b.say("Delete both.")
		b.ready(2, "approval-requested")
		b.decide(true, true)
		b.ready(2, "Both gone.")
		require.ElementsMatch(t, []string{"a", "b"}, s.did())
		require.EqualValues(t, 2, s.posts.Load(), "no endless resend")
		b.asAfterAReload()
	},
	"reject": func(t *testing.T, c *useChatClient) {
		s, b := opened(t, c, providertest.Calls(deletes("a")), providertest.Say("It stays."))
		b.say("Delete it.")
		b.ready(2, "approval-requested")
		b.decide(false)
		b.ready(2, "It stays.")
		require.Empty(t, s.did())
		require.Equal(t, "output-denied", b.call(0).State)
		b.asAfterAReload()
	},
	"edit": func(t *testing.T, c *useChatClient) {
		s, b := opened(t, c, providertest.Calls(deletes("a")), providertest.Say("It is gone."))
		b.say("Delete it.")
		b.ready(2, "approval-requested")
		b.do(object{"op": "send", "body": object{"decisions": []object{{"id": b.call(0).Approval.ID,
			"decision": "edit", "input": target{"a2"}}}}})
		b.ready(2, "It is gone.")
		require.Equal(t, []string{"a2"}, s.did())
		require.JSONEq(t, `{"page":"a2"}`, string(b.call(0).Input))
		b.asAfterAReload()
	},
	"front-end tool": func(t *testing.T, c *useChatClient) {
		_, b := opened(t, c, providertest.Call("choose", object{}), providertest.Say("Blue it is."))
		b.say("Choose.")
		b.ready(2, "input-available")
		b.do(object{"op": "output",
			"output": object{"tool": "choose", "toolCallId": b.call(0).ToolCallID, "output": object{"color": "blue"}}})
		b.ready(2, "Blue it is.")
		b.asAfterAReload()
	},
	"error of a front-end tool": func(t *testing.T, c *useChatClient) {
		_, b := opened(t, c, providertest.Call("choose", object{}), providertest.Say("No color, then."))
		b.say("Choose.")
		b.ready(2, "input-available")
		b.do(object{"op": "output", "output": object{"tool": "choose", "toolCallId": b.call(0).ToolCallID,
			"state": "output-error", "errorText": "There is no screen."}})
		b.ready(2, "No color, then.")
		require.Equal(t, "output-error", b.call(0).State)
		require.Contains(t, b.call(0).ErrorText, "There is no screen.")
		b.asAfterAReload()
	},
	"model error": func(t *testing.T, c *useChatClient) {
		_, b := opened(t, c, providertest.Fail(fault.Permanent), providertest.Say("Better."))
		b.say("Hello.")
		b.do(object{"op": "wait", "status": "error", "count": 2})
		require.Equal(t, "Scripted doesn't accept the request. Use another model.", b.Error)
		b.asAfterAReload()
		b.say("Again.")
		b.ready(4, "Better.")
		b.asAfterAReload()
	},
	"stop": func(t *testing.T, c *useChatClient) {
		g := newGate()
		s := newSite(t, c.level, agent.Config{Provider: g.model()})
		b := c.open(t, s.http.URL, "s-1")
		b.say("Work.")
		b.until("Working")
		b.do(object{"op": "stop"})
		b.ready(2, "The answer was stopped.")
		b.asAfterAReload()
	},
	"regenerate": func(t *testing.T, c *useChatClient) {
		_, b := opened(t, c, providertest.Say("One."), providertest.Say("Two."), providertest.Say("Three."))
		b.say("Hello.")
		b.ready(2, "One.")
		b.do(object{"op": "regenerate"})
		b.ready(2, "Two.")
		require.NotContains(t, b.shows(), "One.")
		b.do(object{"op": "regenerate", "message": b.Messages[1].ID})
		b.ready(2, "Three.")
		b.asAfterAReload()
	},
	"edit a message": func(t *testing.T, c *useChatClient) {
		_, b := opened(t, c, providertest.Say("A1."), providertest.Say("A2."), providertest.Say("A3."),
			providertest.Say("A4."))
		b.say("Q1")
		b.ready(2, "A1.")
		b.say("Q2")
		b.ready(4, "A2.")
		b.do(object{"op": "send", "message": object{"text": "Q1b", "messageId": b.Messages[0].ID}})
		b.ready(2, "A3.")
		b.asAfterAReload()
		b.do(object{"op": "cut", "count": 0}) // a new message in place of the old one
		b.say("Q1c")
		b.ready(2, "A4.")
		b.asAfterAReload()
	},
	"reload in mid-stream": func(t *testing.T, c *useChatClient) {
		g := newGate()
		s := newSite(t, c.level, agent.Config{Provider: g.model()})
		b := c.open(t, s.http.URL, "s-1")
		b.say("Work.")
		b.until("Working")
		b.close()
		b = c.open(t, s.http.URL, "s-1")
		b.until("Working")
		g.open <- struct{}{}
		b.ready(2, "Working done.")
		b.asAfterAReload()
	},
	"reload with an open approval": func(t *testing.T, c *useChatClient) {
		s, b := opened(t, c, providertest.Calls(deletes("a")), providertest.Say("It is gone."))
		b.say("Delete it.")
		b.ready(2, "approval-requested")
		b.close()
		b = c.open(t, s.http.URL, "s-1")
		b.ready(2, "approval-requested")
		b.decide(true)
		b.ready(2, "It is gone.")
		require.Equal(t, []string{"a"}, s.did())
		b.asAfterAReload()
	},
	"two clients": func(t *testing.T, c *useChatClient) {
		s, one := opened(t, c, providertest.Calls(deletes("a")), providertest.Say("It is gone."))
		one.say("Delete it.")
		one.ready(2, "approval-requested")
		two := c.open(t, s.http.URL, "s-1")
		two.ready(2, "approval-requested")
		one.decide(true)
		one.ready(2, "It is gone.")
		two.decide(false) // it is too late for that
		two.ready(2, "It is gone.")
		require.Equal(t, "output-available", two.call(0).State)
		require.Equal(t, []string{"a"}, s.did())
		two.asAfterAReload()
	},
	"message while running": func(t *testing.T, c *useChatClient) {
		g := newGate()
		s := newSite(t, c.level, agent.Config{Provider: g.model()})
		b := c.open(t, s.http.URL, "s-1")
		b.say("Work.")
		b.until("Working")
		b.say("And wash.")
		s.posted("s-1", 1)
		<-g.called
		other := c.open(t, s.http.URL, "s-1")
		other.until("Working")
		g.open <- struct{}{}
		<-g.called
		g.open <- struct{}{}
		for _, b := range []*nodeChat{b, other} {
			b.do(object{"op": "wait", "status": "ready", "count": 4, "text": "Working done.", "times": 2})
			b.asAfterAReload()
		}
	},
	"message while an approval waits": func(t *testing.T, c *useChatClient) {
		s, b := opened(t, c, providertest.Calls(deletes("a")), providertest.Say("It stays."))
		b.say("Delete it.")
		b.ready(2, "approval-requested")
		b.say("No, keep it.")
		b.ready(4, "It stays.")
		require.Equal(t, "output-denied", b.call(0).State, "the card is closed")
		require.Empty(t, s.did())
		b.asAfterAReload()
	},
	"graceful restart in mid-stream": func(t *testing.T, c *useChatClient) {
		g, store := newGate(), &journal.MapStore{}
		var handler atomic.Pointer[http.Handler]
		begin := func() *live.Hub {
			a, err := newAgent(agent.Config{Provider: g.model(), Journal: store}, func(string) {})
			require.NoError(t, err)
			hub, err := live.New(live.Config{Agent: a, Recover: 20 * time.Millisecond, Drain: 50 * time.Millisecond})
			require.NoError(t, err)
			h, err := routes(hub, c.level)
			require.NoError(t, err)
			handler.Store(&h)
			return hub
		}
		first := begin()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(*handler.Load()).ServeHTTP(w, r)
		}))
		defer server.Close()
		b := c.open(t, server.URL, "s-1")
		b.say("Work.")
		b.until("Working")
		<-g.called
		_ = first.Close()
		second := begin()
		defer second.Close()
		<-g.called
		g.open <- struct{}{}
		b.ready(2, "Working done.")
		require.Empty(t, b.Errors)
		b.asAfterAReload()
		server.CloseClientConnections()
	},
	"kill -9": func(t *testing.T, c *useChatClient) {
		dir := t.TempDir()
		first := start(t, dir, "127.0.0.1:0", true)
		b := c.open(t, "http://"+first.address, "s-1")
		b.say("Work.")
		b.until("Working")
		first.kill()
		start(t, dir, first.address, false)
		b.ready(2, "Working done.")
		b.asAfterAReload()
	},
}
