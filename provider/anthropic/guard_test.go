package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func TestASecretThatTheServerRepeatsIsRemovedFromErrors(t *testing.T) {
	told := `{"type":"error","error":{"type":"t ` + secret + `","code":"c ` + secret + `","message":"m ` + secret +
		`"},"request_id":"r ` + secret + `"}`
	event := "event: error\ndata: " + told + "\n\n"
	for _, cfg := range []anthropic.Config{
		{APIKey: secret},
		{Header: http.Header{"X-Api-Key": {secret}}},
		{Header: http.Header{"authorization": {"Bearer " + secret}}},
		{Header: http.Header{"X-Goog-Api-Key": {secret}}},
	} {
		for _, answer := range []func(*http.Request) *http.Response{
			wire.Always(400, told), wire.Always(400, told, "Request-Id", secret), wire.Always(200, event),
			wire.Always(200, told), wire.Always(200, event, "Request-Id", secret),
			wire.Always(502, strings.Repeat("x", 290)+" "+secret), // which is cut in the middle
		} {
			_, err := provider.Generate(t.Context(), connect(t, cfg, &wire.Offline{Reply: answer}), ask("x"))
			var e *provider.Error
			require.ErrorAs(t, err, &e)
			require.NotContains(t, fmt.Sprintf("%+v %+v", err, *e), secret[:8])
			require.Contains(t, e.Message, "[re")
		}
		_, err := provider.CountTokens(t.Context(), connect(t, cfg, &wire.Offline{Reply: wire.Always(200, secret)}),
			ask("x"))
		require.ErrorContains(t, err, "[redacted]")
		require.NotContains(t, err.Error(), secret)
	}
}

func TestTheEnvironmentsKeyIsNotSentToOtherAddresses(t *testing.T) {
	const own = "https://api.anthropic.com"
	for _, c := range []struct{ base, env, want string }{
		{"", "", secret}, {own, "", secret}, {own + "/v1", "", secret}, {"", "http://gateway", secret},
		{"http://gateway", "http://gateway", secret},
		{"http://elsewhere", "", ""}, {"http://elsewhere", "http://gateway", ""}, {"http://api.anthropic.com", "", ""},
		{"https://api.anthropic.com.elsewhere", "", ""}, {"https://api.anthropic.com:8443", "", ""},
	} {
		for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
			emptyEnvironment(t)
			t.Setenv(name, secret)
			t.Setenv("ANTHROPIC_BASE_URL", c.env)
			tr := &wire.Offline{Reply: wire.Always(200, okay)}
			m, err := anthropic.New(anthropic.Config{BaseURL: c.base, HTTPClient: &http.Client{Transport: tr}})
			require.NoError(t, err)
			_, err = provider.Generate(t.Context(), m, ask("x"))
			require.NoError(t, err)
			h := tr.Asked[0].Header
			require.Equal(t, c.want, h.Get("X-Api-Key")+strings.TrimPrefix(h.Get("Authorization"), "Bearer "), "%+v", c)
		}
	}
}

// An endless repeats a text, and counts the bytes that were read.
type endless struct {
	text   string
	given  int64
	closed bool
}

func (e *endless) Read(b []byte) (int, error) {
	if e.given > 256<<20 {
		return 0, errors.New("nobody stops")
	}
	n := copy(b, e.text[int(e.given%int64(len(e.text))):])
	e.given += int64(n)
	return n, nil
}

func (e *endless) Close() error {
	e.closed = true
	return nil
}

func TestAnErrorWithoutEndIsReadOnlyInPart(t *testing.T) {
	body := &endless{text: strings.Repeat("x", 1<<16)}
	_, err := provider.Generate(t.Context(),
		connect(t, anthropic.Config{}, &wire.Offline{Reply: func(*http.Request) *http.Response {
			res := wire.Reply(500, nil)
			res.Body = body
			return res
		}}), ask("x"))
	require.Equal(t, fault.Degraded, fault.Of(err))
	require.LessOrEqual(t, body.given, int64(1<<20))
	require.True(t, body.closed)
}

func TestAnEndlessEventIsAnErrorAndALongStreamIsNot(t *testing.T) {
	long := &endless{text: "data: " + strings.Repeat("y", 1<<20) + "\n"}
	_, err := provider.Generate(t.Context(), offlineReader(t, long), ask("x"))
	require.ErrorContains(t, err, "more than")
	require.Equal(t, fault.Permanent, fault.Of(err))
	require.Less(t, long.given, int64(72<<20))

	const size = 96 << 20 // more than the limit of one event
	stop := "event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n"
	pings := &endless{text: "event: ping\r\ndata: " + strings.Repeat("z", 1<<20) + "\r\n\r\n"}
	whole := int64(len(pings.text)) * (size / int64(len(pings.text)))
	_, err = provider.Generate(t.Context(),
		offlineReader(t, io.MultiReader(io.LimitReader(pings, whole), bytes.NewReader([]byte(stop)))), ask("x"))
	require.NoError(t, err)
}

func TestResultsOfCallsWithTheSameIDAreMatchedByName(t *testing.T) {
	call := func(name string) provider.Part {
		return provider.Part{Kind: provider.PartToolCall,
			Call: &provider.ToolCall{ID: "same", Name: name, Input: json.RawMessage(`{}`)}}
	}
	result := func(name string) provider.Part {
		return provider.Part{Kind: provider.PartToolResult, Result: &provider.ToolResult{CallID: "same", Name: name,
			Parts: []provider.Part{provider.TextPart("of " + name)}}}
	}
	body := sent(t, &provider.Request{Messages: []provider.Message{provider.User("x"),
		{Role: provider.RoleAssistant, Parts: []provider.Part{call("a"), call("b"), call("c")}},
		{Role: provider.RoleTool, Parts: []provider.Part{result("other"), result("c"), result("a")}},
	}})
	var messages []struct {
		Content []struct {
			Content []struct{ Text string }
		}
	}
	require.NoError(t, json.Unmarshal(body["messages"], &messages))
	var got []string
	for _, block := range messages[2].Content {
		got = append(got, block.Content[0].Text)
	}
	require.Equal(t, []string{"of a", "of other", "of c"}, got)
}
