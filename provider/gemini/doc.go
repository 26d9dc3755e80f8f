// Package gemini is a [provider.Provider] for Google's Gemini API (generateContent), on the official SDK.
//
//	model, err := gemini.New(gemini.Config{Model: "gemini-3.5-flash"}) // key: GEMINI_API_KEY or GOOGLE_API_KEY
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
// The SDK addresses the requests and sends them; the body is written and the answer is read here, so that a body is the same
// byte for byte whenever the conversation is, and nothing that the wire carries is lost to a type that doesn't know it. The
// key goes in the header x-goog-api-key, never in the address. The SDK tries nothing again. Vertex AI, which authorises in
// another way, isn't covered.
//
// # Requests
//
// A conversation is put right the way the API demands: neighbours of one role become one, the results of a turn's calls come
// right behind it, in the order of the calls and apart from what the user says, a call without a result is answered with an
// error, a result without a call becomes text, and a conversation that begins with the model gets a line before it.
//
//   - Tool names may hold any character. What some version of the API refuses is written as _x and two hexadecimal digits, and
//     read back in answers; a name of more than 64 characters is cut and marked with a hash of itself.
//   - Thought signatures go back verbatim on the part that they came with; thoughts without one don't go back. Code execution,
//     calls of the provider's own tools and parts of unknown kinds go back as they came. Of another provider's answers only
//     text, calls, results and media are sent; where the model demands a signature for such a call, it gets the word that the
//     API's documentation has for that case.
//   - A call without an id of the provider's is sent with the name that the agent gave it, and its result with the same.
//   - What a tool returned goes as text, {"output": …} or {"error": …}. Its media go inside the result with Gemini 3 and later,
//     behind it with older models.
//   - Media go by value, or by an address that the API opens itself: a web page's, a file's that was uploaded (files/…), gs://.
//   - [provider.ReasoningOptions]: Gemini 3 and later get the effort as a level, the nearest that they have; Gemini 2.5 a budget
//     (1,024 tokens for minimal and low, 8,192 medium, 24,576 above, within what the model takes); older ones neither. Thoughts
//     are asked for unless Hide is set.
//   - [provider.OutputFormat] is responseJsonSchema; beside tools, models before Gemini 3 are told the schema in the system text.
//   - Schemas may have $defs and $ref. What is beside a $ref is left out, and a property that leads back to the schema it is in
//     isn't required: the API refuses both.
//   - A seed is cut to its lower 32 bits. Request.DisableParallelToolCalls and cache marks have no counterpart and are ignored.
//
// Request.Options["gemini"] is a JSON object that is merged into the body: objects field by field, null removes a field,
// tools are added behind the request's own, everything else replaces what is there. Keys are spelled as in the API's
// documentation (camel case):
//
//	{"tools": [{"googleSearch": {}}], "safetySettings": […], "generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_LOW"}}
//
// # Answers
//
// Thoughts are Reasoning, a signature is opaque data of its part ("thoughtSignature"). Code execution and the provider's other
// tools come as ProviderCall and ProviderResult. Groundings and citations are Sources, one for each piece of text that rests
// on one; the grounding itself follows as an opaque part ("groundingMetadata"), since Google wants its search suggestions
// shown. Parts of unknown kinds are opaque parts ("part"). Images are Files; drafts that belong to thoughts are left out. A call
// whose arguments come in pieces is one call, with its arguments when they are complete. Ids are passed on as they come, which
// mostly means missing. Of several candidates the first counts.
//
// STOP is done, or tool calls where there are some. MAX_TOKENS is length, SAFETY and its like are filtered, and so is a
// prompt that is refused; every other reason is an error, after which no call is run. Why is in an opaque part ("finishMessage",
// "promptFeedback").
//
// Usage is that of the last figures sent: Input is promptTokenCount with toolUsePromptTokenCount, Output is
// candidatesTokenCount with thoughtsTokenCount. Answers framed as one JSON array or one object are understood, too.
//
// # Errors
//
// An error status and an error object under status 200, also in the middle of a stream, are a [*provider.Error] with the
// status word as its Type, the reason as its Code, message, request id and the RetryInfo's advice. A quota of the day that is used up
// is rate limited until it is there again, at midnight in California; a quota of 0 is one that a person has to pay for. An
// answer that ends without a finish reason is [provider.ErrIncomplete]. Once the context is done the error is its cause. A
// key is in no error and no printed value of this package.
package gemini
