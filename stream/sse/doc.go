// Package sse reads and writes server-sent events, the text/event-stream format of the WHATWG HTML
// standard (https://html.spec.whatwg.org/multipage/server-sent-events.html). A [Reader] reads any
// io.Reader, and a [Writer] writes to any io.Writer, for example an http.ResponseWriter, whose
// headers [SetHeader] sets. [LastEventID] says where a client that connects again was, and
// [Connect] is such a client:
//
//	for ev, err := range sse.Connect(ctx, http.DefaultClient, req, sse.Config{}) {
//		if err != nil {
//			return err
//		}
//		fmt.Printf("%s: %s\n", ev.ID, ev.Data)
//	}
//
// A Reader is bounded: an event above its limit is a *[TooLargeError]. It also returns an event
// that the end of the input cuts off, marked as such, because many servers of models omit the blank
// line after the last event.
package sse
