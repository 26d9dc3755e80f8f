package serve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/agui"
	"github.com/pawlkit/pawl/tools"
)

// edit replaces a message and what follows it by another, and posts that.
func (c *aguiClient) edit(s *site, i int, id, text string) []aguiEvent {
	s.t.Helper()
	c.messages = c.messages[:i:i]
	return c.post(s, id, text)
}

// again posts the messages up to one.
func (c *aguiClient) again(s *site, i int) {
	s.t.Helper()
	c.messages = c.messages[:i:i]
	c.run(s)
}

// requireHistory requires that a reload shows what the client shows.
func (c *aguiClient) requireHistory(s *site) {
	s.t.Helper()
	loaded := aguiClient{messages: s.aguiThread("ann", "t-1").Messages}
	require.Equal(s.t, c.said(), loaded.said())
}

func TestAMessageOfAGUIReplacesWhatFollowsItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*site, *aguiClient)
		want string // what the client shows afterwards, and after a reload
	}{
		"the same id and other text": {func(s *site, c *aguiClient) { c.edit(s, 2, "two", "2b") }, "one A 2b D"},
		"a new id":                   {func(s *site, c *aguiClient) { c.edit(s, 2, "new", "2b") }, "one A 2b D"},
		"the first message":          {func(s *site, c *aguiClient) { c.edit(s, 0, "one", "1b") }, "1b D"},
		"the first message, new id":  {func(s *site, c *aguiClient) { c.edit(s, 0, "new", "1b") }, "1b D"},
		"the newest message": {func(s *site, c *aguiClient) { c.edit(s, 4, "three", "3b") },
			"one A two B 3b D"},
		"another answer":        {func(s *site, c *aguiClient) { c.again(s, 5) }, "one A two B three D"},
		"another first answer":  {func(s *site, c *aguiClient) { c.again(s, 1) }, "one D"},
		"another answer, twice": {func(s *site, c *aguiClient) { c.again(s, 3); c.again(s, 3) }, "one A two E"},
		"there and back": {func(s *site, c *aguiClient) {
			c.edit(s, 2, "two", "2b")
			c.edit(s, 2, "two", "two")
		}, "one A two E"},
		"after a reload": {func(s *site, c *aguiClient) {
			c.messages = s.aguiThread("ann", "t-1").Messages
			c.edit(s, 2, c.messages[2].ID, "2b")
		}, "one A 2b D"},
		"after a reload, another answer": {func(s *site, c *aguiClient) {
			c.messages = s.aguiThread("ann", "t-1").Messages
			c.again(s, 3)
		}, "one A two D"},
		"and goes on": {func(s *site, c *aguiClient) {
			c.edit(s, 2, "two", "2b")
			c.post(s, "four", "four")
		}, "one A 2b D four E"},
		"after what another client has replaced": {func(s *site, c *aguiClient) {
			other := aguiClient{messages: slices.Clone(c.messages)}
			other.edit(s, 2, "two", "2b")
			c.post(s, "four", "four")
		}, "one A 2b D four E"},
		"after what another client has added": {func(s *site, c *aguiClient) {
			other := aguiClient{messages: slices.Clone(c.messages)}
			other.post(s, "four", "four")
			c.post(s, "five", "five")
		}, "one A two B three C five E"},
	} {
		t.Run(name, func(t *testing.T) {
			script := providertest.Script(providertest.Say("A"), providertest.Say("B"), providertest.Say("C"),
				providertest.Say("D"), providertest.Say("E"))
			s := newSiteOf(t, agent.Config{Provider: script}, serve.Config{})
			var client aguiClient
			for _, text := range []string{"one", "two", "three"} {
				client.post(s, text, text)
			}
			c.then(s, &client)
			var shown []string
			for _, m := range client.messages {
				shown = append(shown, m.Content.Text)
			}
			require.Equal(t, c.want, strings.Join(shown, " "))
			client.requireHistory(s)
			said := saidTo(script)
			require.Equal(t, shown[:len(shown)-1], said[len(said)-1], "the model doesn't read what was replaced")
		})
	}
}

func TestAMessageOfAGUIThatWasPrunedCannotBeReplaced(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("A"), providertest.Say("B"), providertest.Say("C"))
	var c aguiClient
	c.post(s, "u-1", "one")
	c.post(s, "u-2", "two")
	s.wait("t-1")
	_, err := s.agent.Session("t-1").Prune(t.Context())
	require.NoError(t, err)
	require.Equal(t, serve.CodeBad, s.refused("ann", "POST", "agui",
		obj{"threadId": "t-1", "runId": "r", "messages": user("u-1", "1b")}).Code)
	c.messages = s.aguiThread("ann", "t-1").Messages
	c.post(s, "u-3", "three")
	require.Equal(t, []string{"user: one", "assistant: A", "user: two", "assistant: B", "user: three", "assistant: C"},
		c.said())
	c.requireHistory(s)
}

// slow returns a tool that waits.
func slow() (tool tools.Tool, called, goOn chan struct{}) {
	called, goOn = make(chan struct{}), make(chan struct{})
	return tools.New(tools.Spec{Name: "slow"}, func(ctx context.Context, _ Page) (string, error) {
		close(called)
		select {
		case <-goOn:
			return "slept", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}), called, goOn
}

func TestAMessageOfAGUIDuringARunIsSentToIt(t *testing.T) {
	tool, called, goOn := slow()
	script := providertest.Script(
		providertest.Reply(providertest.Say("I sleep."), providertest.Call("slow", Page{"a"})),
		providertest.Say("Both done."))
	s := newSiteOf(t, agent.Config{Provider: script, Tools: []tools.Tool{tool}}, serve.Config{})
	var one, two aguiClient
	first, second := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(first)
		one.post(s, "u-1", "Sleep.")
	}()
	<-called
	two.messages = s.aguiThread("ann", "t-1").Messages
	go func() {
		defer close(second)
		two.post(s, "u-2", "And wash.")
	}()
	s.until(func() bool { return s.store.posted("t-1") })
	close(goOn)
	<-first
	<-second
	require.Contains(t, saidTo(script)[1], "And wash.", "it is in the next request")
	require.Equal(t, []string{"user: Sleep.", `assistant: I sleep. slow({"page":"a"})`, "tool: slept",
		"user: And wash.", "assistant: Both done."}, two.said())
	two.requireHistory(s)
}

func TestAnEditOfAGUIStopsTheAnswerInProgress(t *testing.T) {
	model, g := held(1)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "t-1", "text": "x"}, nil)
	<-g.called
	c := aguiClient{messages: s.aguiThread("ann", "t-1").Messages}
	c.edit(s, 0, c.messages[0].ID, "y")
	require.Equal(t, []string{"user: y", "assistant: Working done."}, c.said())
	c.requireHistory(s)
}

func TestAMessageOfAGUIThatTheRunAnswersIsNotSentToItAgain(t *testing.T) {
	model, g := held(1)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "t-1", "text": "x"}, nil)
	<-g.called
	c := aguiClient{messages: s.aguiThread("ann", "t-1").Messages}
	g.open <- struct{}{}
	c.run(s)
	require.Equal(t, []string{"user: x", "assistant: Working done."}, c.said())
	c.requireHistory(s)
}

func TestAMessageOfAGUIClosesWhatWaits(t *testing.T) {
	for name, resume := range map[string]bool{"alone": false, "with all interrupts cancelled": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, serve.Config{KeepApprovals: resume},
				providertest.Reply(providertest.Say("Now?"), providertest.Call("delete", Page{"a"})),
				providertest.Say("Kept."))
			var c aguiClient
			interrupts := outcome(t, c.post(s, "u-1", "Delete it.")).Outcome.Interrupts
			if resume {
				c.post(s, "u-2", "No.", obj{"resume": []obj{{"interruptId": interrupts[0].ID, "status": "cancelled"}}})
			} else {
				c.post(s, "u-2", "No.")
			}
			require.Empty(t, s.did())
			require.Empty(t, s.aguiThread("ann", "t-1").Interrupts)
			require.Equal(t, []string{"user: No.", "assistant: Kept."}, c.said()[len(c.messages)-2:])
			c.requireHistory(s)
		})
	}
}

func TestKeptApprovalsRefuseAMessageOfAGUI(t *testing.T) {
	s := newSite(t, serve.Config{KeepApprovals: true}, providertest.Call("delete", Page{"a"}),
		providertest.Say("Deleted."), providertest.Say("Bye."))
	var c aguiClient
	interrupts := outcome(t, c.post(s, "u-1", "Delete it.")).Outcome.Interrupts
	before := slices.Clone(c.messages)
	body := obj{"threadId": "t-1", "runId": "r", "messages": user("u-2", "No.")}
	require.Equal(t, serve.CodePaused, s.refused("ann", "POST", "agui", body).Code)
	res := s.request("ann", "POST", "agui", body, "Accept", "text/event-stream")
	require.Equal(t, 200, res.StatusCode)
	all := events(t, res, nil)
	require.Len(t, all, 1)
	require.JSONEq(t, `{"type":"RUN_ERROR","code":"paused",
		"message":"Something waits for your decision. Decide first, then send the message again."}`, string(all[0].Data))

	c.messages = before
	c.post(s, "u-2", "Thanks.", obj{"resume": []obj{{"interruptId": interrupts[0].ID, "status": "resolved",
		"payload": obj{"approved": true}}}})
	require.Equal(t, []string{"a"}, s.did(), "the answer comes before the message")
	said := c.said()
	require.NotContains(t, said[:3], "user: Thanks.")
	at := slices.Index(said, "user: Thanks.") // before or after what the model says of the call
	require.GreaterOrEqual(t, at, 3)
	require.NotContains(t, said[at+1:], "user: Thanks.")
	require.Contains(t, said[at+1:], said[len(said)-1], "it is answered")
	require.Regexp(t, `^assistant: (Deleted|Bye)\.$`, said[len(said)-1])
}

func pick(_ *http.Request, in *agent.Input) error {
	in.Tools = []tools.Tool{tools.External(tools.Spec{Name: "pick", Description: "Let the user pick a color."})}
	return nil
}

// A client adds a result to its call, so that it needn't be the last message.
func TestResultsOfTheFrontEndAreTakenAnywhere(t *testing.T) {
	for name, add := range map[string]func(*aguiClient, agui.Message){
		"last": func(c *aguiClient, m agui.Message) { c.messages = append(c.messages, m) },
		"after the call": func(c *aguiClient, m agui.Message) {
			at, _ := c.call(m.ToolCallID)
			c.messages = slices.Insert(c.messages, at+1, m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, serve.Config{Input: pick},
				providertest.Reply(providertest.Call("pick", obj{}), providertest.Say("Which one?")),
				providertest.Say("Blue it is."))
			var client aguiClient
			all := client.post(s, "u-1", "Pick.")
			calls := outcome(t, all).Outcome.PendingToolCallIDs
			require.Len(t, calls, 1)
			require.Equal(t, calls, s.aguiThread("ann", "t-1").PendingToolCallIDs)
			require.Equal(t, calls, outcome(t, client.run(s)).Outcome.PendingToolCallIDs, "and whoever comes later")
			add(&client, agui.Message{ID: "x", Role: agui.RoleTool, ToolCallID: calls[0],
				Content: agui.Text("blue")})
			require.Equal(t, "Blue it is.", text(client.run(s)))
			require.Len(t, slices.DeleteFunc(slices.Clone(client.messages), func(m agui.Message) bool {
				return m.Role != agui.RoleTool
			}), 1, "the client has the result once")
		})
	}
}

func TestResultsOfTheFrontEndComeBesideAnswers(t *testing.T) {
	s := newSite(t, serve.Config{Input: pick}, providertest.Calls(
		providertest.CallSpec{Tool: "pick", Input: obj{}}, providertest.CallSpec{Tool: "delete", Input: Page{"a"}}),
		providertest.Say("Done."))
	var c aguiClient
	interrupts := outcome(t, c.post(s, "u-1", "Pick.")).Outcome.Interrupts
	require.Len(t, interrupts, 1, "people aren't asked for what the front end does")
	resume := obj{"resume": []obj{{"interruptId": interrupts[0].ID, "status": "resolved",
		"payload": obj{"approved": true}}}}
	calls := s.aguiThread("ann", "t-1").PendingToolCallIDs
	c.messages = append(c.messages, agui.Message{ID: "x", Role: agui.RoleTool, ToolCallID: calls[0],
		Content: agui.Text("blue")})
	require.Equal(t, "Done.", text(c.run(s, resume)))
	raw, err := json.Marshal(c.messages)
	require.NoError(t, err)
	require.Contains(t, string(raw), "blue")
}

func TestAnEditedCallOfAGUIShowsItsNewInput(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"a"}), providertest.Say("Done."))
	var c aguiClient
	interrupts := outcome(t, c.post(s, "u-1", "Delete it.")).Outcome.Interrupts
	c.run(s, obj{"resume": []obj{{"interruptId": interrupts[0].ID, "status": "resolved",
		"payload": obj{"approved": true, "editedArgs": Page{"z"}}}}})
	require.Equal(t, []string{"user: Delete it.", `assistant: delete({"page":"z"})`, c.said()[2],
		"assistant: Done."}, c.said())
	c.requireHistory(s)
}
