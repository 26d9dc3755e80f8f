package openai

import (
	"net/http"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/wire"
	"github.com/stretchr/testify/require"
)

// newModel makes the Model for the protocol of a case.
func newModel(t testing.TB, baseURL string, client *http.Client, c *wire.Case) provider.Provider {
	api := Chat
	if c.Wire == "openai-responses" {
		api = Responses
	}
	m, err := New(Config{Model: c.Model, APIKey: "sk-test-0123456789", BaseURL: baseURL + "/v1", HTTPClient: client,
		API: api})
	require.NoError(t, err)
	return m
}

func recordings() wire.Config {
	return wire.Config{Providers: []string{"openai-chat", "openai-responses", "openai-compatible", "openrouter",
		"azure"}, New: newModel}
}

func TestWire(t *testing.T)       { wire.Run(t, recordings()) }
func TestWireRandom(t *testing.T) { wire.Random(t, recordings()) }

var protocols = []struct {
	name string
	end  string // the beginning of the end of the stream
	c    func() *wire.Case
}{
	{"chat", `"finish_reason":"tool_calls"`, func() *wire.Case {
		return wire.File("openai-chat", "testdata/chat.sse")
	}},
	{"responses", "event: response.completed", func() *wire.Case {
		return wire.File("openai-responses", "testdata/responses.sse")
	}},
}

func TestTheAdapterConforms(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) { wire.Conformance(t, newModel, p.c()) })
	}
}

func TestACutStreamIsAnErrorAndKeepsTheReceivedPart(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) { wire.EveryCut(t, newModel, p.c(), p.end) })
	}
}

func TestACallToASilentServerEndsByContextAndByIdleTimeout(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) { wire.Hanging(t, newModel, p.c()) })
	}
}
