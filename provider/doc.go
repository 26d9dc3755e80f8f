// Package provider defines the types of model calls: messages and their parts, requests, answers as sequences of chunks,
// usage, prices and errors. It has no adapters and does no I/O.
//
// A [Provider] has one method. Its answer is a pull sequence: the consumer sets the pace, leaving the loop cancels the
// call, and everything that the call opened is closed before the loop statement ends.
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
// [Generate] collects a sequence into a [Response] for callers that want the whole answer. A [Collector] does the same
// chunk by chunk; it returns what has arrived so far at any time, even when the call fails.
//
// # Grammar of an answer
//
//	(Waiting* Start Content* Reset)* Waiting* Start Content* (End | error)
//
// with an error possible at any point. Content is Text, Reasoning, Refusal, ToolStart ToolDelta* ToolEnd (several calls
// may interleave, distinguished by [Chunk.Index]), ProviderCall, ProviderResult, Source, File and Opaque. Reset voids
// everything since the first Start. A sequence that ends without End and without an error is broken; [Collector] and
// the consumers in this module treat it as [ErrIncomplete], never as success.
//
// # Immutability
//
// Requests, messages and chunks are shared between goroutines once they have been passed on, and are never changed
// afterwards. All types marshal to stable JSON and back.
package provider
