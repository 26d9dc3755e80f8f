// Package provider defines the types of model calls: messages and their parts, requests, answers as
// sequences of chunks, usage, prices and errors. It has no adapters and does no I/O.
//
// A [Provider] has one method. Its answer is a pull sequence: the consumer sets the pace, leaving
// the loop cancels the call, and everything that the call opened is closed before the loop
// statement ends.
//
//	for c, err := range p.Stream(ctx, req) {
//		if err != nil {
//			return err // an error is yielded once, at the end
//		}
//		if c.Kind == provider.KindText {
//			fmt.Print(c.Text)
//		}
//	}
//
// [Generate] collects a sequence into a [Response] for callers that want the whole answer. A
// [Collector] does the same chunk by chunk; it returns what has arrived so far at any time, even
// when the call fails.
//
// A call must end when its context does. A [Provider] that is sure to do so declares it by the
// optional interface [Cancelable]. Package guard's Abandonable ends the calls of any other one.
//
// # Grammar of an answer
//
//	(Waiting* Start Content* Reset)* Waiting* Start Content* (End | error)
//
// with an error possible at any point. Content is Text, Reasoning, Refusal, ToolStart ToolDelta*
// ToolEnd (several calls may interleave, distinguished by [Chunk.Index]), ProviderCall,
// ProviderResult, Source, File and Opaque. Reset voids everything since the first Start. A sequence
// that ends without End and without an error is broken; [Collector] and the consumers in this
// module treat it as [ErrIncomplete], never as success.
//
// # Prompt caching
//
// A provider that has seen the beginning of a prompt recently may read it from a cache, for a
// fraction of the price. The beginning must be the same to the byte, and with some providers it
// must be marked. [Request].Cache asks for all that the provider offers:
//
//	anthropic    marks on the newest message, the system text, the last tool and the message before
//	             the newest answer, at most four
//	openai       with OpenAI itself prompt_cache_key, a hash of Labels.Session; it caches all prompts
//	             with OpenRouter marks like those of anthropic, for models of Anthropic
//	             with other servers nothing: those that cache do so without being asked
//	gemini       nothing: it caches without being asked
//	langchain    nothing
//
// The marks of a request's own parts (Part.Cache) and options come first: if there are too many,
// those of Request.Cache are left out.
//
// # Immutability
//
// Requests, messages and chunks are shared between goroutines once they have been passed on, and
// are never changed afterwards. All types marshal to stable JSON and back.
package provider
