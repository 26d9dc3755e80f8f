package httpguard

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/provider/secret"
)

// Secrets are those of the HTTP requests that were made with a context: what their headers hold,
// and the queries of their addresses where the connection is of HTTP/2. It is safe for concurrent
// use.
type Secrets struct {
	mu   sync.Mutex // guards what follows
	list []string
}

// Watch returns a context whose HTTP requests are watched. It needs no cooperation of the code that
// makes them, except that it passes the context on to net/http.
func Watch(ctx context.Context) (context.Context, *Secrets) {
	s := &Secrets{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaderField: s.note}), s
}

func (s *Secrets) note(name string, values []string) {
	var secrets []string
	switch {
	case name == ":path":
		for _, v := range values {
			if u, err := url.Parse(v); err == nil {
				secrets = append(secrets, QuerySecrets(u.Query())...)
			}
		}
	case !strings.HasPrefix(name, ":") && IsSecret(name):
		secrets = values
		if strings.EqualFold(name, "Cookie") {
			secrets = append(cookieSecrets(values), values...)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, secrets...)
}

// cookieSecrets returns the values of the cookies in Cookie headers.
func cookieSecrets(headers []string) (secrets []string) {
	for _, h := range headers {
		for cookie := range strings.SplitSeq(h, ";") {
			_, value, _ := strings.Cut(cookie, "=")
			secrets = append(secrets, strings.Trim(value, ` "`))
		}
	}
	return secrets
}

// openHeaders are headers whose values aren't secret.
var openHeaders = map[string]bool{"Accept": true, "Accept-Encoding": true, "Anthropic-Beta": true,
	"Anthropic-Version": true, "Connection": true, "Content-Length": true, "Content-Type": true, "Host": true,
	"Http-Referer": true, "Openai-Beta": true, "Openai-Organization": true, "Openai-Project": true, "Referer": true,
	"Transfer-Encoding": true, "User-Agent": true, "X-Title": true}

// IsSecret reports whether the value of a header may be a secret.
func IsSecret(header string) bool { return !openHeaders[http.CanonicalHeaderKey(header)] }

// QuerySecrets returns the values of an address's query that may be secret.
func QuerySecrets(query url.Values) (secrets []string) {
	for name, values := range query {
		if name != "api-version" && name != "alt" {
			secrets = append(secrets, values...)
		}
	}
	return secrets
}

// inPlace matches possible secrets by their place: a key in the query of a URL, and the word after
// "Bearer". [secret.Redact] removes the password before the host of a URL.
var inPlace = regexp.MustCompile(
	`(?i)([?&](?:key|api_key|api-key|token|access_token|password)=|\bbearer )[^&\s"'@]+`)

// Text returns text without these secrets and without what looks like a secret.
func (s *Secrets) Text(text string) string { return s.clean()(text) }

// Error returns err, or an error without secrets in its place: see [secret.CleanError].
func (s *Secrets) Error(err error) error { return secret.CleanError(err, s.clean()) }

func (s *Secrets) clean() func(string) string {
	s.mu.Lock()
	values := secret.NewValues(s.list...)
	s.mu.Unlock()
	return func(text string) string {
		return secret.Redact(inPlace.ReplaceAllString(values.Text(text), "${1}"+secret.Redacted))
	}
}
