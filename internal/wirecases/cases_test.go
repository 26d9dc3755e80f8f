package wirecases

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
)

var write = flag.Bool("write", false, "write what the adapters make of the cases into their files")

// A wireCase is a file.
type wireCase struct {
	path, api, about      string
	server                string // the name of a known server; empty: an unknown one
	answer, request, want string
}

// An api is one of those that the cases speak.
type api struct {
	open func(address string, client *http.Client) (provider.Provider, error)
	said string // the field with the conversation
	done string // an answer that ends the conversation
}

var apis = map[string]api{
	"chat": {opened(openai.Chat), "messages", `{"id":"z","model":"m","choices":[{"index":0,"message":{"role":"assistant",` +
		`"content":"Bye."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`},
	"responses": {opened(openai.Responses), "input", `{"id":"z","model":"m","status":"completed","output":[{"type":"message",` +
		`"id":"n","content":[{"type":"output_text","text":"Bye."}]}],"usage":{"input_tokens":1,"output_tokens":1}}`},
	"claude": {func(address string, client *http.Client) (provider.Provider, error) {
		return anthropic.New(anthropic.Config{Model: "m", APIKey: "k", BaseURL: address, HTTPClient: client})
	}, "messages", `{"id":"z","type":"message","model":"m","role":"assistant","content":[{"type":"text","text":"Bye."}],` +
		`"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`},
	"gemini": {func(address string, client *http.Client) (provider.Provider, error) {
		return gemini.New(gemini.Config{Model: "m", APIKey: "k", BaseURL: address, HTTPClient: client})
	}, "contents", `{"candidates":[{"content":{"role":"model","parts":[{"text":"Bye."}]},"finishReason":"STOP"}]}`},
}

func opened(of openai.API) func(string, *http.Client) (provider.Provider, error) {
	return func(address string, client *http.Client) (provider.Provider, error) {
		return openai.New(openai.Config{Model: "m", APIKey: "k", BaseURL: address, API: of, Name: "server",
			HTTPClient: client})
	}
}

func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			c := read(t, path)
			got := c.play(t)
			if *write {
				c.save(t, got)
				return
			}
			require.Equal(t, c.want, got, c.about)
		})
	}
}

// read reads a file.
func read(t testing.TB, path string) *wireCase {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	c := &wireCase{path: path}
	head, rest, answers := strings.Cut(string(data), "\n-- answer --\n")
	if !answers {
		var asks bool
		head, rest, asks = strings.Cut(string(data), "\n-- request --\n")
		require.True(t, asks, "%s has neither an answer nor a request", path)
	}
	body, want, ok := strings.Cut(rest, "\n-- want --\n")
	require.True(t, ok, "%s doesn't say what is wanted", path)
	c.want = want
	if c.api, c.about, _ = strings.Cut(head, "\n"); answers {
		c.answer = body
	} else {
		c.request = body
	}
	require.Contains(t, apis, c.api)
	require.NotEmpty(t, c.about, "%s doesn't say what is special", path)
	return c
}

func (c *wireCase) save(t *testing.T, got string) {
	part, body := "answer", c.answer
	if c.request != "" {
		part, body = "request", c.request
	}
	text := fmt.Sprintf("%s\n%s\n-- %s --\n%s\n-- want --\n%s", c.api, c.about, part, body, got)
	require.NoError(t, os.WriteFile(c.path, []byte(text), 0o644))
}

// play serves the case to its adapter and returns what that makes of it.
func (c *wireCase) play(t *testing.T) string {
	spec := apis[c.api]
	var bodies [][]byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if bodies = append(bodies, body); len(bodies) > 1 || c.answer == "" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, spec.done)
			return
		}
		reset := strconv.FormatInt(time.Now().Add(40*time.Second).UnixMilli(), 10)
		serve(t, w, strings.ReplaceAll(c.answer, "$RESET", reset))
	}))
	defer server.Close()
	client := server.Client()
	defer client.CloseIdleConnections()
	p, err := spec.open(server.URL, client)
	if c.server != "" {
		p, err = openai.New(openai.Config{Server: c.server, Model: "m", APIKey: "k", BaseURL: server.URL,
			HTTPClient: client})
	}
	require.NoError(t, err)
	req := &provider.Request{Messages: []provider.Message{provider.User("Hello.")}, MaxOutput: 1024,
		Tools: []provider.Tool{{Name: "weather"}}}
	if c.request != "" {
		require.NoError(t, json.Unmarshal([]byte(c.request), req))
	}
	res, err := provider.Generate(t.Context(), p, req)
	if c.request != "" && c.server != "" {
		if err != nil {
			return described(err)
		}
		return lines("body", []json.RawMessage{bodies[0]})
	}
	if c.request != "" {
		require.NoError(t, err)
		var sent struct{ Tools []json.RawMessage }
		require.NoError(t, json.Unmarshal(bodies[0], &sent))
		return lines("tool", sent.Tools)
	}
	if err != nil {
		return described(err)
	}
	out := shown(res)
	req.Messages = append(req.Messages, res.Message())
	for _, call := range res.Calls() {
		req.Messages = append(req.Messages, provider.Message{Role: provider.RoleTool, Parts: []provider.Part{{
			Kind: provider.PartToolResult, Result: &provider.ToolResult{CallID: call.ID, Name: call.Name,
				Parts: []provider.Part{provider.TextPart("ok")}}}}})
	}
	if len(res.Calls()) == 0 && res.Stop != provider.StopPaused {
		req.Messages = append(req.Messages, provider.User("And?"))
	}
	_, err = provider.Generate(t.Context(), p, req)
	require.NoError(t, err)
	var sent map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(bodies[1], &sent))
	var said []json.RawMessage
	require.NoError(t, json.Unmarshal(sent[spec.said], &said))
	for _, field := range []string{"continuationToken"} {
		if sent[field] != nil {
			out += fmt.Sprintf("next %s %s\n", field, sent[field])
		}
	}
	return out + lines("next", said[1:])
}

// serve writes an answer byte for byte.
func serve(t *testing.T, w http.ResponseWriter, answer string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	head, body, _ := strings.Cut(answer, "\n\n")
	head = strings.ReplaceAll(strings.ReplaceAll(head, "\r", ""), "\n", "\r\n")
	_, _ = fmt.Fprintf(conn, "%s\r\nConnection: close\r\n\r\n%s", head, body)
}

// shown returns an answer, a line for each part.
func shown(r *provider.Response) string {
	var b strings.Builder
	for i := range r.Parts {
		p := &r.Parts[i]
		switch {
		case p.Call != nil:
			fmt.Fprintf(&b, "%s %s %s %s%s", p.Kind, p.Call.Name, p.Call.ID, p.Call.Input, p.Call.Invalid)
		case p.Result != nil:
			fmt.Fprintf(&b, "%s %s %q", p.Kind, p.Result.CallID, p.Result.Text())
		case p.Source != nil:
			fmt.Fprintf(&b, "%s %s", p.Kind, asJSON(p.Source))
		case p.Kind == provider.PartOpaque:
			fmt.Fprintf(&b, "%s", p.Kind)
		default:
			fmt.Fprintf(&b, "%s %q", p.Kind, p.Text)
		}
		if p.Opaque != nil {
			fmt.Fprintf(&b, " with %s %s", p.Opaque.Kind, p.Opaque.Data)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "model %s, stop %s %q, input %d, output %d\n", r.Model, r.Stop, r.StopRaw, r.Usage.Input, r.Usage.Output)
	for _, name := range slices.Sorted(maps.Keys(r.Details)) {
		fmt.Fprintf(&b, "detail %s %s\n", name, r.Details[name])
	}
	return b.String()
}

// described returns an error in a line.
func described(err error) string {
	var e *provider.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("error %v\n", err)
	}
	out := fmt.Sprintf("error %s %d", e.Fault(), e.Status)
	for _, word := range []string{e.Type, e.Code} {
		if word != "" {
			out += " " + word
		}
	}
	out += ": " + strings.ReplaceAll(e.Message, "\n", " ")
	if e.Wait != nil {
		out += fmt.Sprintf("; wait %s", e.Wait.Round(10*time.Millisecond))
		if *e.Wait > 39*time.Second && *e.Wait <= 40*time.Second {
			out = strings.Replace(out, e.Wait.Round(10*time.Millisecond).String(), "until the reset", 1)
		}
	}
	if e.ContextLength != nil {
		out += fmt.Sprintf("; too long: limit %d, size %d", e.ContextLength.Limit, e.ContextLength.Size)
	}
	return out + "\n"
}

func lines(word string, values []json.RawMessage) string {
	var b strings.Builder
	for _, v := range values {
		var compact bytes.Buffer
		_ = json.Compact(&compact, v) // it comes from a decoder
		fmt.Fprintf(&b, "%s %s\n", word, compact.Bytes())
	}
	return b.String()
}

func asJSON(v any) []byte {
	data, _ := json.Marshal(v) // of a struct with texts and numbers
	return data
}
