// Package agui has what a server of AG-UI 1.0 (https://docs.ag-ui.com) sends and reads, the
// protocol between agents and user interfaces: events as Go types, a [Writer] that keeps to the
// order that the protocol asks for, and [ParseRunInput] for what clients post. It contains no HTTP
// and no agents: a server sends what the Writer emits, for example as server-sent events with
// package stream/sse.
//
//	w := agui.NewWriter(func(data []byte) error { return events.Write(sse.Event{Data: data}) })
//	defer w.Close()
//	w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"})
//	w.Write(agui.TextMessageChunk{MessageID: "m1", Delta: "Hello."}) // begins the message, too
//	w.Write(agui.RunFinished{})                                      // ends it, too
//
// The protocol has more events than these: for subagents, activities and patches of a state. What
// an application has to say beyond messages is a [Custom].
package agui
