package bedrock_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/bedrock"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

// answered makes a call of nova that gets this answer.
func answered(t testing.TB, body string) (*provider.Response, error) {
	return provider.Generate(t.Context(), answering(t, body), ask(""))
}

// answering returns a model that answers with body.
func answering(t testing.TB, body string) provider.Provider {
	m, err := bedrock.New(t.Context(), bedrock.Config{Model: nova, Region: "us-east-1", Credentials: credentials(),
		HTTPClient: &http.Client{Transport: &wire.Offline{Reply: wire.Always(200, body)}}})
	require.NoError(t, err)
	return m
}

func body(c *wire.Case) string {
	text, err := c.Exchanges[0].Response.Bytes()
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestAnAnswerOfConverseStream(t *testing.T) {
	res, err := answered(t, body(conversed()))
	require.NoError(t, err)
	require.Equal(t, "Grüß dich.", res.Text())
	require.Equal(t, provider.StopToolCalls, res.Stop)
	require.Equal(t, provider.Usage{Input: 7, Output: 9, CacheRead: 2},
		provider.Usage{Input: res.Usage.Input, Output: res.Usage.Output, CacheRead: res.Usage.CacheRead})
	require.Equal(t, provider.Part{Kind: provider.PartReasoning, Text: "Hm.",
		Opaque: &provider.Opaque{Provider: bedrock.Name, Kind: "signature", Data: "c2ln"}}, res.Parts[0])
	calls := res.Calls()
	require.Len(t, calls, 1)
	require.Equal(t, `t-1 look {"at":"it"}`, calls[0].ID+" "+calls[0].Name+" "+string(calls[0].Input))
}

func TestDetailsOfConverse(t *testing.T) {
	const more = `"serviceTier":{"type":"flex"},"trace":{"guardrail":{"actionReason":"x"}},"performanceConfig":{"latency":"optimized"}`
	for _, answer := range []string{
		event("messageStart", `{}`) +
			event("messageStop", `{"stopReason":"end_turn","additionalModelResponseFields":{"a":1}}`) +
			event("metadata", `{"usage":{"inputTokens":7,"outputTokens":1},`+more+`}`),
		`{"output":{"message":{"content":[{"text":"Hi."}]}},"stopReason":"end_turn","additionalModelResponseFields":{"a":1},` + more + `}`,
	} {
		res, err := answered(t, answer)
		require.NoError(t, err)
		require.Equal(t, map[string]json.RawMessage{"serviceTier": json.RawMessage(`{"type":"flex"}`),
			"trace":                         json.RawMessage(`{"guardrail":{"actionReason":"x"}}`),
			"performanceConfig":             json.RawMessage(`{"latency":"optimized"}`),
			"additionalModelResponseFields": json.RawMessage(`{"a":1}`)}, res.Details)
	}
}

func TestStopReasonsOfConverse(t *testing.T) {
	for raw, want := range map[string]provider.StopReason{"end_turn": provider.StopDone,
		"max_tokens": provider.StopLength, "stop_sequence": provider.StopDone,
		"guardrail_intervened": provider.StopFiltered, "content_filtered": provider.StopFiltered,
		"malformed_tool_use":            provider.StopError,
		"model_context_window_exceeded": provider.StopLength, "new": provider.StopUnknown} {
		// without the usage
		res, err := answered(t, event("messageStart", `{}`)+event("messageStop", `{"stopReason":"`+raw+`"}`))
		require.NoError(t, err)
		require.Equal(t, want, res.Stop, raw)
		require.Equal(t, raw, res.StopRaw)
	}
}

// A stream that ends after the stop reason hasn't reported its usage, which isn't 0.
func TestUsageThatDoesNotComeIsUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		last string
		want bool
	}{
		"no metadata":            {"", false},
		"metadata without usage": {event("metadata", `{}`), false},
		"metadata":               {event("metadata", `{"usage":{"inputTokens":7,"outputTokens":1}}`), true},
	} {
		var end provider.Chunk
		body := event("messageStart", `{}`) +
			event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Hi."}}`) +
			event("contentBlockStop", `{"contentBlockIndex":0}`) + event("messageStop", `{"stopReason":"end_turn"}`)
		for chunk, err := range answering(t, body+c.last).Stream(t.Context(), ask("")) {
			require.NoError(t, err, name)
			end = chunk
		}
		require.Equal(t, provider.KindEnd, end.Kind, name)
		require.Equal(t, c.want, end.Extra.Usage != nil, name)
	}
}

func TestRedactedReasoningIsSentBack(t *testing.T) {
	res, err := answered(t, event("messageStart", `{}`)+
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"redactedContent":"cmVk"}}}`)+
		event("contentBlockStop", `{"contentBlockIndex":0}`)+event("contentBlockDelta",
		`{"contentBlockIndex":1,"delta":{"text":"x"}}`)+
		event("messageStop", `{"stopReason":"end_turn"}`)+event("metadata", `{}`))
	require.NoError(t, err)
	req := ask(nova)
	req.Messages = append(req.Messages, res.Message(), provider.User("more"))
	_, sent := sent(t, bedrock.Config{}, req)
	require.Contains(t, sent, `{"reasoningContent":{"redactedContent":"cmVk"}},{"text":"x"}`)
}

func TestABadAnswerIsAnError(t *testing.T) {
	whole := body(conversed())
	for name, c := range map[string]struct {
		body  string
		class fault.Class
	}{
		"empty":     {"", fault.Transient},
		"page":      {"<html>", fault.Permanent},
		"no answer": {`{"message":"x"}`, fault.Transient},
		"no JSON":   {event("contentBlockDelta", "{"), fault.Transient},
		"damaged":   {whole[:60] + "X" + whole[61:], fault.Transient},
		"large":     {prelude(bedrock.MostFrame+1, 0), fault.Permanent},
		"call at no time": {event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{"}}}`),
			fault.Transient},
		"input no text": {event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":{}}}}`),
			fault.Transient},
		"no end": {event("messageStart", `{}`) + event("metadata", `{}`), fault.Transient},
	} {
		_, err := answered(t, c.body)
		require.Error(t, err, name)
		require.Equal(t, c.class, fault.Of(err), "%s: %v", name, err)
	}
}

func TestUnknownEventsAreIgnored(t *testing.T) {
	res, err := answered(t, event("new", `{}`)+event("contentBlockStart",
		`{"start":{"new":{}}}`)+event("contentBlockDelta", `{"delta":{"citation":{}}}`)+
		event("contentBlockStop", `{}`)+frame("{}")+body(conversed()))
	require.NoError(t, err)
	require.Equal(t, "Grüß dich.", res.Text())
}

func FuzzAnswer(f *testing.F) {
	f.Add(body(conversed()))
	f.Add(body(invoked()))
	f.Add(
		`{"output":{"message":{"content":[{"text":"x"},{"toolUse":{"toolUseId":"t","name":"n","input":{}}}]}},"stopReason":"end_turn","usage":{"inputTokens":1}}`)
	f.Add(exception("throttlingException", `{"message":"no"}`))
	f.Fuzz(func(t *testing.T, body string) {
		for _, converse := range []bool{false, true} {
			out, err := bedrock.Converted(body, converse)
			again, _ := bedrock.Converted(body, converse)
			require.Equal(t, out, again)
			if err == nil && strings.HasPrefix(body, "\x00") { // an event stream, which becomes server-sent events
				require.True(t, out == "" || strings.HasSuffix(out, "\n\n"), out)
			}
		}
	})
}

func TestManyFramesAreReadInPieces(t *testing.T) {
	var long strings.Builder
	long.WriteString(event("messageStart", `{}`))
	for i := range 1000 {
		long.WriteString(event("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":0,"delta":{"text":"%d "}}`, i)))
	}
	long.WriteString(event("messageStop", `{"stopReason":"end_turn"}`))
	res, err := answered(t, long.String())
	require.NoError(t, err)
	require.Equal(t, 1000, len(strings.Fields(res.Text())))
}
