package openai

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// secrets are texts that errors must not contain: some servers repeat the request.
type secrets []secret

// shortestSecret is the shortest text that is treated as a secret; shorter ones may occur in ordinary words.
const shortestSecret = 8

// with returns the secrets and one more.
func (s secrets) with(text string) secrets {
	if len(text) < shortestSecret {
		return s
	}
	return append(s[:len(s):len(s)], newSecret(text))
}

// text returns text without the secrets.
func (s secrets) text(text string) string {
	for _, one := range s {
		text = strings.ReplaceAll(text, one.reveal(), "(key)")
	}
	return text
}

// in returns data without the secrets.
func (s secrets) in(data []byte) []byte {
	for _, one := range s {
		data = bytes.ReplaceAll(data, []byte(one.reveal()), []byte("(key)"))
	}
	return data
}

// secretName matches the names of headers and parameters that contain secrets.
var secretName = regexp.MustCompile(`(?i)auth|key|token|secret|cookie|password|credential|signature|^sig$`)

// configured returns the secrets of a configuration, except for the key.
func configured(header http.Header, query url.Values) secrets {
	var s secrets
	for _, fields := range []map[string][]string{header, query} {
		for name, values := range fields {
			for _, v := range values {
				if secretName.MatchString(name) {
					s = s.with(v).with(bearer(v))
				}
			}
		}
	}
	return s
}

// bearer returns what follows the scheme in the value of an Authorization header.
func bearer(value string) string {
	if _, after, ok := strings.Cut(value, " "); ok {
		return strings.TrimSpace(after)
	}
	return value
}

// authorized reports whether the configured headers contain a key for the server.
func (h *host) authorized(header http.Header) bool {
	for name, values := range header {
		if len(values) > 0 && values[0] != "" && (strings.EqualFold(name, "Authorization") || h.keyAlso != "" && strings.EqualFold(name, h.keyAlso)) {
			return true
		}
	}
	return false
}

// secrets are those of the call.
func (a *answer) secrets() secrets { return a.m.hidden.with(a.key.reveal()) }

// hide removes the secrets from an error. Causes aren't changed, because they may belong to others; they are wrapped in a covered error.
func (a *answer) hide(e *provider.Error) {
	hidden := a.secrets()
	for _, field := range []*string{&e.Message, &e.Type, &e.Code, &e.RequestID, &e.Remedy} {
		*field = hidden.text(*field)
	}
	if e.Err == nil {
		return
	}
	if f, ok := e.Err.(*fault.FixableError); ok && f != nil {
		safe := *f
		safe.Message, safe.Remedy = hidden.text(f.Message), hidden.text(f.Remedy)
		if safe.Message != f.Message || safe.Remedy != f.Remedy {
			e.Err = &safe
		}
	}
	if text := e.Err.Error(); hidden.text(text) != text {
		e.Err = &covered{hidden.text(text), e.Err}
	}
}

// A covered error wraps an error with a text that contains no secrets.
type covered struct {
	text string
	err  error
}

func (c *covered) Error() string { return c.text }
func (c *covered) Unwrap() error { return c.err }
