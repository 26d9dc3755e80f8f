package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func newModel(t testing.TB, baseURL string, client *http.Client, c *wire.Case) provider.Provider {
	m, err := anthropic.New(anthropic.Config{Model: c.Model, APIKey: "test-key", BaseURL: baseURL, HTTPClient: client})
	require.NoError(t, err)
	return m
}

// exchange is a hand-written answer of status 200.
func exchange(file string) *wire.Case { return wire.File("anthropic-messages", "testdata/"+file) }

func TestWire(t *testing.T) {
	wire.Run(t, wire.Config{Providers: []string{"anthropic"}, New: newModel})
}

func TestWireRequests(t *testing.T) {
	wire.Loops(t, wire.Config{Providers: []string{"anthropic"}, New: newModel, KnownDeviations: map[string]string{
		"anthropic-chatlas-provider-anthropic-anthropic-empty-response":    "the recording program put [empty string] in place of an empty answer; there is nothing to send back",
		"anthropic-ellmer-anthropic-tool-image":                            "the recording program dropped the thinking block, which the API wants back",
		"anthropic-ellmer-anthropic-web-search":                            "the recording program dropped the thinking block and the citations, which the API wants back",
		"anthropic-fantasy-claude-sonnet-4-computer-use-streaming":         "the recording program dropped the text beside the call",
		"anthropic-pydantic-anthropic-pause-turn-web-search-streaming-vcr": "the recorder turned typographic quotes and dashes of the request into ASCII",
	}})
}

func TestConformance(t *testing.T) {
	for _, file := range []string{"hello.sse", "search.sse", "whole.json"} {
		t.Run(file, func(t *testing.T) { wire.Conformance(t, newModel, exchange(file)) })
	}
}

func TestAStreamCutAnywhereIsAnError(t *testing.T) {
	wire.EveryCut(t, newModel, exchange("hello.sse"), wire.Past("event: message_stop"))
}

func TestACallToASilentServerEnds(t *testing.T) {
	wire.Hanging(t, newModel, exchange("hello.sse"))
}
