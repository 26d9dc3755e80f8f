package bedrock_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/bedrock"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

// sent makes a call and returns the request as it was sent. cfg has what differs.
func sent(t testing.TB, cfg bedrock.Config, req *provider.Request) (*http.Request, string) {
	tr := &wire.Offline{Reply: wire.Always(500, "no")}
	cfg.HTTPClient = &http.Client{Transport: tr}
	if cfg.Model == "" {
		cfg.Model = claude
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	if cfg.Credentials == nil {
		cfg.Credentials = credentials()
	}
	m, err := bedrock.New(t.Context(), cfg)
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, req)
	require.Error(t, err)
	require.Len(t, tr.Asked, 1, "%v", err)
	return tr.Asked[0], string(tr.Bodies[0])
}

// dialog is a conversation with a call and media.
func dialog() *provider.Request {
	return &provider.Request{
		System: "Be brief.",
		Messages: []provider.Message{
			{Role: provider.RoleUser,
				Parts: []provider.Part{provider.MediaPart(provider.Media{Type: "image/png", Data: []byte("png")}),
					provider.MediaPart(provider.Media{Type: "text/plain", Name: "ignore.txt", Data: []byte("hello")})}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{
				{Kind: provider.PartReasoning, Text: "Hm.",
					Opaque: &provider.Opaque{Provider: bedrock.Name, Kind: "signature", Data: "c2ln"}},
				{Kind: provider.PartReasoning, Text: "Not its own.",
					Opaque: &provider.Opaque{Provider: "anthropic", Kind: "signature", Data: "other"}},
				{Kind: provider.PartToolCall,
					Call: &provider.ToolCall{ID: "c-1", Name: "look", Input: json.RawMessage(`{"at":1}`)}}}},
			{Role: provider.RoleTool,
				Parts: []provider.Part{
					provider.ResultPart(provider.ToolResult{CallID: "c-1", Name: "look", Error: true})}},
		},
		Tools:      []provider.Tool{{Name: "look", Description: "Looks."}},
		ToolChoice: provider.ToolChoice{Mode: provider.ChooseRequired},
		Sampling:   &provider.Sampling{Temperature: aws.Float64(.5), Stop: []string{"END"}},
		Reasoning:  &provider.ReasoningOptions{Effort: "high"},
		Cache:      true,
	}
}

func TestARequestToConverse(t *testing.T) {
	req := dialog()
	req.Options = map[string]json.RawMessage{
		"bedrock": json.RawMessage(`{"guardrailConfig":{"guardrailIdentifier":"g"},"inferenceConfig":{"topP":0.9},` +
			`"additionalModelRequestFields":{"x":1}}`), "anthropic": json.RawMessage(`{"thinking":{"type":"enabled"}}`)}
	req.Tools[0].Options = map[string]json.RawMessage{"bedrock": json.RawMessage(`{"strict":true}`),
		"anthropic": json.RawMessage(`{"defer_loading":true}`)}
	before, err := json.Marshal(req)
	require.NoError(t, err)
	r, body := sent(t, bedrock.Config{Model: nova}, req)
	require.Equal(t, "/model/amazon.nova-lite-v1%3A0/converse-stream", r.URL.EscapedPath())
	require.JSONEq(t, `{"system":[{"text":"Be brief."}],
		"messages":[
			{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"cG5n"}}},{"document":{"format":"txt","name":"document-1","source":{"bytes":"aGVsbG8="}}},
				{"text":"(See the document.)"}]},
			{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},
				{"toolUse":{"toolUseId":"c-1","name":"look","input":{"at":1}}}]},
			{"role":"user","content":[{"toolResult":{"toolUseId":"c-1","content":[{"text":"(empty)"}],"status":"error"}}]}],
		"toolConfig":{"tools":[{"toolSpec":{"name":"look","description":"Looks.","inputSchema":{"json":{"type":"object","properties":{}}},"strict":true}}],"toolChoice":{"any":{}}},
		"inferenceConfig":{"temperature":0.5,"stopSequences":["END"],"topP":0.9},
		"guardrailConfig":{"guardrailIdentifier":"g"},"additionalModelRequestFields":{"x":1}}`, body)
	after, err := json.Marshal(req)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the request was changed")
	_, again := sent(t, bedrock.Config{Model: nova}, req)
	require.Equal(t, body, again, "equal requests have equal bodies")
}

func TestARequestToConverseWithASchemaHasItInTheSystemText(t *testing.T) {
	req := &provider.Request{Messages: []provider.Message{provider.User("x")}, MaxOutput: 7,
		Output: &provider.OutputFormat{Schema: json.RawMessage(`{"type":"object"}`)}}
	_, body := sent(t, bedrock.Config{Model: nova}, req)
	require.JSONEq(t,
		`{"inferenceConfig":{"maxTokens":7},"messages":[{"role":"user","content":[{"text":"x"}]}],"system":[{"text":"Answer with one JSON value that is valid `+
			`for this JSON Schema, and with nothing else, not even a code fence:\n{\"type\":\"object\"}"}]}`, body)
}

func TestARequestToClaude(t *testing.T) {
	req := &provider.Request{Messages: []provider.Message{provider.User("a < b")}, MaxOutput: 7}
	header := http.Header{"Anthropic-Beta": {"one, two"}}
	r, body := sent(t, bedrock.Config{Header: header}, req)
	require.Equal(t, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream",
		r.URL.EscapedPath())
	require.Equal(t, `{"anthropic_beta":["one","two"],"anthropic_version":"bedrock-2023-05-31","max_tokens":7,`+
		`"messages":[{"role":"user","content":[{"type":"text","text":"a < b"}]}]}`, body)
	require.Empty(t, r.Header.Values("Anthropic-Beta"))
	require.NotEmpty(t, header)
}

func TestAnARNIsOneElementOfThePath(t *testing.T) {
	req := &provider.Request{Model: "arn:aws:bedrock:us-east-1:000000000000:application-inference-profile/a1",
		Messages: []provider.Message{provider.User("x")}}
	r, _ := sent(t, bedrock.Config{}, req)
	require.Equal(t,
		"/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A000000000000%3Aapplication-inference-profile%2Fa1/converse-stream",
		r.URL.EscapedPath())
}

func TestRegionsHaveAddresses(t *testing.T) {
	req := &provider.Request{Messages: []provider.Message{provider.User("x")}}
	for region, host := range map[string]string{"eu-west-1": "bedrock-runtime.eu-west-1.amazonaws.com",
		"cn-north-1": "bedrock-runtime.cn-north-1.amazonaws.com.cn"} {
		r, _ := sent(t, bedrock.Config{Region: region}, req)
		require.Equal(t, "https://"+host, r.URL.Scheme+"://"+r.URL.Host)
	}
}

func TestMediaThatCanNotBeSentIsAnError(t *testing.T) {
	tr := &wire.Offline{Reply: wire.Always(500, "no")}
	m, err := bedrock.New(t.Context(), bedrock.Config{Model: nova, Region: "us-east-1", Credentials: credentials(),
		HTTPClient: &http.Client{Transport: tr}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, &provider.Request{Messages: []provider.Message{{Role: provider.RoleUser,
		Parts: []provider.Part{
			provider.MediaPart(provider.Media{Type: "image/png", URL: "https://example.org/x.png"})}}}})
	require.ErrorContains(t, err, "set Media.Data")
	require.Equal(t, fault.Permanent, fault.Of(err))
	require.Empty(t, tr.Asked)
}

func TestABadConfigIsAnError(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "missing"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "missing"))
	for want, cfg := range map[string]bedrock.Config{
		"no model":       {Region: "us-east-1", Credentials: credentials()},
		"no region":      {Model: nova, Credentials: credentials()},
		"isn't valid":    {Model: nova, Region: "evil.test/", Credentials: credentials()},
		"Config.BaseURL": {Model: nova, Region: "us-east-1", Credentials: credentials(), BaseURL: "ftp://x"},
	} {
		_, err := bedrock.New(t.Context(), cfg)
		require.ErrorContains(t, err, want)
		require.Equal(t, fault.UserFixable, fault.Of(err))
	}
}

func TestTheConfigurationOfTheMachineIsUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t,
		os.WriteFile(file,
			[]byte(
				"[profile p]\nregion = eu-north-1\naws_access_key_id = AKIDOFTHEFILE\naws_secret_access_key = s3cr3t-of-the-file\n"), 0o600))
	t.Setenv("AWS_CONFIG_FILE", file)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	t.Setenv("AWS_PROFILE", "p")
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
		"AWS_SESSION_TOKEN"} {
		t.Setenv(name, "")
	}
	var asked *http.Request
	client := &http.Client{Transport: transport(func(r *http.Request) { asked = r })}
	m, err := bedrock.New(context.Background(), bedrock.Config{Model: nova, HTTPClient: client})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, &provider.Request{Messages: []provider.Message{provider.User("x")}})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, "bedrock-runtime.eu-north-1.amazonaws.com", asked.URL.Host)
	require.Contains(t, asked.Header.Get("Authorization"), "AKIDOFTHEFILE/")
}

type transport func(*http.Request)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return nil, io.ErrUnexpectedEOF
}
