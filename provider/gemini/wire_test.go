package gemini_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

const format = "gemini-generate-content"

func newModel(t testing.TB, baseURL string, client *http.Client, c *wire.Case) provider.Provider {
	m, err := gemini.New(gemini.Config{Model: c.Model, APIKey: "test-key", BaseURL: baseURL, HTTPClient: client})
	require.NoError(t, err)
	return m
}

// exchange is a hand-written answer of status 200.
func exchange(file string) *wire.Case { return wire.File(format, "testdata/"+file) }

func TestWire(t *testing.T) {
	wire.Run(t, wire.Config{Providers: []string{"gemini"}, New: newModel})
}

// What the recording programs did differently.
const (
	alphabet = "the recording program wrote the signatures in the other alphabet of base64; they go back here as they came"
	earlier  = "what the request is rebuilt from has lost the signatures of earlier turns"
	renamed  = "the recording program gave the calls ids of its own, which nothing in the answer says"
	dropped  = "the recording program kept the pieces of a text apart, and dropped its signature"
	told     = "the recording program sent back the summaries of thoughts, which carry no signature and which the API doesn't want, and kept the pieces of the text apart"
)

// The ids of calls aren't compared: the model sent none, and the name that an agent gives a call is sent as its id.
func TestWireRequests(t *testing.T) {
	wire.Loops(t, wire.Config{Providers: []string{"gemini"}, New: newModel, Ignore: []string{"id"}, KnownDeviations: map[string]string{
		"gemini-adk-llminternal-testparallelfunctioncalls-parallel-function-calls-gemini-2":      earlier,
		"gemini-chatlas-provider-google-google-web-fetch":                                        dropped,
		"gemini-crewai-google-gemini-agent-kickoff-structured-output-with-tools":                 alphabet,
		"gemini-mirascope-google-gemini-2-5-flash-async-stream":                                  told,
		"gemini-mirascope-strict-mode-with-tools-streamed-google-gemini-3-pro-preview":           alphabet,
		"gemini-pydantic-google-google-model-file-search-grounding-gemini-3-true":                alphabet,
		"gemini-pydantic-multimodal-tool-returns-multimodal-tool-return-matrix-tool-return-cont": renamed,
	}})
}

func TestWireRequestsApartFromSignatures(t *testing.T) {
	wire.Loops(t, wire.Config{Providers: []string{"gemini"}, New: newModel, Ignore: []string{"id", "thoughtSignature"}, KnownDeviations: map[string]string{
		"gemini-chatlas-provider-google-google-web-fetch":                                        dropped,
		"gemini-mirascope-google-gemini-2-5-flash-async-stream":                                  told,
		"gemini-pydantic-google-google-model-file-search-grounding-gemini-3-true":                "the recording program put the grounding into the results of the provider's own tool, which came without any",
		"gemini-pydantic-multimodal-tool-returns-multimodal-tool-return-matrix-tool-return-cont": renamed,
	}})
}

func TestConformance(t *testing.T) {
	for _, file := range []string{"hello.sse", "code.sse", "array.json", "whole.json"} {
		t.Run(file, func(t *testing.T) { wire.Conformance(t, newModel, exchange(file)) })
	}
}

func TestACutAnywhereIsAnError(t *testing.T) {
	for _, file := range []string{"hello.sse", "array.json", "whole.json"} {
		t.Run(file, func(t *testing.T) { wire.EveryCut(t, newModel, exchange(file), wire.Past(`"finishReason"`)) })
	}
}

func TestAServerThatFallsSilentIsLeft(t *testing.T) {
	wire.Hanging(t, newModel, exchange("hello.sse"))
}
