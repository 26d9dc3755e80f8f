package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The messages of a server are read here before the SDK gets them, for two reasons. The SDK handles
// notifications on another goroutine than results, so that a report of progress may come after the
// result of its call. And it drops fields that it doesn't know, such as those about tasks.

const progressMethod = "notifications/progress"

// listOfTools is in each list of tools that has any, and progressToken in each report of progress,
// however the server escapes the slash in its method.
var listOfTools, progressToken = []byte(`"inputSchema"`), []byte(`"progressToken"`)

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

// An observedBody is the body of a reply over HTTP: one message, or a stream of events with a
// message each. The SDK ends a connection with a message of more than maxReply bytes.
type observedBody struct {
	io.ReadCloser
	s      *session
	stream bool
	line   []byte // of the stream, as far as it has arrived
	data   []byte // of the event, or the whole body
}

// Read reads from the body.
func (b *observedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case len(b.line)+len(b.data) > maxReply:
	case b.stream:
		b.scan(p[:n])
		if err == io.EOF { // the SDK takes an event without an empty line after it, too
			b.scan([]byte("\n\n"))
		}
	default:
		if b.data = append(b.data, p[:n]...); err == io.EOF {
			b.message()
		}
	}
	return n, err
}

// scan takes a part of a stream of events.
func (b *observedBody) scan(p []byte) {
	for {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		b.line = append(b.line, part...)
		if !ended {
			return
		}
		line := bytes.TrimSuffix(b.line, []byte("\r"))
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if len(b.data) > 0 {
				b.data = append(b.data, '\n')
			}
			b.data = append(b.data, bytes.TrimPrefix(value, []byte(" "))...)
		} else if len(line) == 0 {
			b.message()
		}
		b.line, p = b.line[:0], rest
	}
}

// message passes on the message that is complete, if it may matter. What isn't a message is left to
// the SDK.
func (b *observedBody) message() {
	if bytes.Contains(b.data, progressToken) || bytes.Contains(b.data, listOfTools) {
		if m, err := jsonrpc.DecodeMessage(b.data); err == nil {
			b.s.observe(m)
		}
	}
	b.data = b.data[:0]
}
