// Package langchain joins Pawl to langchaingo, both ways: [New] makes a [provider.Provider] of a
// langchaingo model, and [Model] makes a langchaingo model of a Provider.
//
//	llm, err := ollama.New(ollama.WithModel("qwen3"), ollama.WithHTTPClient(langchain.HTTPClient(nil)))
//	if err != nil {
//		return err
//	}
//	p, err := langchain.New(llm, langchain.Config{Model: "qwen3"})
//	if err != nil {
//		return err
//	}
//	res, err := provider.Generate(ctx, p, req) // or agent.New with it
//
// If Pawl has its own adapter for a service, use that one: langchaingo's interface loses much
// information. Only its package llms is imported here.
//
// # Secrets and redirects
//
// Errors contain no secret of a model's requests. Each call records the headers that net/http sends
// for it, and removes their values from the message and the wrapped errors. It also removes what
// looks like a secret. It can't know a key that a model sends without the context
// of the call, or in the query of an address over HTTP/1.
//
// Give langchaingo's models an [HTTPClient]: with their default client they follow redirects to
// another host, and send the prompt there.
//
// # What a langchaingo model can't carry
//
//   - Whether an answer is complete. Some models end a cut stream without an error. langchaingo's
//     own openai, anthropic, googleai, mistral and bedrock models state a stop reason for every
//     answer: one without is [provider.ErrIncomplete]. For any model, an answer without a stop
//     reason is [provider.ErrIncomplete] if it is empty or contains a call whose arguments aren't
//     JSON. Any other answer without a stop reason ends as [provider.StopUnknown].
//   - Typed errors. Classes are read from [llms.Error] codes, from errors of the standard library,
//     and the status in a message; an error that shows none of these is [fault.Permanent]. Advice
//     on how long to wait is lost.
//   - Usage, with some models. It is taken from the keys that langchaingo's own models use; if
//     there are none, it is estimated, a token for three bytes, and marked as
//     [provider.Usage.Estimated].
//   - What is sent back to a model: reasoning with its signature, opaque data, sources, and calls
//     that the provider ran are left out of requests. Media in a tool's result becomes a line of
//     text that names it. Media by a provider's file id, and media other than images by URL, are an
//     error. An output format is requested as JSON mode, with the schema in the system text.
//     DisableParallelToolCalls, Cache and the options of tools aren't sent. Schemas of tools are
//     sent unchanged; whether $ref and $defs are supported depends on the langchaingo model.
//   - Streamed pieces that aren't text: some models stream the pieces of tool calls through the
//     same function. The result of the call counts: if the streamed text differs from it, Reset
//     discards that text. Requests with NoRestart aren't streamed.
//
// # What a Provider loses as a langchaingo model
//
// Sources, files, calls that the provider ran, opaque data, the request's labels and, on an error,
// the part received so far. Options that no Provider supports are dropped (minimum length,
// repetition penalty, metadata), and more than one candidate is an error. A temperature, seed or
// other figure of 0 means the default, since langchaingo doesn't distinguish the two. Errors are of
// type [*llms.Error], and wrap the Provider's.
package langchain
