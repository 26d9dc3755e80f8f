package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/visible"
)

// The errors that callers match with errors.Is.
var (
	// ErrNotAllowed means that the configuration doesn't allow the URL, or the URL of a redirect.
	ErrNotAllowed = errors.New("web: not allowed")
	// ErrPrivate means that the address of the host isn't public and isn't listed in
	// FetchConfig.Private.
	ErrPrivate = errors.New("web: private address")
)

// An Error says why a page wasn't fetched, or why a search service refused, in words that a model
// can act on. Its text contains no address that a name was resolved to, and nothing that a server
// wrote.
type Error struct {
	URL     string // as the caller gave it; empty for a search service
	Problem string // what was wrong, and what would be right
	// Sent is what the server sent, for the host: the URL of a redirect, the type of a page that is
	// no text, or what a search service says is wrong. It isn't part of the text, which a model
	// reads unmarked.
	Sent  string
	class fault.Class
	err   error
}

// Error names the URL and the problem.
func (e *Error) Error() string {
	if e.URL == "" {
		return e.Problem
	}
	return "web: " + showURL(e.URL) + ": " + e.Problem
}

// Fault returns the class: Invalid for what is no URL, Denied for what isn't allowed, NotFound, and
// otherwise that of the cause.
func (e *Error) Fault() fault.Class { return e.class }

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.err }

func newError(url string, class fault.Class, cause error, format string, args ...any) *Error {
	return &Error{URL: url, Problem: fmt.Sprintf(format, args...), class: class, err: cause}
}

// longestShown is how many bytes of a URL errors show.
const longestShown = 200

// showURL returns a URL as it can appear in a line of text.
func showURL(s string) string {
	if before, rest, ok := strings.Cut(s, "//"); ok { // without a user name and a password, even if it doesn't parse
		end := strings.IndexAny(rest, "/?#")
		if end < 0 {
			end = len(rest)
		}
		if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
			s = before + "//" + rest[at+1:]
		}
	}
	if len(s) > longestShown {
		s = strings.ToValidUTF8(s[:longestShown], "") + "…"
	}
	return strconv.QuoteToGraphic(s)
}

// unreached explains the error of a request that got no answer, or of a body that broke off.
func unreached(ctx context.Context, url string, err error) error {
	var own *Error
	var dns *net.DNSError
	switch {
	case errors.As(err, &own): // of checkAddress
		return newError(url, own.class, own.err, "%s", own.Problem)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errSlow):
		return newError(url, fault.Transient, errSlow, "it didn't answer completely within %v", fetchTime)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &dns) && dns.IsNotFound:
		return newError(url, fault.NotFound, nil, "there is no such host")
	case errors.As(err, &dns): // the text names the DNS server
		return newError(url, fault.Transient, nil, "the name of the host couldn't be resolved")
	}
	return newError(url, fault.Of(err), err, "%s", failure(err))
}

// failure describes a network error without addresses, and without text that the server chose:
// errors aren't marked as data.
func failure(err error) string {
	var (
		op          *net.OpError
		certificate *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &certificate):
		return "its certificate isn't valid"
	case errors.As(err, &op) && op.Err != nil:
		return "the connection failed: " + op.Op + ": " + op.Err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the answer was complete"
	}
	return "its answer isn't valid HTTP"
}

// clip shortens s to at most n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// line returns text as one line of at most n bytes.
func line(text string, n int) string {
	return clip(strings.Join(strings.Fields(visible.Text(text)), " "), n)
}
