package serve

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences are what people are told of problems whose details are for programmers.
var sentences = map[string]string{
	codeAllowance:   "You have started as much as you may for now. Try again later.",
	codeBusy:        "Another answer is being written. Wait for its end, or stop it first.",
	codeChanged:     "The assistant has changed since then. Send a new message.",
	codeInternal:    "Something went wrong. Try again later.",
	codeInterrupted: "The last answer was interrupted. Wait until it goes on, or send the message again later.",
	CodePaused:      "Something waits for your decision. Decide first, then send the message again.",
	codeReaders:     "You have this open in too many windows. Close one, then try again.",
	codeSlow:        "The message took too long to arrive. Send it again.",
	codeUnavailable: "The server can't answer now. Try again in a moment.",
	codeUnread:      "The agent has too many unread messages. Wait until it has read them, or stop the answer.",
	CodeUnknown:     "There is no such conversation, or it isn't yours.",
}

// sentence says what is wrong as people read it: stock clients show the answers of errors as they
// are.
func (p *problem) sentence() string {
	if s := sentences[p.Code]; s != "" {
		return s
	}
	text := strings.TrimRight(p.Detail, ".") + "."
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:]
}

// Headers of an error whose body is a sentence for people.
const (
	codeHeader  = "Pawl-Code"  // see the Code constants
	traceHeader = "Pawl-Trace" // with which the server's log names it
)

// forPeople reports whether the errors of a path are sentences for people.
func (s *server) forPeople(path string) bool {
	return slices.ContainsFunc(s.people, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// writeSentence answers a request with a sentence.
func (p *problem) writeSentence(w http.ResponseWriter) {
	head, text := w.Header(), p.sentence()
	head.Set("Content-Type", "text/plain; charset=utf-8")
	head.Set(codeHeader, p.Code)
	head.Set(traceHeader, p.Trace)
	head.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(p.Status)
	_, _ = w.Write([]byte(text)) // the client may have disconnected
}
