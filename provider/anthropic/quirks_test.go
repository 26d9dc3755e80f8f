package anthropic_test

import (
	"testing"

	"github.com/pawlkit/pawl/provider/internal/wire"
)

// quirks are what servers do that isn't usual, by the format of the answer, each with an exchange
// that shows it.
var quirks = map[string][]wire.Quirk{
	"anthropic-messages": {
		{Name: "ping", File: "ping.sse", Status: 200},
		{Name: "padded-json", File: "padded-json.sse", Status: 200},
		{Name: "empty-content-array", File: "empty-content-array.json", Status: 200},
		{Name: "empty-text-block", File: "empty-text-block.sse", Status: 200},
		{Name: "fragmented-args", File: "fragmented-args.sse", Status: 200},
		{Name: "empty-args-delta", File: "empty-args-delta.sse", Status: 200},
		{Name: "args-empty-string", File: "args-empty-string.sse", Status: 200},
		{Name: "args-in-block-start", File: "args-in-block-start.sse", Status: 200},
		{Name: "thinking-empty-signature-only", File: "thinking-empty-signature-only.sse", Status: 200},
		{Name: "redacted-thinking", File: "redacted-thinking.sse", Status: 200},
		{Name: "finish-unmapped-pause_turn", File: "finish-unmapped-pause-turn.sse", Status: 200},
		{Name: "usage-input-changes-in-message_delta", File: "usage-input-changes-in-message-delta.sse", Status: 200},
		{Name: "error-in-200-stream", File: "error-in-200-stream.sse", Status: 200},
		{Name: "stream-cut", File: "stream-cut.sse", Status: 200},
		{Name: "block-server_tool_use", File: "block-server-tool-use.sse", Status: 200},
		{Name: "block-mcp_tool_use", File: "block-mcp-tool-use.sse", Status: 200},
		{Name: "block-compaction", File: "block-compaction.sse", Status: 200},
		{Name: "block-fallback", File: "block-fallback.sse", Status: 200},
		{Name: "block-advisor_tool_result", File: "block-advisor-tool-result.sse", Status: 200},
		{Name: "citations", File: "citations.sse", Status: 200},
		{Name: "context-management", File: "context-management.sse", Status: 200},
		{Name: "duplicate-message-start", File: "duplicate-message-start.sse", Status: 200},
	},
}

func TestEveryQuirkIsDecodedToItsGoldenFile(t *testing.T) { wire.Quirks(t, newModel, quirks) }

func TestEveryListedQuirkHasItsExchange(t *testing.T) { wire.Listed(t, quirks) }

func TestQuirksCutAndSplitAtRandom(t *testing.T) {
	wire.Random(t, wire.Config{Cases: wire.QuirkCases(t, quirks), New: newModel})
}
