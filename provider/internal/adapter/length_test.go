package adapter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// TestRefusalsForLengthAreKnownByTheirWords has the texts of providers and of servers that speak
// their protocols.
func TestRefusalsForLengthAreKnownByTheirWords(t *testing.T) {
	for text, want := range map[string]provider.ContextLength{
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 140385 tokens " +
			"(140000 in the messages, 385 in the functions). Please reduce the length of the messages or functions.": {
			Limit: 128_000, Size: 140_385},
		"This model's maximum context length is 8192 tokens. However, you requested 9300 tokens (5204 in the " +
			"messages, 4096 in the completion).": {Limit: 8_192, Size: 9_300},
		"This endpoint's maximum context length is 200000 tokens. However, you requested about 210000 tokens (209000 " +
			"of text input, 1000 in the output).": {Limit: 200_000, Size: 210_000},
		"Your input exceeds the context window of this model. Please adjust your input and try again.": {},
		"prompt is too long: 207215 tokens > 200000 maximum": {Limit: 200_000,
			Size: 207_215},
		"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or " +
			"`max_tokens` and try again": {Limit: 200_000},
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).": {
			Limit: 1_048_576, Size: 1_200_000},
		"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length": {
			Limit: 32_768, Size: 40_000},
		"This model's maximum prompt length is 131072 but the request contains 140000 tokens.": {
			Limit: 131_072, Size: 140_000},
		"The prompt is too long: 12,345, model maximum context length: 8,191": {
			Limit: 8_191, Size: 12_345},
		"the request exceeds the available context size. try increasing the context size or enable context shift": {},
		"The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that it isn't.": {
			Limit: 4_096, Size: 5_000},
		"prompt token count of 128059 exceeds the limit of 128000": {Limit: 128_000, Size: 128_059},
		"litellm.BadRequestError: Context Window exceeded for given call. No models have context window large " +
			"enough for this call.": {},
		"request (60179 tokens) exceeds the available context size (60160 tokens), try increasing it": {
			Limit: 60_160, Size: 60_179},
		"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context " +
			"length of only 4096 tokens, which is not enough.": {Limit: 4_096, Size: 5_000},
		"Invalid request: Your request exceeded model token limit: 262144":                       {Limit: 262_144},
		"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]": {Limit: 129_024},
		"`inputs` must have less than 1024 tokens. Given: 3000":                                  {Limit: 1_024, Size: 3_000},
		"Prompt exceeds max length":                                                       {},
		"invalid params, context window exceeds limit (2013)":                             {},
		"total number of tokens in the prompt cannot exceed 4081 - received 5000":         {Limit: 4_081, Size: 5_000},
		"Input length (9000) exceeds model's maximum context length (8192).":              {Limit: 8_192, Size: 9_000},
		"`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens": {Limit: 4_096, Size: 5_000},
	} {
		e := &provider.Error{Class: fault.Permanent, Status: 400, Message: text}
		adapter.Judge(e, &adapter.Failure{})
		require.NotNil(t, e.ContextLength, text)
		require.Equal(t, want, *e.ContextLength, text)
		require.Equal(t, fault.UserFixable, fault.Of(e))
		require.NotEmpty(t, e.Remedy)
	}
	e := &provider.Error{Class: fault.Permanent, Status: 400, Code: "context_length_exceeded", Message: "Too long."}
	adapter.Judge(e, &adapter.Failure{})
	require.Equal(t, &provider.ContextLength{}, e.ContextLength)
}

func TestOtherErrorsAreNoRefusalsForLength(t *testing.T) {
	for _, e := range []provider.Error{
		{Status: 400, Message: "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"},
		{Status: 400, Message: "stop is too long"},
		{Status: 400, Message: "Range of max_tokens should be [1, 8192]"},
		{Status: 400, Message: "Invalid 'input[2].call_id': string too long. Expected a string with maximum length 64"},
		{Status: 400, Message: "the length of the tool's name exceeds 64"},
		{Status: 400, Message: "the image in the request exceeds the maximum length of a side"},
		{Status: 413, Message: "Request exceeds the maximum size"},
		{Status: 400, Message: "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our " +
			"documentation at https://docs.example.com/thinking#max-tokens-and-context-window-size"},
		{Status: 422, Message: "Input validation error: `max_new_tokens` must be <= 512. Given: 1000"},
		{Status: 400, Message: "maxOutputTokens in the request exceeds the limit of 8192"},
		{Status: 200, Class: fault.RateLimited, Type: "rate_limit_error",
			Message: "Number of request tokens has exceeded your daily rate limit"},
		{Status: 400, Message: "'call_0123456789' is too long - 'messages.2.tool_calls.0.id'"},
		{Status: 400, Message: "Prompt caching is only supported for prompts of at least 1024 tokens"},
		{Status: 400, Message: "This request is only allowed with a project token"},
		{Status: 400, Message: "Invalid request: `user` length exceeds 64"},
		{Status: 400, Message: "Token id 999999 in logit_bias of the request is larger than the vocabulary"},
		{Status: 500, Message: "the input is longer than the length of the queue"},
		{Status: 429,
			Message: "Request too large: limit 30000 tokens per minute, requested 40000. The maximum context length " +
				"is 128000."},
		{Status: 500, Message: "internal error"},
		{Status: 401, Code: "invalid_api_key"},
	} {
		was := e
		adapter.Judge(&e, &adapter.Failure{})
		require.Equal(t, was, e)
	}
}
