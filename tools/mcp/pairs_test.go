package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// A way is how a request of a call ends.
type way struct {
	name   string
	answer func(w http.ResponseWriter, id string)
	cancel bool // the caller gives up while the server is at it, and the notification is refused
	// how the call ends
	want  tools.Status
	class fault.Class
	// with a session, the call is made again with another one
	renewed bool
}

func status(code int, body string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, id string) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", id))
	}
}

func body(kind, text string, cut bool) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, strings.ReplaceAll(text, "ID", id))
		if cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
}

const (
	jsonType, streamType = "application/json", "text/event-stream"

	done = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"done"}]}}`
	no   = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"Session not found"}}`
)

// ways are all that can become of a request.
var ways = []way{
	{name: "good", answer: body(jsonType, done, false), want: tools.OK},
	{name: "a good stream", answer: body(streamType, "data: "+done+"\n\n", false), want: tools.OK},
	{name: "a stream with noise", want: tools.OK,
		answer: body(streamType, ": hello\nwhat\n\ndata: ready\n\ndata: {\"level\":\"info\"}\n\ndata: "+done+"\n\n", false)},
	{name: "an error of the server", want: tools.Failed, class: fault.Invalid,
		answer: body(jsonType, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no"}}`, false)},
	{name: "400", answer: status(400, "no"), want: tools.Failed, class: fault.Permanent},
	{name: "400 for invalid parameters", want: tools.Failed, class: fault.Invalid,
		answer: status(400, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no"}}`)},
	{name: "401", answer: status(401, ""), want: tools.Failed, class: fault.UserFixable},
	{name: "403", answer: status(403, ""), want: tools.Failed, class: fault.Permanent},
	{name: "404", answer: status(404, "no"), want: tools.Failed, class: fault.Permanent, renewed: true},
	{name: "404 with the id of the request", answer: status(404, no), want: tools.Failed, class: fault.Permanent,
		renewed: true},
	{name: "400 for a session", answer: status(400, no), want: tools.Failed, class: fault.Permanent, renewed: true},
	{name: "408", answer: status(408, ""), want: tools.InDoubt, class: fault.Permanent},
	{name: "413", answer: status(413, "<html>"), want: tools.Failed, class: fault.Permanent},
	{name: "429", answer: status(429, ""), want: tools.Failed, class: fault.RateLimited},
	{name: "500", answer: status(500, done), want: tools.InDoubt, class: fault.Permanent},
	{name: "503", answer: status(503, ""), want: tools.InDoubt, class: fault.Permanent},
	{name: "302 to nowhere", answer: status(302, ""), want: tools.InDoubt, class: fault.Permanent},
	{name: "202", answer: status(202, ""), want: tools.InDoubt, class: fault.Permanent},
	{name: "a page", answer: body("text/html", "<p>Hello", false), want: tools.InDoubt, class: fault.Permanent},
	{name: "no JSON", answer: body(jsonType, "oops", false), want: tools.InDoubt, class: fault.Permanent},
	{name: "the reply of another", want: tools.InDoubt, class: fault.Permanent,
		answer: body(jsonType, `{"jsonrpc":"2.0","id":1000000,"result":{}}`, false)},
	{name: "another session", want: tools.OK, answer: func(w http.ResponseWriter, id string) {
		w.Header().Set("Mcp-Session-Id", "another")
		body(jsonType, done, false)(w, id)
	}},
	{name: "cut JSON", answer: body(jsonType, done[:30], true), want: tools.InDoubt, class: fault.Permanent},
	{name: "a cut stream", answer: body(streamType, "data: "+done[:30], true), want: tools.InDoubt,
		class: fault.Permanent},
	{name: "a stream that can't go on", answer: body(streamType, "retry: 1\nid: 1\ndata:\n\ndata: "+done[:30], true),
		want: tools.InDoubt, class: fault.Permanent},
	{name: "a stream without the reply", answer: body(streamType, "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n", false),
		want: tools.InDoubt, class: fault.Permanent},
	{name: "cut before the reply", want: tools.InDoubt, class: fault.Permanent,
		answer: func(http.ResponseWriter, string) { panic(http.ErrAbortHandler) }},
	{name: "canceled", answer: body(jsonType, done, false), cancel: true, want: tools.Canceled},
}

// A pair is a server with two tools whose calls end in ways of their own.
type pair struct {
	inner http.Handler

	mu      sync.Mutex
	ways    map[string]*way
	renewed map[string]bool
	release map[string]chan struct{}
	arrived chan string

	initialized atomic.Int32
	inside      sync.WaitGroup
}

func (p *pair) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	var req struct {
		ID     json.RawMessage       `json:"id"`
		Method string                `json:"method"`
		Params struct{ Name string } `json:"params"`
	}
	_ = json.Unmarshal(raw, &req)
	switch {
	case req.Method == "initialize":
		p.initialized.Add(1)
	case req.Method == "notifications/cancelled":
		w.WriteHeader(http.StatusInternalServerError)
		return
	case r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") != "":
		w.WriteHeader(http.StatusBadRequest)
		return
	case req.Method == "tools/call":
		p.inside.Add(1)
		defer p.inside.Done()
		name := req.Params.Name
		p.mu.Lock()
		how, again, release := p.ways[name], p.renewed[name], p.release[name]
		p.renewed[name] = true
		p.mu.Unlock()
		if again { // with another session
			how = &ways[0]
		} else {
			p.arrived <- name
			<-release
		}
		how.answer(w, string(req.ID))
		return
	}
	p.inner.ServeHTTP(w, r)
}

// Two calls are under way on one connection. Each ends in its own way, whatever becomes of the
// other, and the connection lives.
func TestWhatBecomesOfACallTouchesNoOther(t *testing.T) {
	for version, stateless := range map[string]bool{"2026-07-28": true, "2025-11-25": false} {
		for i := range ways {
			t.Run(version+" "+ways[i].name, func(t *testing.T) {
				t.Parallel()
				testPairs(t, stateless, i)
			})
		}
	}
}

func testPairs(t *testing.T, stateless bool, nth int) {
	one := &ways[nth]
	s := newSite(t, stateless, func(s *sdk.Server) {
		tool(s, "a", echo)
		tool(s, "b", echo)
	})
	p := &pair{inner: s.handler, arrived: make(chan string)}
	s.mu.Lock()
	s.handler = p
	s.mu.Unlock()
	server := s.connect(mcp.Config{})
	byName := list(t, server)
	sessions := p.initialized.Load()
	call := func(ctx context.Context, name string) tools.Outcome {
		return runCall(ctx, byName["files."+name], tools.Call{ID: name, Input: []byte(`{"path":"x"}`),
			IdempotencyKey: name}, nil)
	}
	for i := range ways {
		if (nth+i)%*every != 0 {
			continue
		}
		other := &ways[i]
		p.mu.Lock()
		p.ways = map[string]*way{"a": one, "b": other}
		p.renewed = map[string]bool{}
		p.release = map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}
		p.mu.Unlock()
		outs, cancels := map[string]chan tools.Outcome{}, map[string]func(){}
		for name := range p.ways {
			ctx, cancel := context.WithCancel(t.Context())
			cancels[name], outs[name] = cancel, make(chan tools.Outcome, 1)
			go func() { outs[name] <- call(ctx, name) }()
			<-p.arrived
		}
		for _, name := range []string{"a", "b"} {
			how := p.ways[name]
			if how.cancel {
				cancels[name]()
			} else {
				close(p.release[name])
			}
			out := <-outs[name]
			cancels[name]()
			if how.cancel {
				close(p.release[name])
			}
			about := fmt.Sprintf("%s, then %s: %s: %v", one.name, other.name, name, out.Err)
			want, class := how.want, how.class
			if how.renewed && !stateless {
				want, class = tools.OK, fault.None
				sessions++
			}
			require.Equal(t, want, out.Status, about)
			require.Equal(t, class, out.Class, about)
			if wait, ok := fault.RetryAfter(out.Err); class == fault.RateLimited {
				require.True(t, ok && wait.Seconds() > 6, about)
			}
		}
		p.inside.Wait()
		p.mu.Lock()
		p.renewed = map[string]bool{"a": true}
		p.mu.Unlock()
		out := call(t.Context(), "a")
		require.Equal(t, tools.OK, out.Status, "%v", out.Err)
		if !stateless {
			require.LessOrEqual(t, p.initialized.Load(), sessions, "the connection lives")
		}
	}
}
