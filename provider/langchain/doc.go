// Package langchain joins Pawl to langchaingo, both ways: [New] makes a [provider.Provider] of a langchaingo model, and
// [Model] makes a langchaingo model of a Provider.
//
//	llm, err := ollama.New(ollama.WithModel("qwen3"))
//	if err != nil {
//		return err
//	}
//	p, err := langchain.New(llm, langchain.Config{Model: "qwen3"})
//	if err != nil {
//		return err
//	}
//	res, err := provider.Generate(ctx, p, req) // or agent.New with it
//
// Where Pawl has an adapter of its own for a service, use that one: langchaingo's interface loses much on the way. Only its
// package llms is imported here.
//
// # What a langchaingo model can't carry
//
//   - Whether an answer is complete. Some models end a stream that was cut without an error. One that states a reason for
//     every end ([EndsStated]) is held to it: an answer without is [provider.ErrIncomplete]. So is, from any model, an answer without a reason
//     that is empty, or that holds a call whose arguments are no JSON. Any other answer without a reason ends as
//     [provider.StopUnknown].
//   - Typed errors. Classes are read from [llms.Error] codes, from what the standard library tells, and from the status in
//     a message; an error that shows none of these is [fault.Permanent]. Advice on how long to wait is lost.
//   - Usage, with some models. It is taken from the keys that langchaingo's own models use; where there are none it is
//     estimated, a token for three bytes, and marked as [provider.Usage.Estimated].
//   - What goes back to a model: reasoning with its signature, opaque data, sources, and calls that the provider ran are left out of requests.
//     Media in a tool's result becomes a line of text that names it. Media by a provider's file id, and other than images by address,
//     are an error. An output format is asked for as JSON mode, with the schema in the system text. DisableParallelToolCalls isn't sent.
//     Schemas of tools are sent as they are; whether $ref and $defs are understood depends on the langchaingo model.
//   - Streamed text that is no text: some models stream the pieces of tool calls through the same function. The result of
//     the call is the truth: if what was streamed differs, Reset voids it. Requests with NoRestart aren't streamed.
//
// # What a Provider loses as a langchaingo model
//
// Sources, files, calls that the provider ran, opaque data, the request's labels and, on an error, what had come by then. Of
// options, those that no Provider knows are dropped (minimum length, repetition penalty, metadata), and more than one
// candidate is an error. A temperature, seed or other figure of 0 is the default, since langchaingo can't tell it from none.
// Errors are of type [*llms.Error], and wrap the Provider's.
package langchain
