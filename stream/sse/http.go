package sse

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// SetHeader sets the headers of a response that is a stream of events: its content type, that
// nobody may cache or compress it, and that nginx must not buffer it.
func SetHeader(h http.Header) {
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
}

const (
	contentType = "text/event-stream"
	lastEventID = "Last-Event-ID"
)

// LastEventID returns the id of the last event that the client of r has seen. It is empty if the
// client has seen none, and if it is one that a [Writer] doesn't write, or no UTF-8. It is whatever
// the client sent: check it.
func LastEventID(r *http.Request) string {
	id := r.Header.Get(lastEventID)
	if !utf8.ValidString(id) || strings.ContainsAny(id, notInID) {
		return ""
	}
	return id
}
