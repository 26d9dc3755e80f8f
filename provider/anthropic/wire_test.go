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

func recordings() wire.Config { return wire.Config{Providers: []string{"anthropic"}, New: newModel} }

func TestWire(t *testing.T)       { wire.Run(t, recordings()) }
func TestWireRandom(t *testing.T) { wire.Random(t, recordings()) }

func TestConformance(t *testing.T) {
	for _, file := range []string{"hello.sse", "search.sse", "whole.json"} {
		t.Run(file, func(t *testing.T) { wire.Conformance(t, newModel, exchange(file)) })
	}
}

func TestAStreamCutAnywhereIsAnError(t *testing.T) {
	wire.EveryCut(t, newModel, exchange("hello.sse"), "event: message_stop")
}

func TestACallToASilentServerEnds(t *testing.T) {
	wire.Hanging(t, newModel, exchange("hello.sse"))
}
