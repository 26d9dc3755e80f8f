package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The messages of a server are read here before the SDK gets them, for two reasons. The SDK handles
// notifications on another goroutine than results, so that a report of progress may come after the
// result of its call. And it drops fields that it doesn't know, such as those about tasks.

const progressMethod = "notifications/progress"

// listOfTools is in each list of tools that has any.
var listOfTools = []byte(`"inputSchema"`)

// observe takes a message of the server. It is called in the order in which the messages arrive.
func (s *session) observe(m jsonrpc.Message) {
	switch m := m.(type) {
	case *jsonrpc.Request:
		var p mcp.ProgressNotificationParams
		if m.Method == progressMethod && json.Unmarshal(m.Params, &p) == nil {
			s.progress(&p)
		}
	case *jsonrpc.Response:
		s.noteTasks(m.Result)
	}
}

// noteTasks notes which tools of a list can only be called as tasks.
func (s *session) noteTasks(result json.RawMessage) {
	if !bytes.Contains(result, listOfTools) {
		return
	}
	var list struct {
		Tools []struct {
			Name      string `json:"name"`
			Execution struct {
				TaskSupport string `json:"taskSupport"`
			} `json:"execution"`
		} `json:"tools"`
	}
	if json.Unmarshal(result, &list) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range list.Tools {
		if t.Execution.TaskSupport == "required" {
			s.tasks[t.Name] = true
		} else {
			delete(s.tasks, t.Name)
		}
	}
}

// needsTask reports whether a tool can only be called as a task.
func (s *session) needsTask(own string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasks[own]
}

// An observedTransport is a transport, not over HTTP, whose messages s observes.
type observedTransport struct {
	mcp.Transport
	s *session
}

// Connect makes the connection.
func (t *observedTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &observedConnection{c, t.s}, nil
}

type observedConnection struct {
	mcp.Connection
	s *session
}

// Read reads a message.
func (c *observedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err == nil {
		c.s.observe(m)
	}
	return m, err
}

// Write writes a message.
func (c *observedConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	x := exchangeOf(ctx)
	if x != nil {
		x.sent.Store(true)
	}
	err := c.Connection.Write(ctx, m)
	if x != nil && (errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe)) {
		x.sent.Store(false) // nobody reads
		err = fmt.Errorf("%w: %w", mcp.ErrConnectionClosed, err)
	}
	return err
}
