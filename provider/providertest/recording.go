package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// A Case is one or several HTTP exchanges with a provider, recorded one after another: one call, a
// tool loop, a conversation. It is kept as a JSON file; a [Recorder] writes such files, [ReadCase]
// reads them, [Replay] serves them.
type Case struct {
	Name      string          `json:"case"`
	Source    json.RawMessage `json:"source,omitempty"`   // where it comes from, for a person
	Provider  string          `json:"provider,omitempty"` // such as anthropic
	Wire      string          `json:"wire,omitempty"`     // the format of the bodies, such as anthropic-messages
	Model     string          `json:"model,omitempty"`
	Streaming bool            `json:"streaming"` // at least one answer is a stream
	Tags      []string        `json:"tags,omitempty"`
	Exchanges []Exchange      `json:"exchanges"`
	// what a right decoder makes of the answers, for whoever reads it
	Expect json.RawMessage `json:"expect,omitempty"`
}

// An Exchange is a request and what came back.
type Exchange struct {
	Request  RecordedRequest  `json:"request"`
	Response RecordedResponse `json:"response"`
	Notes    []string         `json:"notes,omitempty"` // what was done to it, or happened to it
}

// A RecordedRequest is a request as it was sent, without what is secret.
type RecordedRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Base64  bool              `json:"base64,omitempty"`   // Body is the base64 of bytes that aren't UTF-8
	Known   *bool             `json:"recorded,omitempty"` // false: the request wasn't recorded; nil: it was
}

// A RecordedResponse is what came back: exactly these bytes.
type RecordedResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Stream  bool              `json:"stream"`           // the body is a stream, such as server-sent events
	Base64  bool              `json:"base64,omitempty"` // Body is the base64 of bytes that aren't UTF-8
}

// NewCase returns a case of one exchange that was written by hand: an answer with that status,
// content type and body. It is a stream if the content type is that of server-sent events.
func NewCase(name string, status int, contentType, body string) *Case {
	text, encoded := bodyText([]byte(body))
	stream := isStream(contentType)
	unknown := false
	return &Case{Name: name, Streaming: stream, Exchanges: []Exchange{{
		Request: RecordedRequest{Method: http.MethodPost, Known: &unknown},
		Response: RecordedResponse{Status: status, Headers: map[string]string{"content-type": contentType},
			Body: text, Base64: encoded, Stream: stream},
	}}}
}

// ReadCase reads the case in the file.
func ReadCase(path string) (*Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("providertest: reading a case: %w", err)
	}
	c := &Case{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("providertest: the case in %s: %w", path, err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("providertest: the case in %s: %w", path, err)
	}
	return c, nil
}

// WriteFile writes the case to the file, whose folder is made if need be. A reader never sees half
// of it.
func (c *Case) WriteFile(path string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(c); err != nil {
		return fmt.Errorf("providertest: writing a case: %w", err)
	}
	if err := writeWhole(path, b.Bytes()); err != nil {
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

// Bytes returns the body as it was sent.
func (r *RecordedRequest) Bytes() ([]byte, error) { return bodyBytes(r.Body, r.Base64) }

// Bytes returns the body as it came.
func (r *RecordedResponse) Bytes() ([]byte, error) { return bodyBytes(r.Body, r.Base64) }

// Header returns the headers that can be sent again: not those that belong to the connection and
// the encoding of the body.
func (r *RecordedResponse) Header() http.Header {
	h := http.Header{}
	for name, value := range r.Headers {
		h.Set(name, value)
	}
	maps.DeleteFunc(h, func(name string, _ []string) bool { return ofConnection[name] })
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
		if r.Stream {
			h.Set("Content-Type", "text/event-stream")
		}
	}
	return h
}

var ofConnection = map[string]bool{"Connection": true, "Content-Encoding": true, "Content-Length": true,
	"Keep-Alive": true,
	"Trailer":    true, "Transfer-Encoding": true, "Upgrade": true}

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

func bodyBytes(body string, encoded bool) ([]byte, error) {
	if !encoded {
		return []byte(body), nil
	}
	return base64.StdEncoding.DecodeString(body)
}

func bodyText(body []byte) (text string, encoded bool) {
	if utf8.Valid(body) {
		return string(body), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}

// writeWhole writes a file by way of another one beside it.
func writeWhole(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".case-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func isStream(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	return kind == "text/event-stream" || kind == "application/vnd.amazon.eventstream" || kind == "application/x-ndjson"
}
