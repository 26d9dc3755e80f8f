package providertest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// scrubbed stands where a secret was.
const scrubbed = "SCRUBBED"

// shortest is how long a text must be to be taken for a secret; shorter ones stand in bodies by
// chance.
const shortest = 6

// secretPatterns match keys of known services and ids of organisations, wherever they stand.
var secretPatterns = []*regexp.Regexp{
	regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`),
	regexp.MustCompile(`\b(?:gsk_|xai-|pplx-|hf_|ghp_|r8_|nvapi-)[A-Za-z0-9_-]{20,}`),
	regexp.MustCompile(`\bya29\.[A-Za-z0-9._-]{16,}`),
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`),
	regexp.MustCompile(`(?i)\bbearer [A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`\borg-[A-Za-z0-9]{8,}`),
	regexp.MustCompile(`\bproj_[A-Za-z0-9]{8,}`),
	regexp.MustCompile(`\buser-[A-Za-z0-9]{16,}`),
}

// secretHeaders are the headers whose values are secret, or name who is asking.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key",
	"X-Auth-Token",
	"Ocp-Apim-Subscription-Key", "X-Amz-Security-Token", "Cf-Aig-Authorization", "Openai-Organization",
	"Openai-Project",
	"Anthropic-Organization-Id", "X-Goog-User-Project"}

// secretQuery are the parameters of an address that are secret.
var secretQuery = []string{"key", "api_key", "api-key", "apikey", "access_token", "token", "sig", "signature",
	"subscription-key",
	"x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature", "x-goog-credential"}

// A scrubber takes out what is secret. It isn't safe for concurrent use.
type scrubber struct {
	secrets  []string // the longest first
	patterns []*regexp.Regexp
}

// learn notes a text that is secret.
func (s *scrubber) learn(secret string) {
	secret = strings.TrimSpace(secret)
	if len(secret) < shortest || strings.Contains(scrubbed, secret) || slices.Contains(s.secrets, secret) {
		return
	}
	s.secrets = append(s.secrets, secret)
	slices.SortFunc(s.secrets, func(a, b string) int { return len(b) - len(a) })
}

// learnFrom notes what a request sends as its credentials.
func (s *scrubber) learnFrom(req *http.Request) {
	s.learnHeaders(req.Header)
	for _, c := range req.Cookies() {
		s.learn(c.Value)
	}
	if req.URL == nil {
		return
	}
	if user := req.URL.User; user != nil {
		password, _ := user.Password()
		s.learn(password)
		s.learn(user.Username())
	}
	for name, values := range req.URL.Query() {
		if slices.Contains(secretQuery, strings.ToLower(name)) {
			for _, v := range values {
				s.learn(v)
			}
		}
	}
}

// learnHeaders notes what headers, of either side, hold of secrets.
func (s *scrubber) learnHeaders(h http.Header) {
	for _, name := range secretHeaders {
		for _, value := range h.Values(name) {
			if scheme, token, ok := strings.Cut(value, " "); ok {
				value = token
				if strings.EqualFold(scheme, "basic") {
					s.learnBasic(token)
				}
			}
			s.learn(value)
		}
	}
	for _, c := range (&http.Response{Header: h}).Cookies() {
		s.learn(c.Value)
	}
}

func (s *scrubber) learnBasic(token string) {
	plain, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return
	}
	_, password, _ := strings.Cut(string(plain), ":")
	s.learn(password)
}

// text returns the text without secrets.
func (s *scrubber) text(text string) string {
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, scrubbed)
		if escaped := url.QueryEscape(secret); escaped != secret {
			text = strings.ReplaceAll(text, escaped, scrubbed)
		}
	}
	for _, p := range s.patterns {
		if p != nil {
			text = p.ReplaceAllLiteralString(text, scrubbed)
		}
	}
	return text
}

// body returns a body without secrets. In one that isn't text they are blotted out, so that its
// lengths stay.
func (s *scrubber) body(body []byte) []byte {
	if utf8.Valid(body) {
		return []byte(s.text(string(body)))
	}
	for _, secret := range s.secrets {
		body = bytes.ReplaceAll(body, []byte(secret), bytes.Repeat([]byte("X"), len(secret)))
	}
	return body
}

// address returns a URL without secrets.
func (s *scrubber) address(u *url.URL) string {
	public := *u
	public.User = nil
	query, found := public.Query(), false
	for name := range query {
		if slices.Contains(secretQuery, strings.ToLower(name)) {
			query.Set(name, scrubbed)
			found = true
		}
	}
	if found {
		public.RawQuery = query.Encode()
	}
	return s.text(public.String())
}

// exchange returns the exchange without what is secret by now.
func (s *scrubber) exchange(x Exchange) Exchange {
	x.Request.URL = s.text(x.Request.URL)
	if !x.Request.Base64 {
		x.Request.Body = s.text(x.Request.Body)
	}
	if !x.Response.Base64 {
		x.Response.Body = s.text(x.Response.Body)
	}
	x.Request.Headers = s.values(x.Request.Headers)
	x.Response.Headers = s.values(x.Response.Headers)
	x.Notes = slices.Clone(x.Notes)
	return x
}

func (s *scrubber) values(in map[string]string) map[string]string {
	out := make(map[string]string, len(in))
	for name, value := range in {
		out[name] = s.text(value)
	}
	return out
}

// decoded undoes the encoding of a body, since secrets can't be found in what is compressed.
func decoded(encoding string, body []byte) (plain []byte, note string) {
	switch strings.ToLower(encoding) {
	case "", "identity":
		return body, ""
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Sprintf("the body was left out: %v", err)
		}
		plain, err := io.ReadAll(r)
		if err != nil { // what came of a body that was closed early
			return plain, "the compressed body is not complete"
		}
		return plain, ""
	}
	return nil, fmt.Sprintf("the body was left out: its encoding %q can't be undone here", encoding)
}
