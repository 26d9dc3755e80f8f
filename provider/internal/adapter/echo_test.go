package adapter_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
)

const (
	theKey    = `sk-very"secret+key/0123&=é`
	theHeader = "gateway-password-4567"
	theQuery  = "query token 8901"
)

// adapters are the adapters of this module, with a key, a header and an address that are secret.
var adapters = map[string]func(t testing.TB, base string) provider.Provider{
	"anthropic": func(t testing.TB, base string) provider.Provider {
		m, err := anthropic.New(anthropic.Config{Model: "m", APIKey: theKey, BaseURL: base,
			Header: http.Header{"X-Anything": {theHeader}}})
		require.NoError(t, err)
		return m
	},
	"gemini": func(t testing.TB, base string) provider.Provider {
		m, err := gemini.New(gemini.Config{Model: "m", APIKey: theKey, BaseURL: base,
			Header: http.Header{"X-Anything": {theHeader}}})
		require.NoError(t, err)
		return m
	},
	"openai chat": func(t testing.TB, base string) provider.Provider {
		m, err := openai.New(openai.Config{Model: "m", APIKey: theKey, BaseURL: base, API: openai.Chat,
			Header: http.Header{"X-Anything": {theHeader}}})
		require.NoError(t, err)
		return m
	},
	"openai responses": func(t testing.TB, base string) provider.Provider {
		m, err := openai.New(openai.Config{Model: "m", APIKey: theKey, BaseURL: base, API: openai.Responses,
			Header: http.Header{"X-Anything": {theHeader}}})
		require.NoError(t, err)
		return m
	},
}

func ask() *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User("hello")}}
}

// echoes are the ways in which a server may repeat a secret: what it writes to the connection.
func echoes(secret string) map[string]string {
	inJSON, _ := json.Marshal(secret)
	quoted := string(inJSON)
	answer := func(status, headers, body string) string {
		return "HTTP/1.1 " + status + "\r\nConnection: close\r\n" + headers + "\r\n" + body
	}
	out := map[string]string{
		"status line":              answer("401 "+secret, "", "no"),
		"status line of 200":       answer("200 "+secret, "", "data: x"),
		"broken status line":       secret + " HTTP/1.1\r\n\r\n",
		"broken version":           "HTTP/" + secret + " 200 OK\r\n\r\n",
		"broken header":            "HTTP/1.1 200 OK\r\n" + secret + "\r\n\r\n",
		"broken length":            "HTTP/1.1 200 OK\r\nContent-Length: " + secret + "\r\n\r\n",
		"broken encoding":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + secret + "\r\n\r\n",
		"broken chunk":             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + secret + "\r\n",
		"broken chunk of an error": "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n" + secret + "\r\n",
		"Location":                 answer("307 T", "Location: http://elsewhere/"+url.PathEscape(secret)+"\r\n", ""),
		"host of the Location": answer("307 T", "Location: http://"+url.PathEscape(theHeader)+".elsewhere/\r\n",
			""),
		"broken Location":       answer("307 T", "Location: http://[::"+secret+"\r\n", ""),
		"Location with a query": answer("302 F", "Location: /x?key="+url.QueryEscape(secret)+"\r\n", ""),
	}
	for _, name := range []string{"Request-Id", "X-Request-Id", "Apim-Request-Id", "Retry-After", "Www-Authenticate",
		"X-Ratelimit-Limit-Requests", "Content-Type"} {
		out["header "+name] = answer("429 T", name+": "+secret+"\r\n", "no")
	}
	bodies := map[string]string{
		"text": secret,
		// it is shortened within the secret
		"a long text":     strings.Repeat("x", 290) + secret + strings.Repeat("y", 300),
		"a longer text":   strings.Repeat("x", 490) + secret,
		"a page":          "<html><title>" + secret + "</title></html>",
		"message":         `{"error":{"message":` + quoted + `}}`,
		"type":            `{"error":{"type":` + quoted + `}}`,
		"code":            `{"error":{"code":` + quoted + `}}`,
		"status":          `{"error":{"status":` + quoted + `}}`,
		"detail":          `{"detail":` + quoted + `}`,
		"string":          `{"error":` + quoted + `}`,
		"list":            `[{"error":{"message":` + quoted + `}}]`,
		"request id":      `{"type":"error","error":{"message":"no"},"request_id":` + quoted + `}`,
		"name of a field": `{` + quoted + `:1}`,
		"reason": `{"error":{"details":[{"reason":` + quoted + `,"violations":[{"quotaId":` + quoted +
			`}]}]}}`,
		"metadata":          `{"error":{"message":"no","metadata":{"raw":` + quoted + `}}}`,
		"in a URL":          `{"error":{"message":"see http://x/?k=` + url.QueryEscape(secret) + `"}}`,
		"in base64":         `{"error":{"message":"` + base64.StdEncoding.EncodeToString([]byte(secret)) + `"}}`,
		"broken JSON":       `{"error":{"message":` + quoted,
		"JSON of no object": quoted,
	}
	for name, body := range bodies {
		out["error's body: "+name] = answer("400 Bad", "", body)
		out["answer: "+name] = answer("200 OK", "", body)
		out["event: "+name] = answer("200 OK", "Content-Type: text/event-stream\r\n",
			"event: error\ndata: "+body+"\n\n")
	}
	return out
}

// sayer is a server that answers each connection with the same bytes.
func sayer(t testing.TB, text string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 64<<10)
			_, _ = c.Read(buf)
			_, _ = io.WriteString(c, text)
			_ = c.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return "http://" + l.Addr().String()
}

// address matches a pointer and a port, whose digits may be those of a secret.
var address = regexp.MustCompile(`\(0x[0-9a-f]+\)|127\.0\.0\.1:\d+`)

// printed returns everything that can be printed of an error and of the errors that it wraps.
func printed(err error) string {
	if err == nil {
		return ""
	}
	out := fmt.Sprintf("%v %+v %#v %q", err, err, err, err)
	if raw, e := json.Marshal(err); e == nil {
		out += string(raw)
	}
	out = address.ReplaceAllString(out, "")
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			out += printed(inner)
		}
	case interface{ Unwrap() error }:
		out += printed(e.Unwrap())
	}
	return out
}

func TestNoErrorContainsASecretOfTheRequest(t *testing.T) {
	places := 0
	for secret, parts := range map[string][]string{theKey: {"secret", "0123"}, theHeader: {"password", "4567"},
		theQuery: {"token 8", "token+8", "8901"}} {
		parts = append(parts, base64.RawStdEncoding.EncodeToString([]byte(secret))[:10])
		for place, text := range echoes(secret) {
			places++
			base := sayer(t, text)
			for name, connect := range adapters {
				if name == "gemini" && secret == theQuery {
					continue // its address has no query
				}
				failed := 0
				for c, err := range connect(t, base+"/?token="+url.QueryEscape(theQuery)).Stream(t.Context(), ask()) {
					if err == nil {
						_ = c
						continue
					}
					failed++
					for _, part := range parts {
						require.NotContains(t, printed(err), part, "%s, %s", name, place)
					}
				}
				require.Equal(t, 1, failed, "%s, %s", name, place)
			}
		}
	}
	require.GreaterOrEqual(t, places, 3*40)
}

func TestAWebPageIsAPermanentError(t *testing.T) {
	for name, connect := range adapters {
		var asked atomic.Int32
		base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "\n<!DOCTYPE html><title>Sign in</title>")
		})
		_, err := provider.Generate(t.Context(), connect(t, base.String()), ask())
		require.Equal(t, fault.Permanent, fault.Of(err), name)
		require.ErrorContains(t, err, "web page")
		remedy, _ := fault.Remedy(err)
		require.Contains(t, remedy, "BaseURL")
		require.Equal(t, int32(1), asked.Load(), name)
	}
}

var everyStart = flag.Bool("every-start", false,
	"each adapter gets long lines with each beginning; otherwise one of them gets a line")

func TestALineOf100MBIsAPermanentError(t *testing.T) {
	starts := []string{"data: ", `{"error": "`}
	if !*everyStart {
		n := rand.IntN(len(starts))
		starts = starts[n : n+1]
	}
	for name, connect := range adapters {
		for _, start := range starts {
			var asked, sent atomic.Int64
			base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				fmt.Fprint(w, start)
				piece := strings.Repeat("x", 1<<20)
				for range 100 {
					n, err := io.WriteString(w, piece)
					if sent.Add(int64(n)); err != nil {
						return
					}
				}
			})
			_, err := provider.Generate(t.Context(), connect(t, base.String()), ask())
			require.Equal(t, fault.Permanent, fault.Of(err), "%s: %v", name, err)
			require.ErrorContains(t, err, "more than "+strconv.Itoa(64<<20)+" bytes")
			require.Equal(t, int64(1), asked.Load(), name)
			require.False(t, errors.Is(err, provider.ErrIncomplete))
		}
		if !*everyStart {
			return
		}
	}
}
