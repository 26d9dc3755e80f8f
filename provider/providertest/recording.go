package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A Case is one or several HTTP exchanges with a provider, recorded one after another: one call, a
// tool loop, a conversation. It is kept as a JSON file; a [Recorder] writes such files, [ReadCase]
// reads them, [Replay] serves them.
type Case struct {
	Name      string     `json:"case"`
	Provider  string     `json:"provider,omitempty"` // such as anthropic
	Wire      string     `json:"wire,omitempty"`     // the format of the bodies, such as anthropic-messages
	Model     string     `json:"model,omitempty"`
	Exchanges []Exchange `json:"exchanges"`
}

// An Exchange is a request and what came back.
type Exchange struct {
	Request  RecordedRequest  `json:"request"`
	Response RecordedResponse `json:"response"`
	Notes    []string         `json:"notes,omitempty"` // what was done to it, or happened to it
}

// A RecordedRequest is a request as it was sent. What a [Recorder] writes is without secrets.
type RecordedRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"` // by their names in lower case
	Body    string            `json:"body"`
	Base64  bool              `json:"base64,omitempty"` // Body is the base64 of bytes that aren't UTF-8
}

// A RecordedResponse is what came back: exactly these bytes.
type RecordedResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"` // by their names in lower case
	Body    string            `json:"body"`
	Stream  bool              `json:"stream"`           // the body is a stream, such as server-sent events
	Base64  bool              `json:"base64,omitempty"` // Body is the base64 of bytes that aren't UTF-8
}

// NewCase returns a case of one exchange that was written by hand: an answer with that status,
// content type and body.
func NewCase(name string, status int, contentType, body string) *Case {
	r := RecordedResponse{Status: status, Headers: map[string]string{"content-type": contentType},
		Stream: isStream(contentType)}
	r.Body, r.Base64 = bodyText([]byte(body))
	return &Case{Name: name, Exchanges: []Exchange{{Request: RecordedRequest{Method: http.MethodPost}, Response: r}}}
}

// ReadCase reads the case in the file.
func ReadCase(path string) (*Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("providertest: reading a case: %w", err)
	}
	c := &Case{}
	if err = json.Unmarshal(data, c); err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("providertest: the case in %s: %w", path, err)
	}
	return c, nil
}

// WriteFile writes the case to the file, whose folder is made if need be.
func (c *Case) WriteFile(path string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := errors.Join(enc.Encode(c), os.MkdirAll(filepath.Dir(path), 0o755))
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("providertest: writing a case: %w", err)
	}
	return nil
}

// Take returns the case with the n exchanges from i on, and nothing of the others. What lies
// outside is left out.
func (c *Case) Take(i, n int) *Case {
	out := *c
	i = min(max(i, 0), len(c.Exchanges))
	out.Exchanges = c.Exchanges[i:min(i+max(n, 0), len(c.Exchanges))]
	return &out
}

// Bytes returns the body as it came.
func (r *RecordedResponse) Bytes() ([]byte, error) {
	if r.Base64 {
		return base64.StdEncoding.DecodeString(r.Body)
	}
	return []byte(r.Body), nil
}

// Header returns the headers that can be sent again: not those that belong to the connection and
// the encoding of the body.
func (r *RecordedResponse) Header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	if r.Stream {
		h.Set("Content-Type", "text/event-stream")
	}
	for name, value := range r.Headers {
		if value != "" || !strings.EqualFold(name, "Content-Type") {
			h.Set(name, value)
		}
	}
	for _, name := range []string{"Connection", "Content-Encoding", "Content-Length", "Keep-Alive", "Trailer",
		"Transfer-Encoding", "Upgrade"} {
		h.Del(name)
	}
	return h
}

func (c *Case) check() error {
	if len(c.Exchanges) == 0 {
		return errors.New("it has no exchanges")
	}
	for i := range c.Exchanges {
		r := &c.Exchanges[i].Response
		if r.Status < 200 || r.Status > 599 {
			return fmt.Errorf("exchange %d has the status %d, which is none of 200 to 599", i, r.Status)
		}
		if _, err := r.Bytes(); err != nil {
			return fmt.Errorf("the answer of exchange %d: %w", i, err)
		}
	}
	return nil
}

func bodyText(body []byte) (text string, encoded bool) {
	if utf8.Valid(body) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

func isStream(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	return kind == "text/event-stream" || kind == "application/vnd.amazon.eventstream" || kind == "application/x-ndjson"
}
