package wirediff

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
)

// A reading is what a client makes of a stream.
type reading struct {
	text, refusal, reasoning string
	calls                    []call
	stop                     string // as provider.StopReason; "": none
	input, output            int64
	err                      string // "": none
	panicked                 bool
	ended                    bool // the end of the answer was there
}

// A call is one of the calls in an answer.
type call struct{ id, name, args string }

// ok reports whether the reading is a whole answer.
func (r *reading) ok() bool { return r.err == "" && r.ended }

func (r *reading) String() string {
	const form = "text %q, refusal %q, reasoning %q\n\tcalls %q\n\tstop %s, input %d, output %d, ended %v, error %q"
	return fmt.Sprintf(form, r.text, r.refusal, r.reasoning, r.calls, r.stop, r.input, r.output, r.ended, r.err)
}

// differences names what differs in two readings of answers.
func differences(a, b *reading, reasoning bool) []string {
	var all []string
	note := func(name string, same bool) {
		if !same {
			all = append(all, name)
		}
	}
	note("text", a.text == b.text)
	note("refusal", a.refusal == b.refusal)
	note("reasoning", !reasoning || a.reasoning == b.reasoning)
	note("calls", slices.Equal(a.calls, b.calls))
	note("stop", a.stop == b.stop)
	note("usage", a.input == b.input && a.output == b.output)
	return all
}

// arguments returns the arguments of a call as JSON with sorted keys, or what they are if they
// aren't JSON.
func arguments(text string) string {
	if strings.TrimSpace(text) == "" {
		return "{}"
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return "not JSON: " + strings.ToValidUTF8(text, "\uFFFD")
	}
	data, _ := json.Marshal(v) // of decoded JSON
	return string(bytes.ReplaceAll(data, []byte(`\u2028`), []byte("\u2028")))
}

// guarded calls f, and turns a panic into an error of the reading.
func guarded(f func() reading) (r reading) {
	defer func() {
		if p := recover(); p != nil {
			r = reading{err: fmt.Sprintf("panic: %v", p), panicked: true}
		}
	}()
	return f()
}

// adapterFor returns one of our adapters.
func adapterFor(name string, client *http.Client) (provider.Provider, error) {
	const address = "http://127.0.0.1"
	switch name {
	case "claude":
		return anthropic.New(anthropic.Config{Model: "m", APIKey: "k", BaseURL: address, HTTPClient: client})
	case "gemini":
		return gemini.New(gemini.Config{Model: "m", APIKey: "k", BaseURL: address, HTTPClient: client})
	case "responses":
		return openai.New(openai.Config{Model: "m", APIKey: "k", BaseURL: address, API: openai.Responses,
			Name: "server", HTTPClient: client})
	}
	return openai.New(openai.Config{Model: "m", APIKey: "k", BaseURL: address, API: openai.Chat,
		Name: "server", HTTPClient: client})
}

// ours returns what our adapter makes of a stream.
func ours(ctx context.Context, p provider.Provider) (r reading) {
	res, err := provider.Generate(ctx, p, &provider.Request{MaxOutput: 1024,
		Messages: []provider.Message{provider.User("Hello.")}, Tools: []provider.Tool{{Name: "weather"}}})
	m := res.Message()
	r = reading{text: res.Text(), refusal: m.Refusal(), reasoning: res.Reasoning(), stop: string(res.Stop),
		input: res.Usage.Input, output: res.Usage.Output, ended: res.Complete}
	for _, c := range res.Calls() {
		args := string(c.Input)
		if c.Invalid != "" {
			args = c.Invalid
		}
		r.calls = append(r.calls, call{c.ID, c.Name, arguments(args)})
	}
	if err != nil {
		r.err = err.Error()
	}
	return r
}
