package gemini_test

import (
	"testing"

	"github.com/pawlkit/pawl/provider/internal/wire"
)

// quirks are what servers do that isn't usual, by the format of the answer, each with an exchange
// that shows it.
var quirks = map[string][]wire.Quirk{
	"gemini-generate-content": {
		{Name: "crlf", File: "crlf.sse", Status: 200},
		{Name: "json-array-stream", File: "json-array-stream.json", Status: 200},
		{Name: "empty-delta", File: "empty-delta.sse", Status: 200},
		{Name: "content-without-parts", File: "content-without-parts.sse", Status: 200},
		{Name: "candidate-without-content", File: "candidate-without-content.json", Status: 200},
		{Name: "no-candidates", File: "no-candidates.json", Status: 200},
		{Name: "tool-id-missing", File: "tool-id-missing.sse", Status: 200},
		{Name: "same-name-calls-without-id", File: "same-name-calls-without-id.sse", Status: 200},
		{Name: "args-absent", File: "args-absent.sse", Status: 200},
		{Name: "args-empty-object", File: "args-empty-object.json", Status: 200},
		{Name: "partial-args", File: "partial-args.sse", Status: 200},
		{Name: "thought-parts", File: "thought-parts.sse", Status: 200},
		{Name: "thoughtSignature", File: "thoughtsignature.sse", Status: 200},
		{Name: "finish-UNEXPECTED_TOOL_CALL", File: "finish-unexpected-tool-call.json", Status: 200},
		{Name: "prompt-blocked", File: "prompt-blocked.json", Status: 200},
		{Name: "finishMessage", File: "finishmessage.json", Status: 200},
		{Name: "usage-in-every-chunk", File: "usage-in-every-chunk.sse", Status: 200},
		{Name: "usage-toolUsePromptTokenCount", File: "usage-tooluseprompttokencount.json", Status: 200},
		{Name: "error-in-200-stream", File: "error-in-200-stream.sse", Status: 200},
		{Name: "stream-cut", File: "stream-cut.sse", Status: 200},
		{Name: "part-executableCode", File: "part-executablecode.sse", Status: 200},
		{Name: "part-toolCall", File: "part-toolcall.sse", Status: 200},
		{Name: "groundingMetadata", File: "groundingmetadata.sse", Status: 200},
		{Name: "urlContextMetadata", File: "urlcontextmetadata.sse", Status: 200},
	},
}

func TestEveryQuirkIsDecodedToItsGoldenFile(t *testing.T) { wire.Quirks(t, newModel, quirks) }

func TestEveryListedQuirkHasItsExchange(t *testing.T) { wire.Listed(t, quirks) }

func TestQuirksCutAndSplitAtRandom(t *testing.T) {
	wire.Random(t, wire.Config{Cases: wire.QuirkCases(t, quirks), New: newModel})
}
