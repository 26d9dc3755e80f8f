package doors

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/mcpserver"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type obj = map[string]any

// A door is a way in which a decision reaches a run.
type door struct {
	open func(w *world) // prepares the world; nil: ann's agent asks for the refund itself
	// decide has a user approve what the session waits for.
	decide func(w *world, user string) outcome
	// owners says that only the owner of a session reaches it. Somebody else decides elsewhere
	// then.
	owners bool
	// posts says that the door can't know who may decide: what it takes is checked by the run.
	posts bool
}

var doors = map[string]door{
	"agent.Run": {decide: func(w *world, user string) outcome {
		_, err := w.agent.Run(w.t.Context(), agent.Resume("s", agent.Approve(w.open().ID).By(user)))
		return outcomeOf(w.t, err)
	}},
	"Session.Decide": {decide: func(w *world, user string) outcome {
		return outcomeOf(w.t, w.agent.Session("s").Decide(w.t.Context(), agent.Approve(w.open().ID).By(user)))
	}},
	"Session.Decide always": {decide: func(w *world, user string) outcome {
		return outcomeOf(w.t, w.agent.Session("s").Decide(w.t.Context(), agent.AllowAlways(w.open().ID).By(user)))
	}},
	"live.Hub": {decide: func(w *world, user string) outcome {
		started, err := w.hub.Decide(w.t.Context(), "s", agent.Approve(w.open().ID).By(user))
		if err == nil {
			<-started.Done
		}
		return outcomeOf(w.t, err)
	}},
	"serve sessions/decide": {decide: func(w *world, user string) outcome {
		return w.post(user, "/sessions/decide",
			obj{"session": "s", "decisions": []obj{{"id": w.open().ID, "decision": "approve"}}})
	}},
	"serve chat": {decide: func(w *world, user string) outcome {
		return w.post(user, "/chat", obj{"id": "s", "trigger": "submit-message",
			"messages":  []obj{{"id": "m", "role": "assistant", "parts": []obj{}}},
			"decisions": []obj{{"id": w.open().ID, "decision": "approve"}}})
	}},
	"serve agui": {decide: func(w *world, user string) outcome {
		return w.post(user, "/agui", obj{"threadId": "s", "runId": "r", "messages": []obj{}, "tools": []obj{},
			"context": []obj{}, "state": obj{}, "forwardedProps": obj{}, "resume": []obj{{"interruptId": w.open().ID,
				"status": "resolved", "payload": obj{"approved": true}}}})
	}},
	"serve.Approvals": {decide: func(w *world, user string) outcome {
		return w.approvals(user, map[string]*agent.Agent{"desk": w.agent})
	}},
	"serve.Approvals without an agent": {posts: true, decide: func(w *world, user string) outcome {
		return w.approvals(user, nil)
	}},
	"approvals.Inbox": {decide: func(w *world, user string) outcome {
		return w.inbox(user, map[string]*agent.Agent{"desk": w.agent})
	}},
	"approvals.Inbox without an agent": {posts: true, decide: func(w *world, user string) outcome {
		return w.inbox(user, nil)
	}},
	"terminal": {decide: func(w *world, user string) outcome {
		var out bytes.Buffer
		_, err := terminal.Run(w.t.Context(), w.hub, terminal.Config{Session: "s", Input: agent.Input{User: user},
			In: strings.NewReader("y\n"), Out: &out})
		require.NoError(w.t, err)
		switch text := out.String(); {
		case strings.Contains(text, "aren't known now"):
			return later
		case strings.Contains(text, "Not accepted"):
			return forbidden
		}
		return taken
	}},
	"MCP": {owners: true, decide: mcpDoor},
	"a subagent's call": {open: func(w *world) {
		child, err := agent.New(agent.Config{Name: "till", Roles: w.roles, Tools: []tools.Tool{w.refund()},
			Provider: providertest.Script(providertest.Call("refund", amount{500}), providertest.Say("Done."))})
		require.NoError(w.t, err)
		w.use(agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})},
			Provider: providertest.Script(providertest.Call("till", agent.Task{Task: "refund"}),
				providertest.Say("Done."))})
	}, decide: func(w *world, user string) outcome {
		return outcomeOf(w.t, w.agent.Session("s").Decide(w.t.Context(), agent.Approve(w.open().ID).By(user)))
	}},
	"a subagent's call, without an agent": {posts: true, open: func(w *world) {
		child, err := agent.New(agent.Config{Name: "till", Roles: w.roles, Tools: []tools.Tool{w.refund()},
			Provider: providertest.Script(providertest.Call("refund", amount{500}), providertest.Say("Done."))})
		require.NoError(w.t, err)
		w.use(agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})},
			Provider: providertest.Script(providertest.Call("till", agent.Task{Task: "refund"}),
				providertest.Say("Done."))})
	}, decide: func(w *world, user string) outcome { return w.inbox(user, nil) }},
	"a plan's call": {open: submitted("other"), decide: func(w *world, user string) outcome {
		return outcomeOf(w.t, w.agent.Session("s").Decide(w.t.Context(), agent.Approve(w.open().ID).By(user)))
	}},
	"a plan's call, without an agent": {posts: true, open: submitted("other"),
		decide: func(w *world, user string) outcome { return w.inbox(user, nil) }},
}

// submitted has ann submit a plan with a refund, which somebody approves.
func submitted(by string) func(w *world) {
	return func(w *world) {
		worker, err := agent.New(agent.Config{Name: "till", Roles: w.roles, Tools: []tools.Tool{w.refund()},
			Journal: w.store, Provider: providertest.Script()})
		require.NoError(w.t, err)
		runner, err := plan.New(plan.Config{Agent: worker})
		require.NoError(w.t, err)
		w.use(agent.Config{Tools: plan.Tools(runner), Provider: providertest.Script(
			providertest.Call(plan.ToolSubmit, obj{"title": "Refund",
				"nodes": []obj{{"id": "a", "tool": "refund", "input": `{"cents":500}`}}}), providertest.Say("Done."))})
		w.ask()
		_, err = w.agent.Run(w.t.Context(), agent.Resume("s", agent.Approve(w.open().ID).By(by)))
		if by == "bob" {
			require.NoError(w.t, err)
			return
		}
		require.ErrorAs(w.t, err, new(*agent.PausedError))
	}
}

// byHeader takes the user from a header. It lets in nobody without a name.
func byHeader(r *http.Request) (string, error) { return r.Header.Get("User"), nil }

// post posts a body to the handler of package serve, over HTTP.
func (w *world) post(user, path string, body obj) outcome {
	w.t.Helper()
	h, err := serve.New(w.hub, serve.Config{Logger: slog.New(slog.DiscardHandler),
		Authorize: func(r *http.Request, _ string, _ serve.Action) (string, error) { return byHeader(r) },
		Widen:     func(*http.Request, serve.Access) error { return nil }})
	require.NoError(w.t, err)
	facts, err := w.agent.Session("s").Facts(w.t.Context())
	require.NoError(w.t, err)
	out := w.send(h, user, path, body)
	if out != taken {
		return out
	}
	for ev, err := range w.hub.Watch(w.t.Context(), "s", uint64(len(facts))) {
		require.NoError(w.t, err)
		if _, over := ev.(*agent.RunEnded); over {
			break
		}
	}
	return out
}

func (w *world) send(h http.Handler, user, path string, body obj) outcome {
	w.t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	raw, err := json.Marshal(body)
	require.NoError(w.t, err)
	r, err := http.NewRequestWithContext(w.t.Context(), "POST", server.URL+path, bytes.NewReader(raw))
	require.NoError(w.t, err)
	r.Header.Set("User", user)
	r.Header.Set("Content-Type", "application/json")
	res, err := server.Client().Do(r)
	require.NoError(w.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body) // a stream ends with the run
	require.NoError(w.t, err)
	switch res.StatusCode {
	case 200, 202:
		return taken
	case 503:
		require.NotEmpty(w.t, res.Header.Get("Retry-After"))
		return later
	case 403:
		return forbidden
	case 500: // nobody is named, which Authorize mustn't permit
		require.Empty(w.t, user)
		return forbidden
	}
	w.t.Fatal(res.Status, string(text))
	return ""
}

func (w *world) approvals(user string, agents map[string]*agent.Agent) outcome {
	w.t.Helper()
	h, err := serve.Approvals(serve.ApprovalsConfig{Store: w.store, Agents: agents,
		Logger:    slog.New(slog.DiscardHandler),
		Authorize: func(r *http.Request, _ serve.Item, _ serve.Action) (string, error) { return byHeader(r) }})
	require.NoError(w.t, err)
	return w.send(h, user, "/decide", obj{"session": "s", "id": w.open().ID, "decision": "approve"})
}

func (w *world) inbox(user string, agents map[string]*agent.Agent) outcome {
	w.t.Helper()
	inbox := &approvals.Inbox{Store: w.store, Agents: agents}
	item, err := inbox.Find(w.t.Context(), "s", w.open().ID, 0)
	require.NoError(w.t, err)
	return outcomeOf(w.t, inbox.Decide(w.t.Context(), item, agent.Approve(item.ID).By(user)))
}

func mcpDoor(w *world, user string) outcome {
	h, err := mcpserver.New(w.hub, mcpserver.Config{Logger: slog.New(slog.DiscardHandler),
		Authorize: func(context.Context, http.Header, string) (string, error) { return user, nil }})
	require.NoError(w.t, err)
	server := httptest.NewServer(h)
	defer server.Close()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil).Connect(w.t.Context(),
		&sdk.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
	require.NoError(w.t, err)
	defer client.Close()
	res, err := client.CallTool(w.t.Context(), &sdk.CallToolParams{Name: "answer", Arguments: obj{"session": "s",
		"decisions": []obj{{"id": w.open().ID, "decision": "approve"}}}})
	require.NoError(w.t, err)
	text := res.Content[0].(*sdk.TextContent).Text
	switch {
	case !res.IsError:
		return taken
	case strings.Contains(text, "try again"):
		return later
	}
	return forbidden
}

// TestAWrongPersonNeverDecides: what they decide runs nothing, the call goes on waiting, and
// somebody else decides then.
func TestAWrongPersonNeverDecides(t *testing.T) {
	for name, d := range doors {
		for what, c := range map[string]struct {
			user string
			down bool
			want outcome
		}{
			"no role":          {user: "carl", want: forbidden},
			"self":             {user: "ann", want: forbidden},
			"nobody":           {want: forbidden},
			"roles not known":  {user: "bob", down: true, want: later},
			"the right person": {user: "bob", want: taken},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				w := newWorld(t)
				if d.open != nil {
					d.open(w)
				} else {
					w.use(agent.Config{})
				}
				if d.owners {
					w.owner = c.user
				}
				if w.open() == nil {
					w.ask()
				}
				before := w.open()
				require.Equal(t, "refund", before.Call.Name)
				require.Equal(t, []string{"manager"}, before.Approvers)
				w.setDown(c.down)
				want := c.want
				if d.posts && c.user != "" {
					want = taken // and the run decides
				}
				require.Equal(t, want, d.decide(w, c.user))
				w.goOn()
				if c.want == taken {
					require.Equal(t, 1, w.paid())
					require.Nil(t, w.open())
					return
				}
				require.Zero(t, w.paid())
				now := w.open()
				require.NotNil(t, now, "it waits")
				switch {
				case d.posts && c.down: // it waits in the inbox, and is looked at again
					w.setDown(false)
					w.goOn()
					require.Equal(t, 1, w.paid())
					return
				case d.posts && c.user != "":
					require.Contains(t, now.Replaces, before.ID)
					require.Contains(t, now.Refused, c.user)
				default:
					require.Equal(t, before.ID, now.ID, "nothing was used up")
				}
				w.setDown(false)
				if d.owners {
					d = doors["live.Hub"]
				}
				require.Equal(t, taken, d.decide(w, "bob"))
				w.goOn()
				require.Equal(t, 1, w.paid())
				require.Nil(t, w.open())
				for _, session := range w.asked {
					require.Equal(t, "s", session, "the one in which people decide")
				}
			})
		}
	}
}

// TestThePlansApprovalIsAskedAboutItsGiver: it answers for a call only if they have the role, and
// didn't start the run.
func TestThePlansApprovalIsAskedAboutItsGiver(t *testing.T) {
	for by, paid := range map[string]int{"bob": 1, "ann": 0, "carl": 0, "": 0} {
		w := newWorld(t)
		submitted(by)(w)
		require.Equal(t, paid, w.paid(), by)
		require.Equal(t, paid == 0, w.open() != nil, by)
	}
}

// TestWhileNobodysRolesAreKnownIsLookedAtNowAndThen: what was recorded waits, and costs a question
// about roles now and then. When roles are known again, it is taken.
func TestWhileNobodysRolesAreKnownIsLookedAtNowAndThen(t *testing.T) {
	questions := func(w *world) int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.asked)
	}
	t.Run("by a hub", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t).use(agent.Config{}).ask()
			hub, err := live.New(live.Config{Agent: w.agent})
			require.NoError(t, err)
			defer hub.Close()
			w.setDown(true)
			require.Equal(t, taken, w.inbox("bob", nil))
			time.Sleep(10 * time.Minute)
			require.Zero(t, w.paid())
			require.Greater(t, questions(w), 10)
			require.Less(t, questions(w), 61)
			w.setDown(false)
			time.Sleep(time.Minute)
			require.Equal(t, 1, w.paid())
		})
	})
}
