// Package gemini is a [provider.Provider] for Google's Gemini API (generateContent).
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
// Equal conversations give bodies that are equal byte for byte, and what the API sends that this
// package doesn't know is kept as opaque data where it matters. The key is sent in the header
// x-goog-api-key, never in the URL. The package doesn't retry. For Vertex AI, which authorizes in
// another way, there is the module provider/vertex.
//
// # Requests
//
// A conversation is normalized as the API requires: neighbors of one role become one message, the
// results of a turn's calls follow it immediately, in the order of the calls and separate from the
// user's text, a call without a result gets an error as its result, a result without a call becomes
// text, and a conversation that begins with the model gets a line before it.
//
//   - Tool names may contain any character. Characters that a version of the API rejects are
//     replaced by "_", and the names are decoded in answers. A name that would be another's, or has
//     more than 64 characters, ends with its hash.
//   - Thought signatures are sent back verbatim on their part; thoughts without one aren't sent
//     back. Code execution, calls of the provider's own tools and parts of unknown kinds are sent
//     back unchanged. Of another provider's answers only text, calls, results and media are sent;
//     if the model requires a signature for such a call, it gets the value that the API's
//     documentation has for that case.
//   - A call without an id of the provider is sent with the agent's id, and its result with the
//     same.
//   - The result of a tool is sent as text, {"output": …} or {"error": …}. Its media are sent
//     inside the result with Gemini 3 and later, after it with older models.
//   - Media is sent by value, or by a URL that the API opens itself: of a web page, of an uploaded
//     file (files/…), gs://.
//   - [provider.ReasoningOptions]: Gemini 3 and later get the effort as the nearest level that they
//     have; Gemini 2.5 a budget (1,024 tokens for minimal and low, 8,192 medium, 24,576 above,
//     within the model's limits); older ones neither. Thoughts are requested unless Hide is set.
//   - [provider.OutputFormat] is responseJsonSchema; with tools, models before Gemini 3 get the
//     schema in the system text.
//   - Schemas may have $defs and $ref. Keywords beside a $ref are left out, and a property that
//     leads back to the schema it is in isn't required: the API rejects both.
//   - A seed is cut to its lower 32 bits. Request.DisableParallelToolCalls isn't supported and is
//     ignored.
//   - Request.Cache and cache marks aren't sent: prompts that begin alike are cached without being
//     asked for.
//
// Request.Options["gemini"] is a JSON object that is merged into the body: objects field by field,
// null removes a field, tools are appended to the request's own, every other value replaces the
// existing one. Keys are spelled as in the API's documentation (camel case):
//
//	{"tools": [{"googleSearch": {}}], "safetySettings": […],
//	 "generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_LOW"}}
//
// Options["gemini"] of a [provider.Tool] are members of its function declaration: behavior,
// responseJsonSchema, ….
//
// # Answers
//
// Thoughts are Reasoning; a signature is opaque data of its part ("thoughtSignature"). Code
// execution and the provider's other tools are ProviderCall and ProviderResult. Groundings and
// citations are Sources, one for each piece of text with a source; the grounding itself follows as
// an opaque part ("groundingMetadata"), since Google requires that its search suggestions are
// shown. Parts of unknown kinds are opaque parts ("part"). Images are Files; drafts in thoughts are
// left out. A call whose arguments come in pieces is one call, with its arguments when they are
// complete. Ids are passed on unchanged; they are usually missing. Of several candidates the first
// counts.
//
// STOP is done, or tool calls if there are any. MAX_TOKENS is length, SAFETY and similar reasons
// are filtered, and so is a prompt that is rejected; every other reason is an error, after which no
// call is run. The details are in an opaque part ("finishMessage", "promptFeedback").
//
// [provider.Response].Details has safetyRatings, avgLogprobs, logprobsResult, urlContextMetadata,
// promptFeedback, modelStatus, and serviceTier and trafficType of the usage.
//
// Usage has the last figures that were sent, each field by itself: Input is promptTokenCount plus
// toolUsePromptTokenCount, Output is candidatesTokenCount plus thoughtsTokenCount. Answers that are
// one JSON array or one object are supported, too.
//
// # Embeddings
//
// [Model.Embedder] makes an [Embedder], which is an index.Embedder of the package memory/index:
//
//	// g is a guard.Guard, and optional
//	embedder, err := model.Embedder(gemini.EmbedderConfig{Dimensions: 768, Through: g.Do})
//
// It sends texts in batches and checks the vectors. [Embedder.EmbedUsage] also returns the usage;
// [Model.InfoOf] has the price.
//
// # Errors
//
// An error status and an error object under status 200, also within a stream, are a
// [*provider.Error] with the status word as its Type, the reason as its Code, message, request id
// and the advice of RetryInfo. A daily quota that is used up is rate limited until it is reset, at
// midnight in California; a quota of 0 is user-fixable: it requires payment. An answer that ends
// without a finish reason is [provider.ErrIncomplete]. Once the context is done, the error is its
// cause. A key appears in no error and no printed value of this package.
package gemini
