// Package anthropic is a [provider.Provider] for Anthropic's Messages API, and for servers that speak it, on the official
// SDK.
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
// The SDK connects, authorises and frames the stream; its own retries are off. The body is written and the events are read
// here, so that a body is the same byte for byte whenever the conversation is, and nothing that the wire carries is lost to
// a type that doesn't know it.
//
// # Requests
//
// A conversation is put right the way the API demands: neighbours of one role become one message, empty texts are dropped,
// results come first in the message behind their calls and in the order of these, a call without a result is answered with
// an error, a result without a call becomes text, and a conversation that begins with the model gets a line before it. A
// conversation with calls needs tools: without any in the request, those that it names are sent, not to be called.
//
//   - Tool names may hold any character. What the API refuses is written as _x and two hexadecimal digits, and read back in
//     answers; a name of more than 128 characters is cut and marked with a hash of itself.
//   - Thinking blocks go back verbatim with their signatures, and so do redacted thinking, citations, compaction and calls
//     that the provider ran itself. Of another provider's answers only text, calls and results are sent.
//   - Images and documents go by value, address or file id, in results of tools, too. Other media is an error.
//   - [provider.ReasoningOptions]: models that think adaptively get the effort; older ones a budget (1,024 tokens for minimal,
//     4,096 low, 10,240 medium, 24,576 high, 32,000 above), never more than the answer may hold. A budget given to a model
//     that takes none becomes adaptive thinking. Thinking is left out where the API refuses it: with a forced tool call, and
//     for a budget when the open tool loop has begun without thinking.
//   - [provider.OutputFormat] is output_config.format; models older than Claude 4.5 are told the schema in the system text.
//     The API wants objects closed (additionalProperties: false). Limits that it refuses (bounds of numbers, lengths, most
//     formats) are moved into the descriptions. A schema that refers to itself, has objects with any keys, or has keywords
//     such as oneOf goes into the system text.
//   - The sampling fields that the API doesn't have (seed, penalties) are ignored, and those that a model or its thinking
//     refuses (temperature, top_p, top_k) are left out.
//   - max_tokens is the request's, else the model's limit, else 8,192.
//
// Request.Options["anthropic"] is a JSON object that is merged into the body: objects field by field, null removes a field,
// tools are added behind the request's own, everything else replaces what is there. One key is read here and not sent:
//
//	{"cache": {"system": true, "tools": true, "ttl": "1h"}}
//
// marks the system text and the last tool for the prompt cache, and sets how long marked content is kept, also that marked
// with [provider.Part.Cache] (default: 5 minutes). Of more than four marks the oldest in the messages are left out.
//
// # Answers
//
// Thinking is Reasoning, its signature opaque data of the part. Web search, code execution, MCP calls and whatever else the
// provider runs itself come as ProviderCall and ProviderResult. A citation is a Source whose offsets are those of its text
// block. Blocks that the vocabulary has no place for (compaction, redacted thinking, unknown ones) are opaque parts, and so
// are a container ("container") and the reason of a refusal ("stop_details").
//
// Usage is that of the last figures sent: Input is input_tokens with cache_read_input_tokens and cache_creation_input_tokens
// added. A server that answers with JSON instead of a stream is understood, too.
//
// # Errors
//
// An error status, an error event in the middle of a stream and an error object under status 200 are a [*provider.Error] with
// type, message, request id and, where the server gave it, advice on when to try again. A stream that ends before its
// message_stop is [provider.ErrIncomplete]. Once the context is done the error is its cause. A key is in no error and no
// printed value of this package.
package anthropic
