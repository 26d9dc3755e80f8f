// Package provider is the vocabulary of model calls: messages and their parts, requests, answers as a sequence of chunks,
// usage, prices and errors. It holds no adapter and does no I/O.
//
// A [Provider] is one method. Its answer is a pull sequence: the consumer's pace is the back-pressure, leaving the loop
// cancels the call, and everything that the call had opened is closed before the loop statement ends.
//
//	for c, err := range p.Stream(ctx, req) {
//		if err != nil {
//			return err // a sequence that fails says so once, last
//		}
//		if c.Kind == provider.KindText {
//			fmt.Print(c.Text)
//		}
//	}
//
// [Generate] collects a sequence into a [Response] for callers that want the whole answer. A [Collector] does the same
// chunk by chunk and has what came so far at hand at any time, also when the call fails.
//
// # Grammar of an answer
//
//	(Waiting* Start Content* Reset)* Waiting* Start Content* (End | error)
//
// with an error possible at any point. Content is Text, Reasoning, Refusal, ToolStart ToolDelta* ToolEnd (several calls
// may interleave, told apart by [Chunk.Index]), ProviderCall, ProviderResult, Source, File and Opaque. Reset voids all
// that was shown since the first Start. A sequence that ends without End and without an error is broken; [Collector]
// and the consumers in this module treat it as [ErrIncomplete], never as success.
//
// # Immutability
//
// Requests, messages and chunks are shared between goroutines once they have been handed over, and are never changed
// afterwards. All types marshal to stable JSON and back.
package provider
