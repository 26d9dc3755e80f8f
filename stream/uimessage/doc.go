// Package uimessage has the chunks of the AI SDK's UI message stream, version 1, as Go types: what
// useChat and other clients of the AI SDK (ai 6 and ai 7) read from a server, and what they post.
// It has no HTTP and knows no agents: package agent/serve puts both together.
//
// A [Writer] enforces the order of chunks, because those clients don't forgive: an unknown chunk, a
// null for an optional field, or a delta of a part that wasn't started ends their stream with an
// error. The Writer starts and ends parts and steps where they are missing, and refuses what can't
// come with a *[GrammarError]. A [Message] is what a client builds from chunks: [Message.Apply]
// follows the client's rules. [ParseRequest] reads what a client posts.
//
// Data is sent as server-sent events, one for each chunk, and one with [Done] at the end:
//
//	out := sse.NewWriter(w)
//	chunks := uimessage.NewWriter(func(data []byte) error { return out.Write(sse.Event{Data: data}) }, uimessage.V7)
//	…
//	err = chunks.Close()
//	…
//	err = out.Write(sse.Event{Data: []byte(uimessage.Done)})
//
// The types follow ai 7.0.77, file packages/ai/src/ui-message-stream/ui-message-chunks.ts, whose
// license is Apache-2.0. Rules of the client are those of
// packages/ai/src/ui/process-ui-message-stream.ts.
package uimessage

// Done is the data of the event that ends a stream. Clients ignore it.
const Done = "[DONE]"

// Header is the name, and HeaderValue the value, of the header that a response has besides those of
// server-sent events.
const (
	Header      = "X-Vercel-Ai-Ui-Message-Stream"
	HeaderValue = "v1"
)

// A Level is what a client understands. Chunks and fields above its level are fatal for a client,
// so a [Writer] translates or leaves them out.
type Level int

// The levels.
const (
	V7     Level = iota // ai 7.0 and above
	V6                  // ai 6: without answers to approvals
	V7Late              // ai 7.0.70 and above: ResetStep, too
)
