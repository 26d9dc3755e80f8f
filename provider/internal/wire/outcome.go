package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// An Outcome is the result of one call.
type Outcome struct {
	Response *provider.Response
	Err      error
	Requests int // number of requests
}

// Content returns everything that must not depend on how the bytes arrived, in a comparable form.
func (o *Outcome) Content() string {
	text, err := json.Marshal(o.Response)
	if err != nil {
		return "not JSON: " + err.Error()
	}
	if o.Err != nil {
		return string(text) + "\nerror: " + o.Err.Error()
	}
	return string(text)
}

// A golden is what golden files have of an exchange.
type golden struct {
	Answer *provider.Response `json:"answer"`
	Error  *goldenError       `json:"error,omitempty"`
	// the body of the request that sends the answer back; none after an error
	Next json.RawMessage `json:"next,omitempty"`
}

// A goldenError is the content of an error, without the texts that are the project's own.
type goldenError struct {
	Class     string `json:"class"`
	Status    int    `json:"status,omitempty"`
	Type      string `json:"type,omitempty"`
	Code      string `json:"code,omitempty"`
	Message   string `json:"message,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Wait      string `json:"wait,omitempty"`
}

// described returns the golden form of an outcome.
func described(o *Outcome) *golden {
	g := &golden{Answer: o.Response}
	if o.Err == nil {
		return g
	}
	g.Error = &goldenError{Class: fault.Of(o.Err).String()}
	var e *provider.Error
	if !errors.As(o.Err, &e) {
		g.Error.Message = o.Err.Error()
		return g
	}
	g.Error.Status, g.Error.Type, g.Error.Code, g.Error.Message, g.Error.RequestID = e.Status, e.Type, e.Code,
		e.Message, e.RequestID
	if e.Wait != nil {
		g.Error.Wait = e.Wait.String()
	}
	return g
}

// golden decodes exchange i, and sends the answer back.
func (cfg *Config) golden(t testing.TB, c *Case, i int) (*golden, *Outcome) {
	t.Helper()
	o := cfg.play(t, c, i)
	g := described(o)
	if o.Err != nil {
		return g, o
	}
	tr := &Offline{Reply: Always(http.StatusServiceUnavailable, "{}")}
	m := cfg.New(t, "http://wire.test", &http.Client{Transport: tr}, c)
	_, _ = provider.Generate(t.Context(), m, following(o.Response))
	if len(tr.Bodies) == 0 {
		t.Errorf("wire: %s, exchange %d: the answer can't be sent back", c.Name, i)
		return g, o
	}
	g.Next = tr.Bodies[0]
	return g, o
}

// question is the request of every exchange: what was asked doesn't matter to the decoding of the
// answer.
func question() *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User("Hello.")}, MaxOutput: 1024}
}

// following is the request after an answer, as an agent makes it: the message is stored as JSON,
// calls have ids of the agent, each call has a result, and an answer without calls is followed by a
// message of the user.
func following(answer *provider.Response) *provider.Request {
	req := question()
	var said provider.Message
	text, err := json.Marshal(answer.Message())
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		panic(fmt.Sprintf("wire: an answer can't be stored: %v", err))
	}
	var results []provider.Part
	for i, c := range said.Calls() {
		c.ProviderID, c.ID = c.ID, fmt.Sprintf("run.1.%d", i)
		results = append(results,
			provider.ResultPart(provider.ToolResult{CallID: c.ID, Name: c.Name,
				Parts: []provider.Part{provider.TextPart("done")}}))
	}
	req.Messages = append(req.Messages, said)
	if results == nil {
		req.Messages = append(req.Messages, provider.User("Go on."))
	} else {
		req.Messages = append(req.Messages, provider.Message{Role: provider.RoleTool, Parts: results})
	}
	return req
}

// text returns the golden form as it is written to a file.
func (g *golden) text(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(g); err != nil {
		t.Fatalf("wire: %v", err)
	}
	return b.Bytes()
}

// play makes the call of one exchange.
func (cfg *Config) play(t testing.TB, c *Case, i int, opts ...providertest.ReplayOption) *Outcome {
	t.Helper()
	one := c.Only(i)
	server, err := providertest.NewReplayer(&one.Case, append(opts, providertest.Loop())...)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	res, err := provider.Generate(ctx, cfg.New(t, server.URL, server.Client(), one), question())
	return &Outcome{Response: res, Err: err, Requests: len(server.Requests())}
}
