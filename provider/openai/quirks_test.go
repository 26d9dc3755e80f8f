package openai

import (
	"testing"

	"github.com/pawlkit/pawl/provider/internal/wire"
)

// quirks are what servers do that isn't usual, by the format of the answer, each with an exchange
// that shows it.
var quirks = map[string][]wire.Quirk{
	"openai-chat": {
		{Name: "comment", File: "chat-comment.sse", Status: 200},
		{Name: "crlf", File: "chat-crlf.sse", Status: 200},
		{Name: "no-DONE", File: "chat-no-done.sse", Status: 200},
		{Name: "no-final-blank-line", File: "chat-no-final-blank-line.sse", Status: 200},
		{Name: "event-field-error", File: "chat-event-field-error.sse", Status: 200},
		{Name: "leading-whitespace-body", File: "chat-leading-whitespace-body.json", Status: 200},
		{Name: "empty-delta", File: "chat-empty-delta.sse", Status: 200},
		{Name: "null-content", File: "chat-null-content.sse", Status: 200},
		{Name: "content-absent", File: "chat-content-absent.json", Status: 200},
		{Name: "delta-null", File: "chat-delta-null.sse", Status: 200},
		{Name: "content-part-list", File: "chat-content-part-list.sse", Status: 200},
		{Name: "message-absent", File: "chat-message-absent.json", Status: 200},
		{Name: "empty-choices-chunk", File: "chat-empty-choices-chunk.sse", Status: 200},
		{Name: "azure-prompt-filter-chunk", File: "chat-azure-prompt-filter-chunk.sse", Status: 200},
		{Name: "azure-content-filter", File: "chat-azure-content-filter.sse", Status: 200},
		{Name: "many-choices", File: "chat-many-choices.sse", Status: 200},
		{Name: "chunk-id-changes", File: "chat-chunk-id-changes.sse", Status: 200},
		{Name: "chunk-id-absent", File: "chat-chunk-id-absent.sse", Status: 200},
		{Name: "fragmented-args", File: "chat-fragmented-args.sse", Status: 200},
		{Name: "args-in-one-chunk", File: "chat-args-in-one-chunk.sse", Status: 200},
		{Name: "empty-args-delta", File: "chat-empty-args-delta.sse", Status: 200},
		{Name: "args-empty-string", File: "chat-args-empty-string.sse", Status: 200},
		{Name: "args-null", File: "chat-args-null.sse", Status: 200},
		{Name: "tool-index-missing", File: "chat-tool-index-missing.sse", Status: 200},
		{Name: "tool-index-gap", File: "chat-tool-index-gap.sse", Status: 200},
		{Name: "tool-id-empty-string-later", File: "chat-tool-id-empty-string-later.sse", Status: 200},
		{Name: "tool-name-empty-string-later", File: "chat-tool-name-empty-string-later.sse", Status: 200},
		{Name: "tool-id-missing", File: "chat-tool-id-missing.json", Status: 200},
		{Name: "tool-id-odd-characters", File: "chat-tool-id-odd-characters.sse", Status: 200},
		{Name: "tool-id-longer-than-40", File: "chat-tool-id-longer-than-40.json", Status: 200},
		{Name: "custom-tool-call", File: "chat-custom-tool-call.json", Status: 200},
		{Name: "tool_calls-empty-array", File: "chat-tool-calls-empty-array.json", Status: 200},
		{Name: "legacy-function_call", File: "chat-legacy-function-call.sse", Status: 200},
		{Name: "empty-legacy-function_call", File: "chat-empty-legacy-function-call.json", Status: 200},
		{Name: "field-reasoning_content", File: "chat-field-reasoning-content.sse", Status: 200},
		{Name: "field-reasoning", File: "chat-field-reasoning.sse", Status: 200},
		{Name: "field-reasoning_details", File: "chat-field-reasoning-details.sse", Status: 200},
		{Name: "reasoning-only-in-details", File: "chat-reasoning-only-in-details.sse", Status: 200},
		{Name: "reasoning_details-reasoning.encrypted", File: "chat-reasoning-details-reasoning.encrypted.sse",
			Status: 200},
		{Name: "reasoning_details-reasoning.summary", File: "chat-reasoning-details-reasoning.summary.sse",
			Status: 200},
		{Name: "finish-absent", File: "chat-finish-absent.sse", Status: 200},
		{Name: "finish-empty", File: "chat-finish-empty.sse", Status: 200},
		{Name: "finish-twice", File: "chat-finish-twice.sse", Status: 200},
		{Name: "empty-delta-after-finish", File: "chat-empty-delta-after-finish.sse", Status: 200},
		{Name: "finish-stop-with-tools", File: "chat-finish-stop-with-tools.json", Status: 200},
		{Name: "native_finish_reason", File: "chat-native-finish-reason.sse", Status: 200},
		{Name: "usage-absent", File: "chat-usage-absent.sse", Status: 200},
		{Name: "usage-empty-choices", File: "chat-usage-empty-choices.sse", Status: 200},
		{Name: "usage-with-finish", File: "chat-usage-with-finish.sse", Status: 200},
		{Name: "usage-with-delta", File: "chat-usage-with-delta.sse", Status: 200},
		{Name: "usage-in-several-places", File: "chat-usage-in-several-places.sse", Status: 200},
		{Name: "x_groq-usage", File: "chat-x-groq-usage.sse", Status: 200},
		{Name: "usage-reasoning-outside-output", File: "chat-usage-reasoning-outside-output.json", Status: 200},
		{Name: "usage-cache_write_tokens", File: "chat-usage-cache-write-tokens.sse", Status: 200},
		{Name: "usage-toplevel-cache_creation", File: "chat-usage-toplevel-cache-creation.json", Status: 200},
		{Name: "usage-toplevel-cache_read_input_tokens", File: "chat-usage-toplevel-cache-read-input-tokens.json",
			Status: 200},
		{Name: "usage-num_cached_tokens", File: "chat-usage-num-cached-tokens.json", Status: 200},
		{Name: "usage-toplevel-cached_tokens", File: "chat-usage-toplevel-cached-tokens.json", Status: 200},
		{Name: "usage-cost", File: "chat-usage-cost.sse", Status: 200},
		{Name: "error-in-200-stream", File: "chat-error-in-200-stream.sse", Status: 200},
		{Name: "error-in-200-json", File: "chat-error-in-200-json.json", Status: 200},
		{Name: "error-flat", File: "chat-error-flat.json", Status: 404},
		{Name: "error-body-not-json", File: "chat-error-body-not-json.html", Status: 502},
		{Name: "stream-cut", File: "chat-stream-cut.sse", Status: 200},
	},
	"openai-responses": {
		{Name: "comment", File: "responses-comment.sse", Status: 200},
		{Name: "ping", File: "responses-ping.sse", Status: 200},
		{Name: "DONE-after-responses", File: "responses-done-after-responses.sse", Status: 200},
		{Name: "message-without-deltas", File: "responses-message-without-deltas.sse", Status: 200},
		{Name: "obfuscation", File: "responses-obfuscation.sse", Status: 200},
		{Name: "message-phase", File: "responses-message-phase.sse", Status: 200},
		{Name: "tool-id-longer-than-40", File: "responses-tool-id-longer-than-40.sse", Status: 200},
		{Name: "args-without-deltas", File: "responses-args-without-deltas.sse", Status: 200},
		{Name: "custom-tool-call", File: "responses-custom-tool-call.sse", Status: 200},
		{Name: "item-id-changes", File: "responses-item-id-changes.sse", Status: 200},
		{Name: "item-mcp_approval_request", File: "responses-item-mcp-approval-request.sse", Status: 200},
		{Name: "empty-reasoning-item", File: "responses-empty-reasoning-item.sse", Status: 200},
		{Name: "encrypted-reasoning", File: "responses-encrypted-reasoning.sse", Status: 200},
		{Name: "error-in-200-stream", File: "responses-error-in-200-stream.sse", Status: 200},
		{Name: "error-string", File: "responses-error-string.json", Status: 403},
		{Name: "stream-cut", File: "responses-stream-cut.sse", Status: 200},
		{Name: "no-sequence-number", File: "responses-no-sequence-number.sse", Status: 200},
	},
}

func TestEveryQuirkIsDecodedToItsGoldenFile(t *testing.T) { wire.Quirks(t, newModel, quirks) }

func TestEveryListedQuirkHasItsExchange(t *testing.T) { wire.Listed(t, quirks) }

func TestQuirksCutAndSplitAtRandom(t *testing.T) {
	wire.Random(t, wire.Config{Cases: wire.QuirkCases(t, quirks), New: newModel})
}
