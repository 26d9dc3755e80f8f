package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/uimessage"
)

// A useChatClient is a stock client with useChat, or with assistant-ui on top of it. Its chats run
// in one process of Node, without a page.
type useChatClient struct {
	name   string
	bundle string // in the folder out
	level  uimessage.Level

	once    sync.Once
	program *exec.Cmd
	stdin   io.WriteCloser
	steps   atomic.Int64

	mu      sync.Mutex // guards what follows, and stdin
	answers map[int64]chan nodeChatState
}

var useChatClients = []*useChatClient{
	{name: "useChat, ai 7, React", bundle: "usechat_node7.mjs", level: uimessage.V7Late},
	{name: "useChat, ai 7, Vue", bundle: "usechat_nodevue.mjs", level: uimessage.V7Late},
	{name: "useChat, ai 6, React", bundle: "usechat_node6.mjs", level: uimessage.V6},
	{name: "assistant-ui, ai 7", bundle: "usechat_nodeassistant.mjs", level: uimessage.V7Late},
}

// stopUseChatClients ends the processes of the clients.
func stopUseChatClients() {
	for _, c := range useChatClients {
		if c.program != nil {
			_ = c.stdin.Close()
			_ = c.program.Wait()
		}
	}
}

// start starts the process, if it isn't there yet.
func (c *useChatClient) start(t *testing.T) {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		missing(t, "there is no node")
	}
	if _, err := os.Stat(filepath.Join(out, c.bundle)); err != nil {
		missing(t, "the clients aren't bundled")
	}
	c.once.Do(func() {
		c.answers = make(map[int64]chan nodeChatState)
		c.program = exec.Command(program, filepath.Join(out, c.bundle))
		c.program.Stderr = os.Stderr
		c.stdin, err = c.program.StdinPipe()
		require.NoError(t, err)
		stdout, err := c.program.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.program.Start())
		go c.read(stdout)
	})
}

// read reads the answers of the process.
func (c *useChatClient) read(stdout io.Reader) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var a nodeChatState
		if json.Unmarshal(line, &a) != nil {
			continue
		}
		c.mu.Lock()
		answer := c.answers[a.N]
		delete(c.answers, a.N)
		c.mu.Unlock()
		if answer != nil {
			answer <- a
		}
	}
}

// A nodeChatState is what a chat shows.
type nodeChatState struct {
	N        int64
	Failure  string // of the step
	Status   string
	Error    string              // that is shown
	Errors   []string            // all so far, with their names
	Messages []uimessage.Message `json:"messages"`
}

// A nodeChat is a chat of a client.
type nodeChat struct {
	nodeChatState // after the newest step
	t             *testing.T
	client        *useChatClient
	name, api, id string
}

// open opens the chat of a session, as a page does that is loaded.
func (c *useChatClient) open(t *testing.T, server, session string) *nodeChat {
	t.Helper()
	c.start(t)
	chat := &nodeChat{t: t, client: c, name: fmt.Sprint(t.Name(), c.steps.Add(1)), api: server + "/agent/chat",
		id: session}
	chat.do(object{"op": "open", "api": chat.api, "id": session, "wait": 20})
	t.Cleanup(chat.close)
	return chat
}

// do makes a step.
func (c *nodeChat) do(step object) {
	c.t.Helper()
	answer := make(chan nodeChatState, 1)
	n := c.client.steps.Add(1)
	step["n"], step["chat"] = n, c.name
	raw, err := json.Marshal(step)
	require.NoError(c.t, err)
	c.client.mu.Lock()
	c.client.answers[n] = answer
	_, err = c.client.stdin.Write(append(raw, '\n'))
	c.client.mu.Unlock()
	require.NoError(c.t, err)
	c.nodeChatState = <-answer
	require.Empty(c.t, c.Failure, c.shows())
}

func (c *nodeChat) close() { c.do(object{"op": "close"}) }

// shows returns what the chat shows, for messages of failures.
func (c *nodeChat) shows() string {
	raw, _ := json.Marshal(c.nodeChatState)
	return string(raw)
}

// say sends a message.
func (c *nodeChat) say(text string) {
	c.t.Helper()
	c.do(object{"op": "send", "message": object{"text": text}})
}

// until waits until the chat shows a text.
func (c *nodeChat) until(text string) {
	c.t.Helper()
	c.do(object{"op": "wait", "text": text})
}

// ready waits until no answer is in progress, and the chat has as many messages, and a text.
func (c *nodeChat) ready(messages int, text string) {
	c.t.Helper()
	c.do(object{"op": "wait", "status": "ready", "count": messages, "text": text})
	c.sane()
}

// call returns a call of the newest message that has calls.
func (c *nodeChat) call(i int) uimessage.Part {
	c.t.Helper()
	for m := len(c.Messages) - 1; m >= 0; m-- {
		var calls []uimessage.Part
		for _, p := range c.Messages[m].Parts {
			if p.ToolCallID != "" {
				calls = append(calls, p)
			}
		}
		if len(calls) > i {
			return calls[i]
		}
	}
	require.Fail(c.t, "there is no such call", c.shows())
	return uimessage.Part{}
}

// decide answers the requests for approval of the newest calls.
func (c *nodeChat) decide(approved ...bool) {
	c.t.Helper()
	var answers []object
	for i, yes := range approved {
		answers = append(answers, object{"id": c.call(i).Approval.ID, "approved": yes})
	}
	c.do(object{"op": "answer", "answers": answers})
}

// sane requires that no message is there twice, and that nobody saw an error that isn't a sentence.
func (c *nodeChat) sane() {
	c.t.Helper()
	seen := make(map[string]bool)
	for _, m := range c.Messages {
		require.False(c.t, seen[m.ID], "message %s is there twice: %s", m.ID, c.shows())
		seen[m.ID] = true
	}
	for _, e := range c.Errors {
		require.NotContains(c.t, e, "{")
		require.NotContains(c.t, e, "Validation")
		require.NotContains(c.t, e, "JSON")
	}
}

// asAfterAReload requires that the chat shows what it would show if it was loaded again.
func (c *nodeChat) asAfterAReload() {
	c.t.Helper()
	c.sane()
	again := c.client.open(c.t, strings.TrimSuffix(c.api, "/agent/chat"), c.id)
	require.Len(c.t, again.Messages, len(c.Messages), "%s\n%s", again.shows(), c.shows())
	for i := range c.Messages {
		require.Equal(c.t, c.Messages[i].Role, again.Messages[i].Role)
		require.Equal(c.t, shape(&again.Messages[i]), shape(&c.Messages[i]))
		if c.Messages[i].Role == "assistant" {
			require.Equal(c.t, again.Messages[i].ID, c.Messages[i].ID)
		}
	}
}

func TestTheExampleInTheDocsIsWhatTheTestsUse(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "serve.md"))
	require.NoError(t, err)
	code, err := os.ReadFile(filepath.Join("clients", "usechat.js"))
	require.NoError(t, err)
	require.Contains(t, string(docs), "```js\n"+string(code)+"```\n")
}
