package browser

import (
	"context"
	"iter"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// aguiColumns are the columns of clients of AG-UI.
func aguiColumns() []matrixColumn {
	return []matrixColumn{{name: "@ag-ui/client 1.0", cells: map[string]matrixCell{
		"text":                            {test: aguiText},
		"reasoning":                       {test: aguiReasoning},
		"parallel tools":                  {test: aguiParallelTools},
		"tool error":                      {test: aguiToolError},
		"approve":                         {test: aguiApprove},
		"reject":                          {test: aguiReject},
		"edit":                            {test: aguiEdit},
		"front-end tool":                  {test: aguiFrontEndTool},
		"error of a front-end tool":       {test: aguiFrontEndError},
		"model error":                     {test: aguiModelError},
		"stop":                            {test: aguiStop},
		"regenerate":                      {test: aguiRegenerate},
		"edit a message":                  {test: aguiEditMessage},
		"reload in mid-stream":            {test: aguiReloadInMidStream},
		"reload with an open approval":    {test: aguiReloadWithApproval},
		"two clients":                     {test: aguiTwoClients},
		"message while running":           {test: aguiMessageWhileRunning},
		"message while an approval waits": {test: aguiMessageWhileWaiting},
		"graceful restart in mid-stream":  {test: aguiRestart},
		"kill -9":                         {test: aguiKill},
	}}}
}

// shows requires what a client has, without a warning, and that a reload has the same.
func (s *aguiSite) shows(seen aguiSeen, texts ...string) {
	s.t.Helper()
	require.Empty(s.t, seen.Warnings)
	require.Equal(s.t, texts, seen.texts())
	loaded := s.do(aguiStep{Client: "reloaded", New: true, Idle: true})
	require.Equal(s.t, texts, loaded.texts(), "after a reload")
}

// says posts a message and requires that nothing fails.
func (s *aguiSite) says(id, text string) aguiSeen {
	s.t.Helper()
	seen := s.do(aguiStep{Message: said(id, text)})
	require.Empty(s.t, seen.Failed)
	return seen
}

// from posts other messages: those that the client has up to one, and more.
func (s *aguiSite) from(seen aguiSeen, i int, more ...aguiMessage) aguiSeen {
	s.t.Helper()
	seen = s.do(aguiStep{Messages: append(seen.Messages[:i:i], more...)})
	require.Empty(s.t, seen.Failed)
	return seen
}

func looksAt(page string) providertest.CallSpec {
	return providertest.CallSpec{Tool: "look", Input: obj{"Page": page}}
}

func removes(page string) providertest.CallSpec {
	return providertest.CallSpec{Tool: "delete", Input: obj{"Page": page}}
}

func aguiText(t *testing.T) {
	s := newAGUISite(t, providertest.Script(providertest.SayChunks("Hel", "lo.")), nil)
	s.shows(s.says("u-1", "Hi."), "user: Hi.", "assistant: Hello.")
}

func aguiReasoning(t *testing.T) {
	s := newAGUISite(t, providertest.Script(providertest.Reply(providertest.Think("A greeting."),
		providertest.Say("Hello."))), nil)
	s.shows(s.says("u-1", "Hi."), "user: Hi.", "reasoning: A greeting.", "assistant: Hello.")
}

func aguiParallelTools(t *testing.T) {
	s := newAGUISite(t, providertest.Script(providertest.Reply(providertest.Say("Both."),
		providertest.Calls(looksAt("a"), looksAt("b"))), providertest.Say("Fine.")), nil)
	seen := s.says("u-1", "Look.")
	require.ElementsMatch(t, []string{"tool: saw a", "tool: saw b"}, seen.texts()[2:4])
	s.shows(seen, "user: Look.", `assistant: Both. look{"Page":"a"} look{"Page":"b"}`, seen.texts()[2],
		seen.texts()[3], "assistant: Fine.")
}

func aguiToolError(t *testing.T) {
	s := newAGUISite(t, providertest.Script(providertest.Calls(looksAt("gone")), providertest.Say("It is gone.")), nil)
	seen := s.says("u-1", "Look.")
	require.Contains(t, seen.texts()[2], "there is no such page")
	s.shows(seen, "user: Look.", `assistant: look{"Page":"gone"}`, seen.texts()[2], "assistant: It is gone.")
}

// asked returns a site whose client has an open interrupt, and that.
func asked(t *testing.T) (s *aguiSite, id string) {
	s = newAGUISite(t, providertest.Script(providertest.Calls(removes("a")), providertest.Say("So be it.")), nil)
	seen := s.says("u-1", "Delete.")
	require.Equal(t, "interrupt", seen.Outcome)
	require.Len(t, seen.Interrupts, 1)
	s.shows(seen, "user: Delete.", `assistant: delete{"Page":"a"}`)
	return s, seen.Interrupts[0].ID
}

func aguiApprove(t *testing.T) {
	s, id := asked(t)
	s.shows(s.do(aguiStep{Resume: []obj{answered(id, true)}}), "user: Delete.", `assistant: delete{"Page":"a"}`,
		"tool: deleted a", "assistant: So be it.")
	require.Equal(t, []string{"a"}, s.deleted())
}

func aguiReject(t *testing.T) {
	s, id := asked(t)
	s.shows(s.do(aguiStep{Resume: []obj{answered(id, false)}}), "user: Delete.", `assistant: delete{"Page":"a"}`,
		"tool: A person rejected this call.", "assistant: So be it.")
	require.Empty(t, s.deleted())
}

func aguiEdit(t *testing.T) {
	s, id := asked(t)
	seen := s.do(aguiStep{Resume: []obj{{"interruptId": id, "status": "resolved",
		"payload": obj{"approved": true, "editedArgs": obj{"Page": "z"}}}}})
	require.Equal(t, []string{"z"}, s.deleted())
	s.shows(seen, "user: Delete.", `assistant: delete{"Page":"z"}`, seen.texts()[2], "assistant: So be it.")
}

// withPick gives the front end a tool.
func withPick(_ *http.Request, in *agent.Input) error {
	in.Tools = []tools.Tool{tools.External(tools.Spec{Name: "pick", Description: "Let the user pick a color."})}
	return nil
}

// picks returns a site with a call of a tool of the front end, and that.
func picks(t *testing.T) (s *aguiSite, call string) {
	s = newAGUISite(t, providertest.Script(providertest.Reply(providertest.Call("pick", obj{}),
		providertest.Say("Which one?")), providertest.Say("I see.")), withPick)
	seen := s.says("u-1", "Pick.")
	require.Len(t, seen.PendingToolCallIDs, 1)
	return s, seen.PendingToolCallIDs[0]
}

// picked posts a result, which a client adds after its call.
func (s *aguiSite) picked(result aguiMessage) aguiSeen {
	s.t.Helper()
	seen := s.do(aguiStep{Idle: true})
	return s.do(aguiStep{Messages: slices.Insert(seen.Messages, 2, result)})
}

func aguiFrontEndTool(t *testing.T) {
	s, call := picks(t)
	s.shows(s.picked(aguiMessage{ID: "x", Role: "tool", ToolCallID: call, Content: "blue"}),
		"user: Pick.", "assistant: pick{}", "tool: blue", "assistant: Which one?", "assistant: I see.")
}

func aguiFrontEndError(t *testing.T) {
	s, call := picks(t)
	s.shows(s.picked(aguiMessage{ID: "x", Role: "tool", ToolCallID: call, Content: "", Error: "no screen"}),
		"user: Pick.", "assistant: pick{}", "tool: no screen", "assistant: Which one?",
		"assistant: I see.")
}

func aguiModelError(t *testing.T) {
	s := newAGUISite(t, providertest.Script(providertest.Fail(fault.Permanent), providertest.Say("Hello.")), nil)
	seen := s.do(aguiStep{Message: said("u-1", "Hi.")})
	require.Equal(t, "Scripted doesn't accept the request. Use another model.", seen.Failed)
	s.shows(seen, "user: Hi.")
	s.shows(s.from(seen, 1), "user: Hi.", "assistant: Hello.")
}

// A midText is a model that waits in the middle of the first text that it says after "Work".
type midText struct{ free chan struct{} }

func newMidText() *midText { return &midText{free: make(chan struct{})} }

func (m *midText) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if !yield(provider.Start("waiting"), nil) || !yield(provider.Text("Working"), nil) {
			return
		}
		select {
		case <-m.free:
		case <-ctx.Done():
			yield(provider.Chunk{}, ctx.Err())
			return
		}
		_ = yield(provider.Text(" done."), nil) &&
			yield(provider.End(provider.StopDone, provider.Usage{Input: 1, Output: 2}), nil)
	}
}

// works leaves a client with a run in the middle of its text.
func (s *aguiSite) works() {
	s.t.Helper()
	seen := s.do(aguiStep{Message: said("u-1", "Work."), Background: "TEXT_MESSAGE_CONTENT"})
	require.Empty(s.t, seen.Failed)
}

// ends waits until the run has ended.
func (s *aguiSite) ends() {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		info, err := s.agent.Session("t-1").Info(context.Background())
		return err == nil && info.Status != agent.Running
	}, 10*time.Second, 5*time.Millisecond)
}

func aguiStop(t *testing.T) {
	s := newAGUISite(t, newMidText(), nil)
	seen := s.do(aguiStep{Message: said("u-1", "Work."), Abort: "TEXT_MESSAGE_CONTENT"})
	s.ends()
	require.Empty(t, seen.Failed)
	s.shows(s.do(aguiStep{Idle: true}), "user: Work.", "assistant: Working")
}

func aguiRegenerate(t *testing.T) {
	s := newAGUISite(t, providertest.Script(providertest.Say("A"), providertest.Say("B"), providertest.Say("C")), nil)
	s.says("u-1", "one")
	seen := s.says("u-2", "two")
	s.shows(s.from(seen, 3), "user: one", "assistant: A", "user: two", "assistant: C")
}

func aguiEditMessage(t *testing.T) {
	s := newAGUISite(t, providertest.Script(providertest.Say("A"), providertest.Say("B"), providertest.Say("C"),
		providertest.Say("D")), nil)
	s.says("u-1", "one")
	seen := s.says("u-2", "two")
	seen = s.from(seen, 2, aguiMessage{ID: "u-2", Role: "user", Content: "2b"})
	s.shows(seen, "user: one", "assistant: A", "user: 2b", "assistant: C")
	s.shows(s.from(seen, 0, aguiMessage{ID: "u-3", Role: "user", Content: "1b"}), "user: 1b", "assistant: D")
}

func aguiReloadInMidStream(t *testing.T) {
	m := newMidText()
	s := newAGUISite(t, m, nil)
	s.works()
	require.True(t, s.do(aguiStep{New: true, Idle: true}).Running)
	s.do(aguiStep{Connect: true, Background: "TEXT_MESSAGE_CONTENT"})
	close(m.free)
	s.shows(s.do(aguiStep{Wait: true}), "user: Work.", "assistant: Working done.")
}

func aguiReloadWithApproval(t *testing.T) {
	s, id := asked(t)
	seen := s.do(aguiStep{New: true, Idle: true})
	require.Equal(t, id, seen.Interrupts[0].ID)
	s.shows(s.do(aguiStep{Resume: []obj{answered(id, true)}}), "user: Delete.", `assistant: delete{"Page":"a"}`,
		"tool: deleted a", "assistant: So be it.")
}

func aguiTwoClients(t *testing.T) {
	m := newMidText()
	s := newAGUISite(t, m, nil)
	s.works()
	s.do(aguiStep{Client: "b", New: true, Idle: true})
	s.do(aguiStep{Client: "b", Connect: true, Background: "TEXT_MESSAGE_CONTENT"})
	close(m.free)
	s.shows(s.do(aguiStep{Wait: true}), "user: Work.", "assistant: Working done.")
	s.shows(s.do(aguiStep{Client: "b", Wait: true}), "user: Work.", "assistant: Working done.")
	seen := s.do(aguiStep{Client: "b", Message: said("u-2", "More.")})
	s.shows(seen, "user: Work.", "assistant: Working done.", "user: More.", "assistant: Working done.")
	s.do(aguiStep{Connect: true}) // it would replace the other's message
	s.shows(s.says("u-3", "Again."), append(seen.texts(), "user: Again.", "assistant: Working done.")...)
}

func aguiMessageWhileRunning(t *testing.T) {
	m := newMidText()
	s := newAGUISite(t, m, nil)
	s.do(aguiStep{Message: said("u-1", "Work."), Detach: "TEXT_MESSAGE_CONTENT"})
	s.do(aguiStep{Message: said("u-2", "And rest."), Background: "TEXT_MESSAGE_CONTENT"})
	close(m.free)
	s.shows(s.do(aguiStep{Wait: true}), "user: Work.", "assistant: Working done.", "user: And rest.",
		"assistant: Working done.")
}

func aguiMessageWhileWaiting(t *testing.T) {
	s, id := asked(t)
	require.Contains(t, s.do(aguiStep{Message: said("u-2", "No.")}).Failed, "not addressed by resume",
		"the client itself refuses a message alone")
	seen := s.do(aguiStep{Resume: []obj{{"interruptId": id, "status": "cancelled"}}})
	require.Empty(t, seen.Interrupts)
	require.Empty(t, s.deleted())
	s.shows(seen, "user: Delete.", `assistant: delete{"Page":"a"}`, seen.texts()[2], "user: No.",
		"assistant: So be it.")
}

func aguiRestart(t *testing.T) {
	m := newMidText()
	s := newAGUISite(t, m, nil)
	s.works()
	closed := make(chan error)
	go func() { closed <- s.hub.Close() }()
	require.Equal(t, "The connection was lost. The work goes on; connect again.", s.do(aguiStep{Wait: true}).Failed)
	close(m.free)
	require.NoError(t, <-closed)
	s.begin()
	seen := s.do(aguiStep{Connect: true})
	require.Empty(t, seen.Failed)
	s.shows(seen, "user: Work.", "assistant: Working done.")
}

func aguiKill(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir, "127.0.0.1:0", true)
	s := &aguiSite{t: t, address: "http://" + first.address + "/agent/agui",
		opened: make(map[string]bool)}
	s.uses("agui_agent.mjs")
	s.works()
	first.kill()
	require.NotEmpty(t, s.do(aguiStep{Wait: true}).Failed)
	start(t, dir, first.address, true)
	require.True(t, s.do(aguiStep{New: true, Idle: true}).Running)
	s.do(aguiStep{Connect: true, Background: "TEXT_MESSAGE_CONTENT"})
	goOn(t, dir)
	s.shows(s.do(aguiStep{Wait: true}), "user: Work.", "assistant: Working done.")
}
