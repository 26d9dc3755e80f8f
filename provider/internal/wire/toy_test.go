package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A toy is an adapter for a format of lines: a word, a blank, and the rest as the word has it.
//
//	text Hello         think Hm.          refuse I won't.
//	call ID NAME ARGUMENTS                ran ID NAME ARGUMENTS
//	done WORD USAGE                       fail CODE MESSAGE
type toy struct {
	url    string
	client *http.Client
	theirs bool // sends back the provider's ids
	sloppy bool // treats the end of the body as the end of the answer, and each read as a line
}

func newToy(_ testing.TB, baseURL string, client *http.Client, _ *Case) provider.Provider {
	return &toy{url: baseURL, client: client}
}

func newSloppy(_ testing.TB, baseURL string, client *http.Client, _ *Case) provider.Provider {
	return &toy{url: baseURL, client: client, sloppy: true}
}

func newToyLoop(_ testing.TB, baseURL string, client *http.Client, _ *Case) provider.Provider {
	return &toy{url: baseURL, client: client, theirs: true}
}

func (y *toy) EndsWithContext() bool { return true }

func (y *toy) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	var used atomic.Bool
	return func(yield func(provider.Chunk, error) bool) {
		if used.Swap(true) {
			yield(provider.Chunk{}, provider.ErrConsumed)
			return
		}
		err := y.call(ctx, req, func(c provider.Chunk) bool {
			return ctx.Err() == nil && yield(c, nil)
		})
		switch {
		case errors.Is(err, errLeft) && ctx.Err() == nil:
		case ctx.Err() != nil:
			yield(provider.Chunk{}, fault.Wrap(fault.None, context.Cause(ctx)))
		case err != nil:
			yield(provider.Chunk{}, err)
		}
	}
}

var errLeft = errors.New("the consumer has left")

func (y *toy) call(ctx context.Context, req *provider.Request, yield func(provider.Chunk) bool) error {
	if req == nil {
		return provider.ErrNilRequest
	}
	body, err := json.Marshal(map[string]any{"messages": y.messages(req)})
	if err != nil {
		return err
	}
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, y.url+"/toy", bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := y.client.Do(hr)
	if err != nil {
		return fault.Wrap(fault.Transient, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		return y.failure(res, string(text))
	}
	return y.decode(res.Body, yield)
}

func (y *toy) failure(res *http.Response, text string) error {
	code, message, _ := strings.Cut(strings.TrimSpace(text), " ")
	e := &provider.Error{Class: fault.FromStatus(res.StatusCode), Provider: "toy", Status: res.StatusCode, Code: code,
		Message: message}
	var he *fault.HTTPError
	if errors.As(fault.FromHTTP(res), &he) {
		e.RequestID = he.RequestID
		if wait, ok := he.RetryAfter(); ok {
			e.Wait = &wait
		}
	}
	return e
}

func (y *toy) decode(body io.Reader, yield func(provider.Chunk) bool) error {
	if !yield(provider.Start("toy")) {
		return errLeft
	}
	r := bufio.NewReader(body)
	for n := 0; ; n++ {
		line, err := y.line(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return fault.Wrap(fault.Transient, err)
		}
		if err != nil {
			if y.sloppy {
				yield(provider.End(provider.StopDone, provider.Usage{}))
				return nil
			}
			return provider.ErrIncomplete
		}
		chunks, last, err := toyChunks(n, strings.TrimSuffix(line, "\n"))
		for _, c := range chunks {
			if !yield(c) {
				return errLeft
			}
		}
		if err != nil || last {
			return err
		}
	}
}

// line returns the next line; a sloppy toy returns the result of a single read.
func (y *toy) line(r *bufio.Reader) (string, error) {
	if !y.sloppy {
		return r.ReadString('\n')
	}
	if _, err := r.Peek(1); err != nil {
		return "", io.EOF
	}
	some, err := r.Peek(r.Buffered())
	if end := bytes.IndexByte(some, '\n'); end >= 0 {
		some = some[:end+1]
	}
	text := string(some)
	_, _ = r.Discard(len(text))
	return text, err
}

func toyChunks(n int, line string) (chunks []provider.Chunk, last bool, err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "text":
		return []provider.Chunk{provider.Text(rest)}, false, nil
	case "think":
		return []provider.Chunk{provider.Reasoning(rest)}, false, nil
	case "refuse":
		return []provider.Chunk{provider.Refusal(rest)}, false, nil
	case "call":
		f := strings.SplitN(rest, " ", 3)
		return []provider.Chunk{provider.ToolStart(n, f[0], f[1]), provider.ToolDelta(n, f[2]), provider.ToolEnd(n)},
			false, nil
	case "ran":
		f := strings.SplitN(rest, " ", 3)
		return []provider.Chunk{provider.ProviderCall(provider.ToolCall{ID: f[0], Name: f[1], Input: []byte(f[2])})},
			false, nil
	case "done":
		stop, figures, _ := strings.Cut(rest, " ")
		var u provider.Usage
		if err := json.Unmarshal([]byte(figures), &u); err != nil {
			return nil, true, fault.Wrap(fault.Permanent, err)
		}
		u.Raw = figures
		return []provider.Chunk{provider.End(provider.StopReason(stop), u)}, true, nil
	case "fail":
		code, message, _ := strings.Cut(rest, " ")
		return nil, true, &provider.Error{Class: fault.Degraded, Code: code, Message: message}
	}
	return nil, false, nil
}

// messages returns messages in the chat format, as far as the tests need it.
func (y *toy) messages(req *provider.Request) []map[string]any {
	var out []map[string]any
	ids := map[string]string{}
	for i := range req.Messages {
		m := &req.Messages[i]
		entry := map[string]any{"role": m.Role, "content": m.Text()}
		var calls []any
		for _, c := range m.Calls() {
			ids[c.ID] = c.ID
			if y.theirs {
				ids[c.ID] = c.ProviderID
			}
			calls = append(calls, map[string]any{"id": ids[c.ID], "type": "function",
				"function": map[string]any{"name": c.Name, "arguments": string(c.Input)}})
		}
		if calls != nil {
			entry["tool_calls"] = calls
		}
		for _, p := range m.Parts {
			if p.Result != nil {
				out = append(out,
					map[string]any{"role": "tool", "tool_call_id": ids[p.Result.CallID], "content": p.Result.Text()})
			}
		}
		if m.Role != provider.RoleTool {
			out = append(out, entry)
		}
	}
	return out
}
