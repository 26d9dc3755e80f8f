package features

// Answers that say "Hi." and have more. They are put together of the parts before and after what
// the rows add.

// chat is an answer of Chat Completions. message are further members of the message, choice those
// of the choice, and top those of the whole, each beginning with a comma.
func chat(message, choice, top string) string {
	return `{"id":"a","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hi."` +
		message + `}` + choice + `}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":7}}` +
		top + `}`
}

// responses is an answer of the Responses API. before are items before the message, each ending
// with a comma, text further members of the text, and top those of the whole.
func responses(before, text, top string) string {
	return `{"id":"a","model":"m","status":"completed","output":[` + before +
		`{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"Hi."` + text +
		`}]}],"usage":{"input_tokens":9,"output_tokens":2,"input_tokens_details":{"cached_tokens":7}}` + top + `}`
}

// claude is an answer of the Messages API. before are blocks before the text, text further members
// of it, and top those of the whole.
func claude(before, text, top string) string {
	return `{"id":"a","type":"message","model":"m","role":"assistant","content":[` + before +
		`{"type":"text","text":"Hi."` + text + `}],"stop_reason":"end_turn","usage":{"input_tokens":2,"output_tokens":2,` +
		`"cache_read_input_tokens":7,"service_tier":"standard"}` + top + `}`
}

// gemini is an answer of generateContent. before are parts before the text, candidate further
// members of the candidate, and top those of the whole.
func gemini(before, candidate, top string) string {
	return `{"responseId":"a","modelVersion":"m","candidates":[{"content":{"role":"model","parts":[` + before +
		`{"text":"Hi."}]},"finishReason":"STOP"` + candidate + `}],"usageMetadata":{"promptTokenCount":9,` +
		`"candidatesTokenCount":2,"cachedContentTokenCount":7,"serviceTier":"STANDARD"}` + top + `}`
}

// converse is an answer of Bedrock's Converse. blocks come before the text, and top are further
// members of the whole.
func converse(blocks, top string) string {
	return `{"output":{"message":{"role":"assistant","content":[` + blocks + `{"text":"Hi."}]}},"stopReason":"end_turn",` +
		`"usage":{"inputTokens":2,"outputTokens":2,"cacheReadInputTokens":7}` + top + `}`
}

// Plain answers, by the head of the column.
var Plain = map[string]string{"Chat": chat("", "", ""), "Responses": responses("", "", ""),
	"Claude": claude("", "", ""), "Gemini": gemini("", "", ""), "Converse": converse("", "")}
