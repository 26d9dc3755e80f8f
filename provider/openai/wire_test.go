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
	m, err := New(Config{Model: c.Model, APIKey: "sk-test-0123456789", BaseURL: baseURL + "/v1", HTTPClient: client, API: api})
	require.NoError(t, err)
	return m
}

func recordings(knownDeviations map[string]string) wire.Config {
	return wire.Config{Providers: []string{"openai-chat", "openai-responses", "openai-compatible", "openrouter", "azure"}, New: newModel, KnownDeviations: knownDeviations}
}

func TestWire(t *testing.T) {
	wire.Run(t, recordings(map[string]string{
		"openai-responses-pydantic-openai-responses-openai-responses-model-mcp-server-tool-stream": "the arguments of an mcp_call come as a string that holds JSON; " +
			"the call's input is that JSON, as it is of every other call, and not the string",
	}))
}

func TestWireRequests(t *testing.T) {
	const (
		noReasoning = "the recording program leaves the reasoning out, or rewrites it; here it goes back as it came"
		noItemID    = "the recording program leaves the id of the reasoning item out; here the item goes back as it came"
		loses       = "the recording program loses a part of the stream's text; here all of it goes back"
		itemForCall = "the recording program names calls by the ids of their items; the results refer to the call_id here, as the API has it"
	)
	wire.Loops(t, recordings(map[string]string{
		"openai-chat-mirascope-tool-openai-gpt-4o-completions":                                             "the recording program sends the call back as text, not as a call",
		"openai-responses-chatlas-chat-chat-tool-request-reject":                                           itemForCall,
		"openai-responses-ellmer-chat-tools-callbacks":                                                     itemForCall,
		"openai-responses-pydantic-openai-responses-openai-responses-phase-streamed-on-part-start":         "the recorded request has ASCII quotes in place of the typographic ones of the recorded answer",
		"openai-responses-rubyllm-chat-multimodal-tool-attachments-openai-gpt-5-nano-describes-images-re":  noItemID,
		"openai-compatible-rubyllm-chat-function-calling-xai-grok-4-1-fast-non-reasoning-can-handle-multi": noItemID,
		"openai-compatible-fantasy-avian-kimi-multi-tool-streaming":                                        loses,
		"openai-compatible-fantasy-avian-kimi-thinking-streaming":                                          loses,
		"openai-compatible-pydantic-groq-tool-use-failed-error-streaming":                                  "the first answer is an error, and reasoning was sent as text; here it goes back in its own field",
		"openrouter-fantasy-glm-tool-streaming":                                                            loses,
		"openrouter-fantasy-kimi-multi-tool-streaming":                                                     loses,
		"openrouter-fantasy-grok-tool-streaming":                                                           noReasoning,
		"azure-fantasy-azure-gpt-5-mini-thinking":                                                          noReasoning,
	}))
}

var protocols = []struct {
	name string
	end  string // the beginning of the end of the stream
	c    func() *wire.Case
}{
	{"chat", `"finish_reason":"tool_calls"`, func() *wire.Case { return wire.File("openai-chat", "testdata/chat.sse") }},
	{"responses", "event: response.completed", func() *wire.Case { return wire.File("openai-responses", "testdata/responses.sse") }},
}

func TestTheAdapterConforms(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) { wire.Conformance(t, newModel, p.c()) })
	}
}

func TestACutStreamIsAnErrorAndKeepsTheReceivedPart(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) { wire.EveryCut(t, newModel, p.c(), wire.Past(p.end)) })
	}
}

func TestACallToASilentServerEndsByContextAndByIdleTimeout(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) { wire.Hanging(t, newModel, p.c()) })
	}
}
