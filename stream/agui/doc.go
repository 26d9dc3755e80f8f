// Package agui has the events of AG-UI 1.0 (https://docs.ag-ui.com), the protocol between agents
// and user interfaces, as Go types with JSON, and a [Writer] that keeps to the order that the
// protocol asks for. It contains no HTTP and no agents: a server sends what the Writer emits, for
// example as server-sent events with package stream/sse.
//
//	w := agui.NewWriter(func(data []byte) error { return events.Write(sse.Event{Data: data}) })
//	defer w.Close()
//	w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"})
//	w.Write(agui.TextMessageStart{MessageID: "m1"})
//	w.Write(agui.TextMessageContent{MessageID: "m1", Delta: "Hello."})
//	w.Write(agui.RunFinished{}) // ends the message, too
//
// [Marshal] and [Unmarshal] convert single events. [ParseRunInput] reads what a client sends to
// start a run, within limits.
//
// The protocol wants receivers to leave out what they don't know and to reject what they know and
// is wrong. Unmarshal and ParseRunInput do so: an unknown property, message role, kind of part or
// outcome is left out, and a known property that is missing, null or of the wrong kind is an error.
package agui
