package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// An aguiSite is a server with an agent, and stock clients of AG-UI with a thread.
type aguiSite struct {
	t       *testing.T
	agent   *agent.Agent
	hub     *live.Hub
	store   journal.Store
	config  agent.Config
	serve   serve.Config
	address string
	current atomic.Pointer[http.Handler]
	node    *aguiNode
	opened  map[string]bool // clients

	mu  sync.Mutex
	did []string // what the tool did that asks
}

// An aguiNode is a process with clients, which one site uses at a time.
type aguiNode struct {
	steps io.WriteCloser
	lines *bufio.Reader
	wait  func() error
}

// aguiNodes are processes that no site uses, by their scripts.
var aguiNodes = map[string]chan *aguiNode{"agui_agent.mjs": make(chan *aguiNode, 4),
	"assistant_ui.mjs": make(chan *aguiNode, 4)}

// uses gives the site a process that runs a script.
func (s *aguiSite) uses(script string) {
	s.node = newAGUINode(s.t, script)
	s.t.Cleanup(func() { aguiNodes[script] <- s.node })
}

func newAGUINode(t *testing.T, script string) *aguiNode {
	t.Helper()
	select {
	case n := <-aguiNodes[script]:
		return n
	default:
	}
	started := node(t, script)
	client := exec.Command(started.Path, started.Args[1:]...) // it outlives the test
	client.Dir, client.Stderr = started.Dir, os.Stderr
	in, err := client.StdinPipe()
	require.NoError(t, err)
	out, err := client.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, client.Start())
	return &aguiNode{steps: in, lines: bufio.NewReader(out), wait: client.Wait}
}

// stopAGUINodes ends the processes that no site uses.
func stopAGUINodes() {
	for _, idle := range aguiNodes {
		for len(idle) > 0 {
			n := <-idle
			_ = n.steps.Close()
			_ = n.wait()
		}
	}
}

// An aguiStep is what the client does, and an aguiSeen what it has afterwards.
type (
	obj      = map[string]any
	aguiStep struct {
		Client     string        `json:"client"`
		Open       string        `json:"open,omitempty"`
		Thread     string        `json:"thread,omitempty"`
		Message    obj           `json:"message,omitempty"`
		Messages   []aguiMessage `json:"messages,omitempty"`
		Resume     []obj         `json:"resume,omitempty"`
		RunID      string        `json:"runId,omitempty"`
		Abort      string        `json:"abort,omitempty"`
		Detach     string        `json:"detach,omitempty"`
		New        bool          `json:"new,omitempty"`
		Connect    bool          `json:"connect,omitempty"`
		Idle       bool          `json:"idle,omitempty"` // nothing is run
		Background string        `json:"background,omitempty"`
		Wait       bool          `json:"wait,omitempty"`
	}
	aguiMessage struct {
		ID         string     `json:"id"`
		Role       string     `json:"role"`
		ToolCallID string     `json:"toolCallId,omitempty"`
		Error      string     `json:"error,omitempty"`
		Content    any        `json:"content,omitempty"`
		ToolCalls  []aguiCall `json:"toolCalls,omitempty"`
	}
	aguiCall struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	aguiSeen struct {
		Running            bool
		Types              []string
		Failed             string
		Outcome            string
		PendingToolCallIDs []string
		Warnings           []string
		Messages           []aguiMessage
		Interrupts         []struct{ ID, ToolCallID, Reason string }
		State              obj
	}
)

func newAGUISite(t *testing.T, model provider.Provider, input func(*http.Request, *agent.Input) error) *aguiSite {
	s := newAGUIServer(t, model, input)
	s.uses("agui_agent.mjs")
	return s
}

func newAGUIServer(t *testing.T, model provider.Provider, input func(*http.Request, *agent.Input) error) *aguiSite {
	s := &aguiSite{t: t, store: &journal.MapStore{}, opened: make(map[string]bool)}
	s.serve = serve.Config{Input: input, Logger: slog.New(slog.DiscardHandler),
		Authorize: func(r *http.Request, _ string, _ serve.Action) (string, error) {
			return r.Header.Get("User"), nil
		}}
	type page struct{ Page string }
	remove := tools.New(tools.Spec{Name: "delete", Description: "Delete a page.", Risk: tools.High},
		func(_ context.Context, p page) (string, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.did = append(s.did, p.Page)
			return "deleted " + p.Page, nil
		})
	look := tools.New(tools.Spec{Name: "look", Description: "Look at a page.", ReadOnly: true},
		func(_ context.Context, p page) (string, error) {
			if p.Page == "gone" {
				return "", fault.New(fault.NotFound, "there is no such page")
			}
			return "saw " + p.Page, nil
		})
	s.config = agent.Config{Provider: model, Tools: []tools.Tool{remove, look}, Journal: s.store}
	s.begin()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*s.current.Load()).ServeHTTP(w, r)
	}))
	s.address = server.URL + "/agui"
	t.Cleanup(func() {
		server.CloseClientConnections()
		_ = s.hub.Close()
		server.Close()
	})
	return s
}

// begin starts the agent, and the server's part of it.
func (s *aguiSite) begin() {
	var err error
	s.agent, err = agent.New(s.config)
	require.NoError(s.t, err)
	s.hub, err = live.New(live.Config{Agent: s.agent, Recover: 20 * time.Millisecond, Drain: 5 * time.Second})
	require.NoError(s.t, err)
	handler, err := serve.AGUI(s.hub, s.serve)
	require.NoError(s.t, err)
	handler = http.StripPrefix("/agui", handler)
	s.current.Store(&handler)
}

// do makes a client do a step.
func (s *aguiSite) do(step aguiStep) (seen aguiSeen) {
	s.t.Helper()
	if !s.opened[step.Client] {
		s.opened[step.Client] = true
		step.Open, step.Thread = s.address, "t-1"
	}
	require.NoError(s.t, json.NewEncoder(s.node.steps).Encode(step))
	line, err := s.node.lines.ReadBytes('\n')
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(line, &seen), "%s", line)
	require.NotContains(s.t, seen.Failed, "{", "people don't read JSON")
	return seen
}

func (s *aguiSite) deleted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.did)
}

func said(id, text string) obj { return obj{"id": id, "role": "user", "content": text} }

func answered(id string, approved bool) obj {
	return obj{"interruptId": id, "status": "resolved", "payload": obj{"approved": approved}}
}

// texts returns the messages as "role: text", with the names of calls.
func (seen *aguiSeen) texts() (out []string) {
	for _, m := range seen.Messages {
		text, _ := m.Content.(string)
		for _, c := range m.ToolCalls {
			text += " " + c.Function.Name + c.Function.Arguments
		}
		out = append(out, m.Role+": "+strings.TrimSpace(text))
	}
	return out
}

func TestAStockClientOfAGUIHasARun(t *testing.T) {
	t.Parallel()
	s := newAGUISite(t, providertest.Script(
		providertest.Reply(providertest.Think("hm"), providertest.Say("I look."),
			providertest.Call("look", obj{"Page": "home"})),
		providertest.Say("It is fine."), providertest.Say("Again.")), nil)
	seen := s.do(aguiStep{Message: said("u-1", "Look.")})
	require.Empty(t, seen.Failed)
	require.Empty(t, seen.Warnings)
	require.Equal(t, "success", seen.Outcome)
	require.Equal(t, []string{"user: Look.", "reasoning: hm", `assistant: I look. look{"Page":"home"}`,
		"tool: saw home", "assistant: It is fine."}, seen.texts())
	require.Equal(t, "t-1", seen.State["session"])

	seen = s.do(aguiStep{Message: said("u-2", "And?")})
	require.Empty(t, seen.Failed+strings.Join(seen.Warnings, ""))
	require.Equal(t, []string{"user: And?", "assistant: Again."}, seen.texts()[5:])
}

func TestAStockClientOfAGUIAnswersAllInterrupts(t *testing.T) {
	t.Parallel()
	s := newAGUISite(t, providertest.Script(
		providertest.Reply(providertest.Think("Both?"),
			providertest.Calls(providertest.CallSpec{Tool: "delete", Input: obj{"Page": "a"}},
				providertest.CallSpec{Tool: "delete", Input: obj{"Page": "b"}})),
		providertest.Reply(providertest.Think("Well."), providertest.Say("Done.")), providertest.Say("Next.")), nil)
	seen := s.do(aguiStep{Message: said("u-1", "Delete both.")})
	require.Empty(t, seen.Failed)
	require.Equal(t, "interrupt", seen.Outcome)
	require.Len(t, seen.Interrupts, 2)
	first, second := seen.Interrupts[0].ID, seen.Interrupts[1].ID

	require.Contains(t, s.do(aguiStep{Resume: []obj{answered(first, true)}}).Failed, "not addressed by resume",
		"the client itself refuses")
	answers := []obj{answered(first, true), answered(second, false)}
	seen = s.do(aguiStep{Resume: answers})
	require.Empty(t, seen.Failed)
	require.Empty(t, seen.Warnings)
	require.Equal(t, "success", seen.Outcome)
	require.Empty(t, seen.Interrupts)
	require.Equal(t, []string{"a"}, s.deleted())
	texts := seen.texts()
	require.ElementsMatch(t, []string{"user: Delete both.", "reasoning: Both?",
		`assistant: delete{"Page":"a"} delete{"Page":"b"}`, "tool: deleted a",
		"tool: A person rejected this call.", "reasoning: Well.", "assistant: Done."}, texts)

	again := s.do(aguiStep{Resume: answers})
	require.Empty(t, again.Failed)
	require.Equal(t, seen.Outcome, again.Outcome)
	require.ElementsMatch(t, texts, again.texts(), "no message is there twice")
	require.Equal(t, []string{"a"}, s.deleted())
	require.Equal(t, "The interrupt was answered otherwise before.",
		s.do(aguiStep{Resume: []obj{answered(first, false), answered(second, false)}}).Failed)

	seen = s.do(aguiStep{Message: said("u-2", "And?")})
	require.Empty(t, seen.Failed)
	require.Equal(t, "assistant: Next.", seen.texts()[len(seen.texts())-1])
}

func TestAStockClientOfAGUIRunsAToolItself(t *testing.T) {
	t.Parallel()
	s := newAGUISite(t, providertest.Script(providertest.Call("pick", obj{}), providertest.Say("Blue it is.")),
		func(_ *http.Request, in *agent.Input) error {
			in.Tools = []tools.Tool{tools.External(tools.Spec{Name: "pick", Description: "Let the user pick a color."})}
			return nil
		})
	seen := s.do(aguiStep{Message: said("u-1", "Pick.")})
	require.Empty(t, seen.Failed)
	require.Equal(t, "success", seen.Outcome)
	require.Len(t, seen.PendingToolCallIDs, 1)
	seen = s.do(
		aguiStep{Message: obj{"id": "x", "role": "tool", "toolCallId": seen.PendingToolCallIDs[0], "content": "blue"}})
	require.Empty(t, seen.Failed)
	require.Equal(t, "assistant: Blue it is.", seen.texts()[len(seen.texts())-1])
}

// A client that disconnects doesn't stop the run. It sees the whole of it when it comes back,
// without a message twice.
func TestAStockClientOfAGUIComesBack(t *testing.T) {
	t.Parallel()
	s := newAGUISite(t,
		providertest.Script(providertest.Reply(providertest.Think("1 2 3"),
			providertest.SayChunks("One ", "two ", "three."))), nil)
	s.do(aguiStep{Message: said("u-1", "Count."), Detach: "TEXT_MESSAGE_CONTENT"})
	seen := s.do(aguiStep{})
	require.Empty(t, seen.Failed)
	require.Equal(t, "success", seen.Outcome)
	require.ElementsMatch(t, []string{"user: Count.", "reasoning: 1 2 3", "assistant: One two three."}, seen.texts())
}

// A lateFailure fails when the client has what came before.
type lateFailure struct {
	provider.Provider
	had chan struct{} // closed then
}

func (p lateFailure) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for c, err := range p.Provider.Stream(ctx, req) {
			if err != nil {
				<-p.had
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// A reply that breaks off is made again. The client doesn't keep what it had of it.
func TestAStockClientOfAGUISeesARetriedReplyOnce(t *testing.T) {
	t.Parallel()
	reply := providertest.Reply(providertest.Think("hm"), providertest.SayChunks("One ", "two ", "three."))
	model := lateFailure{providertest.Script(
		providertest.FailAfter(4, reply, fault.Transient, providertest.RetryAfter(0)), reply), make(chan struct{})}
	s := newAGUISite(t, model, nil)
	s.do(aguiStep{Message: said("u-1", "Count."), Background: "TEXT_MESSAGE_CONTENT"})
	close(model.had)
	seen := s.do(aguiStep{Wait: true})
	require.Empty(t, seen.Failed)
	require.Contains(t, seen.Types, "MESSAGES_SNAPSHOT", "the reply was made again")
	texts := seen.texts()
	require.Equal(t, "assistant: One two three.", texts[len(texts)-1])
	require.Equal(t, 1, strings.Count(strings.Join(texts, " "), "assistant: "), "%q", texts)
}

func TestACanceledRunIsCancelledForAStockClientOfAGUI(t *testing.T) {
	t.Parallel()
	called := make(chan struct{})
	s := newAGUISite(t,
		providertest.Script(providertest.Reply(providertest.Say("Working"), providertest.Call("wait", obj{}))),
		func(_ *http.Request, in *agent.Input) error {
			in.Tools = []tools.Tool{tools.New(tools.Spec{Name: "wait", Description: "Wait.", ReadOnly: true},
				func(ctx context.Context, _ struct{}) (string, error) {
					close(called)
					<-ctx.Done()
					return "", ctx.Err()
				})}
			return nil
		})
	canceled := make(chan error, 1)
	go func() {
		<-called
		canceled <- s.agent.Session("t-1").Cancel(context.Background())
	}()
	seen := s.do(aguiStep{Message: said("u-1", "x")})
	require.NoError(t, <-canceled)
	require.Empty(t, seen.Failed)
	require.Equal(t, "cancelled", seen.Outcome)
}

func TestTheClientOfAGUIInTheDocumentsIsTheOneTested(t *testing.T) {
	text, err := os.ReadFile("../../docs/serve.md")
	require.NoError(t, err)
	code, err := os.ReadFile("clients/agui_client.mjs")
	require.NoError(t, err)
	require.Contains(t, string(text), strings.Replace(string(code), "export class", "class", 1))
}
