// Package anthropic is a [provider.Provider] for Anthropic's Messages API, and for servers that
// speak it.
//
//	model, err := anthropic.New(anthropic.Config{Model: "claude-sonnet-5-5"}) // key: ANTHROPIC_API_KEY
//	if err != nil {
//		return err // says what to do
//	}
//	for c, err := range model.Stream(ctx, &provider.Request{Messages: []provider.Message{provider.User("Hello")}}) {
//		if err != nil {
//			return err // a *provider.Error, with its class
//		}
//		fmt.Print(c.Text)
//	}
//
// Equal conversations give bodies that are equal byte for byte. Blocks that this package doesn't
// know are kept as opaque data. The package doesn't retry.
//
// # Requests
//
// A conversation is normalized as the API requires: neighbors of one role become one message, empty
// texts are dropped, results come first in the message after their calls and in the order of these,
// a call without a result gets an error as its result, a result without a call becomes text, and a
// conversation that begins with the model gets a line before it. A conversation with calls needs
// tools: if the request has none, the tools of its calls are sent, with tool use disabled.
//
//   - Tool names may contain any character. Characters that the API rejects are replaced by "_",
//     and the names are decoded in answers. A name that would be another's, or has more than 64
//     characters, ends with its hash.
//   - Thinking blocks are sent back verbatim with their signatures, and so are redacted thinking,
//     citations, compaction and calls that the provider ran itself. Of another provider's answers
//     only text, calls and results are sent.
//   - Images and documents are sent by value, URL or file id, also in results of tools. Other media
//     is an error.
//   - [provider.ReasoningOptions]: models with adaptive thinking get the effort; older ones a
//     budget (1,024 tokens for minimal, 4,096 low, 10,240 medium, 24,576 high, 32,000 above), at
//     most the output limit. A budget for a model without budgets becomes adaptive thinking.
//     Thinking is left out where the API rejects it: with a forced tool call, and for a budget when
//     the open tool loop has begun without thinking.
//   - [provider.OutputFormat] is output_config.format; models older than Claude 4.5 get the schema
//     in the system text. The API requires closed objects (additionalProperties: false). Limits
//     that it rejects (bounds of numbers, lengths, most formats) are moved into the descriptions. A
//     schema that refers to itself, has objects with arbitrary keys, or has keywords such as oneOf
//     is put into the system text.
//   - Sampling fields that the API doesn't have (seed, penalties) are ignored, and those that a
//     model or its thinking rejects (temperature, top_p, top_k) are left out.
//   - max_tokens is the request's, else the model's limit, else 8,192.
//
// Request.Options["anthropic"] is a JSON object that is merged into the body: objects field by
// field, null removes a field, tools are appended to the request's own, every other value replaces
// the existing one. One key is used here and not sent:
//
//	{"cache": {"system": true, "tools": true, "ttl": "1h"}}
//
// It marks the system text and the last tool for the prompt cache, and sets how long marked content
// is cached, including content marked with [provider.Part.Cache] or for [provider.Request.Cache]
// (default: 5 minutes). Above four marks, the oldest in the messages are left out.
//
// Options["anthropic"] of a [provider.Tool] are members of its definition: strict, defer_loading,
// allowed_callers, input_examples, eager_input_streaming, cache_control, …. A cache_control is one
// of the four marks. The schema of a tool with strict is narrowed as that of an output format, if
// it has nothing that formats don't support; otherwise it is sent as it is.
//
// Request.Cache uses what is left of the four marks for the newest message, the system text, the
// last tool, and the user's message before the model's last one, which was the newest in the call
// before. Options with a cache_control of their own disable this.
//
// # Answers
//
// Thinking is Reasoning, with its signature as opaque data of the part. Web search, code execution,
// MCP calls and other tools that the provider runs itself are ProviderCall and ProviderResult. A
// citation is a Source whose offsets refer to its text block. Blocks without a counterpart in
// package provider (compaction, redacted thinking, unknown ones) are opaque parts, and so are a
// container ("container") and the reason of a refusal ("stop_details").
//
// [provider.Response].Details has service_tier, stop_sequence, context_management and container.
//
// Usage has the last figures that were sent: Input is input_tokens plus cache_read_input_tokens and
// cache_creation_input_tokens. A server that answers with JSON instead of a stream is supported,
// too.
//
// # Errors
//
// An error status, an error event in a stream and an error object under status 200 are a
// [*provider.Error] with type, message, request id and, if the server sent it, advice on when to
// try again. A stream that ends before its message_stop is [provider.ErrIncomplete]. Once the
// context is done, the error is its cause. A key appears in no error and no printed value of this
// package.
package anthropic
