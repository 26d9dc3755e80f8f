package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/mcpserver"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

type object = map[string]any

type page struct {
	ID string `json:"id"`
}

// A site is an agent behind an MCP server. The header User says who one is; tom may not use
// anything.
type site struct {
	t       *testing.T
	agent   *agent.Agent
	store   *handing
	http    *httptest.Server
	deleted []string
}

func newSite(t *testing.T, cfg mcpserver.Config, steps ...providertest.Step) *site {
	t.Helper()
	s := &site{t: t, store: &handing{Store: &journal.MapStore{}}}
	a, err := agent.New(agent.Config{Name: "cms", Journal: s.store, Provider: providertest.Script(steps...),
		Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "delete", Risk: tools.High}, func(_ context.Context, in page) (string, error) {
				s.deleted = append(s.deleted, in.ID)
				return "deleted " + in.ID, nil
			}),
			tools.New(tools.Spec{Name: "ask_color"}, func(ctx context.Context, _ struct{}) (string, error) {
				return "",
					tools.Suspend{Kind: "question", Prompt: "Which color?",
						Schema: json.RawMessage(
							`{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`)}
			}),
			tools.New(tools.Spec{Name: "consult"}, func(context.Context, struct{}) (string, error) {
				return "", tools.Suspend{For: "lawyer", Prompt: "May we?"}
			}),
			tools.New(tools.Spec{Name: "login"}, func(context.Context, struct{}) (string, error) {
				return "", tools.Suspend{Prompt: "Your password?", Again: true, Secret: true}
			}),
		}})
	require.NoError(t, err)
	s.agent = a
	hub, err := live.New(live.Config{Agent: a, Recover: -1, Drain: time.Second})
	require.NoError(t, err)
	cfg.Authorize = func(_ context.Context, h http.Header, _ string) (string, error) {
		if who := h.Get("User"); who == "ann" || who == "bob" {
			return who, nil
		}
		return "", errors.New("no")
	}
	h, err := mcpserver.New(hub, cfg)
	require.NoError(t, err)
	s.http = httptest.NewServer(h)
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		_ = hub.Close()
		s.http.Close()
	})
	return s
}

// client connects as a user. answer, if it isn't nil, answers as a person.
func (s *site) client(user string, answer func(*sdk.ElicitParams) *sdk.ElicitResult) *sdk.ClientSession {
	s.t.Helper()
	options := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	if answer != nil {
		options.ElicitationHandler = func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return answer(req.Params), nil
		}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options)
	session, err := c.Connect(s.t.Context(),
		&sdk.StreamableClientTransport{Endpoint: s.http.URL, HTTPClient: &http.Client{Transport: as(user)}}, nil)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = session.Close() })
	return session
}

type as string

func (user as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User", string(user))
	return http.DefaultTransport.RoundTrip(r)
}

type outcome struct {
	Session, Status, Text string
	Pending               []struct{ ID, Kind, Tool, For string }
}

func (s *site) call(c *sdk.ClientSession, tool string, in any) (out outcome, failed string) {
	s.t.Helper()
	res, err := c.CallTool(s.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
	require.NoError(s.t, err)
	text := res.Content[0].(*sdk.TextContent).Text
	if res.IsError {
		return out, text
	}
	require.NoError(s.t, json.Unmarshal([]byte(text), &out), text)
	return out, ""
}

func TestAClientAsksAnAgent(t *testing.T) {
	s := newSite(t, mcpserver.Config{Description: "Edits the website."}, providertest.Say("Hello."),
		providertest.Say("Again."))
	c := s.client("ann", nil)
	out, failed := s.call(c, "ask", object{"prompt": "Hello?"})
	require.Empty(t, failed)
	require.Equal(t, "completed", out.Status)
	require.Equal(t, "Hello.", out.Text)
	again, failed := s.call(c, "ask", object{"prompt": "And now?", "session": out.Session})
	require.Empty(t, failed)
	require.Equal(t, out.Session, again.Session)
	status, _ := s.call(c, "status", object{"session": out.Session})
	require.Equal(t, "Again.", status.Text)
	_, failed = s.call(c, "ask", object{"prompt": ""})
	require.Contains(t, failed, `"prompt" is empty`)
}

// The server declares what it has: tools, which never change.
func TestTheServerDeclaresWhatItHas(t *testing.T) {
	c := newSite(t, mcpserver.Config{}).client("ann", nil)
	declared, err := json.Marshal(c.InitializeResult().Capabilities)
	require.NoError(t, err)
	require.JSONEq(t, `{"tools":{}}`, string(declared))
}

// A person at a client that can ask decides in the middle of the call.
func TestAPauseIsARequestForInput(t *testing.T) {
	for name, c := range map[string]struct {
		approve bool
		action  string
		want    []string
	}{"approved": {true, "accept", []string{"home"}}, "rejected": {false, "accept", nil},
		"declined": {true, "decline", nil}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, mcpserver.Config{}, providertest.Call("delete", page{"home"}), providertest.Say("Done."))
			var asked []string
			client := s.client("ann", func(p *sdk.ElicitParams) *sdk.ElicitResult {
				asked = append(asked, p.Message)
				return &sdk.ElicitResult{Action: c.action, Content: object{"approve": c.approve}}
			})
			out, failed := s.call(client, "ask", object{"prompt": "Delete home."})
			require.Empty(t, failed)
			require.Equal(t, "completed", out.Status)
			require.Equal(t, c.want, s.deleted)
			require.Equal(t, []string{`Delete “home”? The agent wants to call delete with {"id":"home"}. ` +
				"(this tool is of high risk)"}, asked)
		})
	}
}

func TestAQuestionOfAToolIsAForm(t *testing.T) {
	s := newSite(t, mcpserver.Config{}, providertest.Call("ask_color", object{}), providertest.Say("Blue it is."))
	out, failed := s.call(s.client("ann", func(p *sdk.ElicitParams) *sdk.ElicitResult {
		require.Equal(t, "Which color?", p.Message)
		return &sdk.ElicitResult{Action: "accept", Content: object{"color": "blue"}}
	}), "ask", object{"prompt": "Paint."})
	require.Empty(t, failed)
	require.Equal(t, "Blue it is.", out.Text)
}

func TestAQuestionForAnotherAgentIsNotPutToPeople(t *testing.T) {
	s := newSite(t, mcpserver.Config{}, providertest.Call("consult", object{}), providertest.Say("We may."))
	out, failed := s.call(s.client("ann", func(p *sdk.ElicitParams) *sdk.ElicitResult {
		t.Error("a person was asked: ", p.Message)
		return &sdk.ElicitResult{Action: "decline"}
	}), "ask", object{"prompt": "Sell it."})
	require.Empty(t, failed)
	require.Equal(t, "paused", out.Status)
	require.Equal(t, "lawyer", out.Pending[0].For)
}

func TestASecretIsNotAskedForWithAForm(t *testing.T) {
	s := newSite(t, mcpserver.Config{}, providertest.Call("login", object{}))
	out, failed := s.call(s.client("ann", func(p *sdk.ElicitParams) *sdk.ElicitResult {
		t.Error("the client was asked: ", p.Message)
		return &sdk.ElicitResult{Action: "decline"}
	}), "ask", object{"prompt": "Log in."})
	require.Empty(t, failed)
	require.Equal(t, "paused", out.Status)
	require.Equal(t, "secret", out.Pending[0].Kind)
	_, failed = s.call(s.client("ann", nil), "answer", object{"session": out.Session,
		"decisions": []object{{"id": out.Pending[0].ID, "decision": "answer", "value": "hunter2"}}})
	require.Contains(t, failed, "asks for a secret")
}

// A client that can't ask people is told what the agent waits for, and answers with a tool.
func TestAClientThatCannotAskIsToldThePause(t *testing.T) {
	s := newSite(t, mcpserver.Config{}, providertest.Call("delete", page{"home"}), providertest.Say("Done."))
	c := s.client("ann", nil)
	out, failed := s.call(c, "ask", object{"prompt": "Delete home."})
	require.Empty(t, failed)
	require.Equal(t, "paused", out.Status)
	require.Equal(t, "delete", out.Pending[0].Tool)
	_, failed = s.call(c, "answer",
		object{"session": out.Session, "decisions": []object{{"id": out.Pending[0].ID, "decision": "nonsense"}}})
	require.NotEmpty(t, failed)
	_, failed = s.call(c, "ask", object{"session": out.Session, "prompt": "Hm?"})
	require.Contains(t, failed, "waits for decisions")
	out, failed = s.call(c, "answer",
		object{"session": out.Session, "decisions": []object{{"id": out.Pending[0].ID, "decision": "approve"}}})
	require.Empty(t, failed)
	require.Equal(t, "completed", out.Status)
	require.Equal(t, []string{"home"}, s.deleted)
}

// A handing store has a session that another process holds until somebody asks for it.
type handing struct {
	journal.Store
	held journal.Lease
}

func (s *handing) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	lease, err := s.Store.Lease(ctx, session, owner, ttl)
	if err != nil && s.held.Fence > 0 {
		err = errors.Join(err, s.Release(ctx, s.held))
		s.held = journal.Lease{}
	}
	return lease, err
}

func TestASessionThatIsReleasedIsWaitedFor(t *testing.T) {
	s := newSite(t, mcpserver.Config{}, providertest.Say("Hello."), providertest.Say("Again."))
	c := s.client("ann", nil)
	out, failed := s.call(c, "ask", object{"prompt": "Hello?"})
	require.Empty(t, failed)
	var err error
	s.store.held, err = s.store.Lease(t.Context(), out.Session, "a process whose run has just ended", time.Minute)
	require.NoError(t, err)
	again, failed := s.call(c, "ask", object{"prompt": "And now?", "session": out.Session})
	require.Empty(t, failed)
	require.Equal(t, "Again.", again.Text)
}

func TestNobodySeesSessionsOfOthers(t *testing.T) {
	s := newSite(t, mcpserver.Config{}, providertest.Call("delete", page{"home"}), providertest.Say("Done."))
	mine, failed := s.call(s.client("ann", nil), "ask", object{"prompt": "Delete home."})
	require.Empty(t, failed)
	bob := s.client("bob", nil)
	_, unknown := s.call(bob, "status", object{"session": "nowhere"})
	for tool, in := range map[string]object{
		"status": {"session": mine.Session}, "cancel": {"session": mine.Session},
		"ask":    {"session": mine.Session, "prompt": "x"},
		"answer": {"session": mine.Session, "decisions": []object{{"id": mine.Pending[0].ID, "decision": "approve"}}},
	} {
		_, failed := s.call(bob, tool, in)
		require.Equal(t, unknown, failed, tool)
	}
	res, err := bob.CallTool(t.Context(),
		&sdk.CallToolParams{Name: "ask", Arguments: object{"prompt": "x"}, RequestState: mine.Session,
			InputResponses: sdk.InputResponseMap{mine.Pending[0].ID: &sdk.ElicitResult{Action: "accept",
				Content: object{"approve": true}}}})
	require.NoError(t, err)
	require.True(t, res.IsError)
	_, failed = s.call(s.client("tom", nil), "ask", object{"prompt": "x"})
	require.Equal(t, unknown, failed)
	require.Empty(t, s.deleted)
}

func TestARunThatTakesLongGoesOn(t *testing.T) {
	s := newSite(t, mcpserver.Config{Wait: 10 * time.Millisecond}, providertest.Hang())
	c := s.client("ann", nil)
	out, failed := s.call(c, "ask", object{"prompt": "Think."})
	require.Empty(t, failed)
	require.Equal(t, "running", out.Status)
	_, failed = s.call(c, "cancel", object{"session": out.Session})
	require.Empty(t, failed)
	for ev, err := range s.agent.Session(out.Session).Watch(t.Context(), 0) {
		require.NoError(t, err)
		if _, ended := ev.(*agent.RunEnded); ended {
			break
		}
	}
	out, failed = s.call(c, "status", object{"session": out.Session})
	require.Empty(t, failed)
	require.Equal(t, "stopped", out.Status)
}

// Pawl's own client and server understand each other: a pause of the inner agent is a pause of the
// outer one.
func TestAnAgentAsksAnAgent(t *testing.T) {
	s := newSite(t, mcpserver.Config{}, providertest.Call("delete", page{"home"}), providertest.Say("It is gone."))
	inner, err := mcp.New(mcp.Config{Name: "cms", URL: s.http.URL,
		Header: func(context.Context, string) (http.Header, error) { return http.Header{"User": {"ann"}}, nil }})
	require.NoError(t, err)
	defer inner.Close()
	model := providertest.Script(providertest.Call("cms.ask", object{"prompt": "Delete home."}),
		providertest.Say("Done."))
	outer, err := agent.New(agent.Config{Name: "outer", Provider: model, Sources: []tools.Source{inner}})
	require.NoError(t, err)
	res, err := outer.Run(t.Context(), agent.Input{Session: "o", Prompt: "Clean up."})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Contains(t, res.Pending[0].Reason, "The agent wants to call delete")
	res, err = outer.Run(t.Context(), agent.Resume("o", agent.Answer(res.Pending[0].ID, object{"approve": true})))
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	model.AssertSaw(t, 1, providertest.ToolResultText("cms.ask", "It is gone."))
	require.Equal(t, []string{"home"}, s.deleted)
}

func TestABadConfigIsRefused(t *testing.T) {
	_, err := mcpserver.New(nil, mcpserver.Config{})
	var bad *agent.ArgError
	require.ErrorAs(t, err, &bad)
	a, err := agent.New(agent.Config{Provider: providertest.Script()})
	require.NoError(t, err)
	hub, err := live.New(live.Config{Agent: a, Recover: -1})
	require.NoError(t, err)
	defer hub.Close()
	_, err = mcpserver.New(hub, mcpserver.Config{})
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "Config.Authorize", bad.Field)
}

// A client of an earlier version of the protocol doesn't know input requests: it is told the pause.
func TestAClientOfAnEarlierVersionIsToldThePause(t *testing.T) {
	s := newSite(t, mcpserver.Config{}, providertest.Call("delete", page{"home"}), providertest.Say("Done."))
	body :=
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"prompt":"Delete home."}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.http.URL, strings.NewReader(body))
	require.NoError(t, err)
	req.Header = http.Header{"User": {"ann"}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"}}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Contains(t, string(answer), `"status":"paused"`)
	require.NotContains(t, string(answer), "inputRequests")
}
