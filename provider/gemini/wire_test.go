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

func recordings() wire.Config { return wire.Config{Providers: []string{"gemini"}, New: newModel} }

func TestWire(t *testing.T)       { wire.Run(t, recordings()) }
func TestWireRandom(t *testing.T) { wire.Random(t, recordings()) }

func TestConformance(t *testing.T) {
	for _, file := range []string{"hello.sse", "code.sse", "array.json", "whole.json"} {
		t.Run(file, func(t *testing.T) { wire.Conformance(t, newModel, exchange(file)) })
	}
}

func TestACutAnywhereIsAnError(t *testing.T) {
	for _, file := range []string{"hello.sse", "array.json", "whole.json"} {
		t.Run(file, func(t *testing.T) { wire.EveryCut(t, newModel, exchange(file), `"finishReason"`) })
	}
}

func TestAServerThatFallsSilentIsLeft(t *testing.T) {
	wire.Hanging(t, newModel, exchange("hello.sse"))
}
