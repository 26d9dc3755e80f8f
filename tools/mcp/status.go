package mcp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A refusal is the error of a request that a server over HTTP answered with another status than
// 2xx. It is about this request: the connection and other requests aren't touched.
type refusal struct {
	http    *fault.HTTPError
	server  string
	message string // what the server has said about it, if it said anything
	unknown bool   // the server doesn't know the session
}

// refusal reads a reply with another status than 2xx.
func (r *requests) refusal(req *http.Request, res *http.Response) *refusal {
	e := &refusal{server: r.session.server,
		http: &fault.HTTPError{Status: res.StatusCode, Class: classOfStatus(res.StatusCode)}}
	e.http.Wait, _ = fault.ParseRetryAfter(res.Header, time.Now())
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxMessage+1)) // as far as it arrives
	_ = res.Body.Close()
	if m, err := jsonrpc.DecodeMessage(body); err == nil {
		if answer, ok := m.(*jsonrpc.Response); ok {
			if said := (*jsonrpc.Error)(nil); errors.As(answer.Error, &said) {
				e.message = said.Message
				if res.StatusCode == http.StatusBadRequest {
					e.http.Class = classOf(said.Code)
				}
			}
		}
	} else if kind := res.Header.Get("Content-Type"); !strings.Contains(kind, "html") {
		e.message = string(body)
	}
	e.message = strings.TrimSpace(strings.ToValidUTF8(e.message, "\uFFFD"))
	if req.Header.Get(sessionHeader) != "" {
		e.unknown = res.StatusCode == http.StatusNotFound ||
			res.StatusCode == http.StatusBadRequest && aboutSession.MatchString(e.message)
	}
	return e
}

// aboutSession matches what servers say that answer an unknown session with 400 instead of 404.
var aboutSession = regexp.MustCompile(`(?i)\b(no valid|invalid|missing|unknown|expired|no such|no) (or \w+ )?session|` +
	`\bsession( id)? (\S+ )?(not found|is unknown|unknown|(has )?expired|(was |is )?terminated|is invalid|is not valid|` +
	`does not exist|doesn't exist|not initialized)|\bserver not initialized`)

// classOfStatus returns what a status other than 2xx says about a request. A 403 is permanent: with
// a sign-in, somebody has been asked before.
func classOfStatus(status int) fault.Class {
	switch class := fault.FromStatus(status); {
	case status == http.StatusForbidden || class == fault.None:
		return fault.Permanent
	default:
		return class
	}
}

// notRun reports whether the status shows that the server hasn't run the request.
func (e *refusal) notRun() bool {
	return e.http.Status >= 400 && e.http.Status < 500 && e.http.Status != http.StatusRequestTimeout
}

// Error says what the server has answered, for a model. The server's words are data.
func (e *refusal) Error() string {
	text := fmt.Sprintf("mcp: the server %q answered with status %d %s", e.server, e.http.Status,
		http.StatusText(e.http.Status))
	if e.notRun() {
		text += ": it hasn't run the call"
	}
	if e.message != "" {
		text += "\n" + tools.Untrusted(e.server, tools.Cut(e.message, maxMessage))
	}
	return text
}

// Unwrap returns the status, with the class and the advice when to try again.
func (e *refusal) Unwrap() error { return e.http }
