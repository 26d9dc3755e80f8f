package bedrock_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/bedrock"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

// The secrets of the tests.
const (
	theID      = "AKIDOFTHETEST"
	theSecret  = "secret-key-of-the-test/+1"
	theSession = "session-token-of-the-test=="
)

// credentials are fixed.
func credentials() aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: theID, SecretAccessKey: theSecret, SessionToken: theSession}, ctx.Err()
	})
}

const (
	claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	nova   = "amazon.nova-lite-v1:0"
)

// newModel returns a Model that calls the API of the recording: it was made with a model that this
// package would call by the other one.
func newModel(t testing.TB, baseURL string, client *http.Client, c *wire.Case) provider.Provider {
	model := claude
	if c.Wire == "bedrock-converse" {
		model = nova
	}
	m, err := bedrock.New(t.Context(), bedrock.Config{Model: model, Region: "us-east-1",
		Credentials: aws.NewCredentialsCache(credentials()), BaseURL: baseURL, HTTPClient: client})
	require.NoError(t, err)
	return m
}

func TestCredentialsOfTheHostMayIgnoreTheContext(t *testing.T) {
	m, err := bedrock.New(t.Context(), bedrock.Config{Model: nova, Region: "us-east-1", Credentials: credentials()})
	require.NoError(t, err)
	require.False(t, provider.EndsWithContext(m))
	m, err = bedrock.New(t.Context(), bedrock.Config{Model: nova, Region: "us-east-1",
		Header: http.Header{"Authorization": {"Bearer key"}}})
	require.NoError(t, err)
	require.True(t, provider.EndsWithContext(m), "no credentials are needed")
}

func TestWire(t *testing.T) {
	wire.Run(t, wire.Config{Providers: []string{"bedrock"}, New: newModel})
}

// invoked is an answer of InvokeModelWithResponseStream.
func invoked() *wire.Case {
	var body strings.Builder
	for _, data := range []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","model":"claude-sonnet-4-5","usage":{"input_tokens":5,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüß "}}`,
		"{\"type\":\"content_block_delta\",\r\n\"index\":0,\n\"delta\":{\"type\":\"text_delta\",\"text\":\"dich.\"}}",
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}`,
		`{"type":"message_stop"}`,
	} {
		body.WriteString(event("chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(data))+`","p":"abc"}`))
	}
	return wire.Answer("bedrock-invoke-anthropic", 200, "application/vnd.amazon.eventstream", body.String())
}

// conversed is an answer of ConverseStream, with reasoning, text and a call.
func conversed() *wire.Case {
	return wire.Answer("bedrock-converse", 200, "application/vnd.amazon.eventstream",
		event("messageStart", `{"role":"assistant"}`)+
			event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hm."}}}`)+
			event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`)+
			event("contentBlockStop", `{"contentBlockIndex":0}`)+
			event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"Grüß "}}`)+
			event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"dich."}}`)+
			event("contentBlockStop", `{"contentBlockIndex":1}`)+
			event("contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t-1","name":"look"}}}`)+
			event("contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"at\":"}}}`)+
			event("contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"\"it\"}"}}}`)+
			event("contentBlockStop", `{"contentBlockIndex":2}`)+
			event("messageStop", `{"stopReason":"tool_use"}`)+
			event("metadata",
				`{"usage":{"inputTokens":5,"outputTokens":9,"totalTokens":14,"cacheReadInputTokens":2},"metrics":{"latencyMs":3}}`))
}

func TestConformance(t *testing.T) {
	for _, c := range []*wire.Case{invoked(), conversed()} {
		t.Run(c.Wire, func(t *testing.T) { wire.Conformance(t, newModel, c) })
	}
}

func TestAStreamCutAnywhereIsAnError(t *testing.T) {
	last := event("chunk",
		`{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(`{"type":"message_stop"}`))+`","p":"abc"}`)
	wire.EveryCut(t, newModel, invoked(), last)
	wire.EveryCut(t, newModel, conversed(), "messageStop")
}

func TestACallToASilentServerEnds(t *testing.T) {
	wire.Hanging(t, newModel, invoked())
	wire.Hanging(t, newModel, conversed())
}
