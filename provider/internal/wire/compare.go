package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/pawlkit/pawl/provider"
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

// differences are the errors of an outcome.
type differences []string

func (d *differences) add(what string, got, want any) {
	*d = append(*d, fmt.Sprintf("%s: got %s, want %s", what, brief(got), brief(want)))
}

func brief(v any) string {
	s, ok := v.(string)
	if ok {
		s = fmt.Sprintf("%q", s)
	} else {
		s = fmt.Sprintf("%+v", v)
	}
	if len(s) > 160 {
		s = s[:80] + " … " + s[len(s)-60:]
	}
	return strings.ToValidUTF8(s, "")
}

// Compare returns the differences of the outcome of exchange i from the expected one, one per line.
func Compare(c *Case, i int, o *Outcome) []string {
	var d differences
	want, answer := &c.Expect[i], &c.Exchanges[i].Response
	body, err := answer.Bytes()
	if err != nil {
		return []string{err.Error()}
	}
	if got := o.Response.Text(); got != want.Text {
		d.add("text", got, want.Text)
	}
	if got := o.Response.Reasoning(); got != want.Reasoning {
		d.add("reasoning", got, want.Reasoning)
	}
	if got := joined(o.Response, provider.PartRefusal); got != deref(want.Refusal) {
		d.add("refusal", got, deref(want.Refusal))
	}
	d.calls("tool calls", o.Response.Calls(), want.ToolCalls)
	d.calls("provider-run calls", providerCalls(o.Response), want.ProviderToolCalls)
	header := answer.Header()
	d.ending(c, want, o, &header, body)
	if most := allowed(answer.Status); o.Requests > most {
		d.add("requests", o.Requests, most)
	}
	return d
}

// allowed returns how many requests one call may make: after a rejected key, one more.
func allowed(status int) int {
	if status == http.StatusUnauthorized {
		return 2
	}
	return 1
}

func joined(r *provider.Response, kind provider.PartKind) string {
	var b strings.Builder
	for i := range r.Parts {
		if r.Parts[i].Kind == kind {
			b.WriteString(r.Parts[i].Text)
		}
	}
	return b.String()
}

func providerCalls(r *provider.Response) []*provider.ToolCall {
	var calls []*provider.ToolCall
	for i := range r.Parts {
		if p := &r.Parts[i]; p.Kind == provider.PartProviderCall && p.Call != nil {
			calls = append(calls, p.Call)
		}
	}
	return calls
}

func (d *differences) calls(what string, got []*provider.ToolCall, want []ExpectCall) {
	if len(got) != len(want) {
		var names []string
		for _, c := range got {
			names = append(names, c.Name)
		}
		d.add("number of "+what, fmt.Sprint(len(got), " ", names), len(want))
		return
	}
	for i, w := range want {
		g := got[i]
		if g.Name != w.Name {
			d.add(what+": name", g.Name, w.Name)
		}
		if g.ID != deref(w.ID) {
			d.add(what+": id", g.ID, deref(w.ID))
		}
		switch {
		case w.Incomplete:
			if g.Invalid != w.Raw && string(g.Input) != w.Raw {
				d.add(what+": unfinished arguments", g.Invalid+string(g.Input), w.Raw)
			}
		case w.Custom:
			if !sameText(g, w.Arguments) {
				d.add(what+": free-form input", string(g.Input)+g.Invalid, string(w.Arguments))
			}
		case len(w.Arguments) > 0 && !bytes.Equal(w.Arguments, []byte("null")):
			if g.Invalid != "" || !sameJSON(orEmpty(g.Input), w.Arguments) {
				d.add(what+": arguments", string(g.Input)+g.Invalid, string(w.Arguments))
			}
		}
	}
}

// ending compares how the answer ended, and what is only known then.
func (d *differences) ending(c *Case, want *Expect, o *Outcome, h *http.Header, body []byte) {
	switch {
	case want.Error != nil:
		if o.Err == nil && d.isFinish(want.FinishAlt, o) {
			return
		}
		d.failure(want.Error, h, body, o.Err)
		return
	case want.Truncated:
		if o.Err == nil {
			d.add("end of a cut stream", "no error", "an error")
		} else if provider.Canceled(o.Err) {
			d.add("end of a cut stream", o.Err, "an error that isn't a cancellation")
		}
		return
	case o.Err != nil:
		if deref(want.Finish) != "error" {
			d.add("error", o.Err.Error(), "none")
		}
		return
	}
	if !d.isFinish(append([]*string{want.Finish}, want.FinishAlt...), o) {
		if !(want.Finish == nil && o.Response.Stop == silent(want)) {
			d.add("finish", o.Response.Stop, fmt.Sprint(deref(want.Finish), " or ", texts(want.FinishAlt), ", raw ", deref(want.FinishRaw)))
		}
	}
	usage := o.Response.Usage
	raw := usage.Raw
	usage.Raw = ""
	if expected := Usage(c.Wire, want.Usage, body); usage != expected {
		d.add("usage", usage, expected)
	}
	if !want.Usage.None() && !json.Valid([]byte(raw)) {
		d.add("raw usage", raw, "JSON")
	}
}

// silent returns the stop reason of an answer that ended properly without one of the usual reasons.
func silent(want *Expect) provider.StopReason {
	if deref(want.FinishRaw) == "pause_turn" {
		return provider.StopPaused
	}
	return provider.StopUnknown
}

var finishes = map[string]provider.StopReason{"stop": provider.StopDone, "length": provider.StopLength, "tool_calls": provider.StopToolCalls,
	"content_filter": provider.StopFiltered, "error": provider.StopError}

func (d *differences) isFinish(any []*string, o *Outcome) bool {
	for _, word := range any {
		if word != nil && finishes[*word] == o.Response.Stop {
			return true
		}
	}
	return false
}

func texts(words []*string) []string {
	var out []string
	for _, w := range words {
		out = append(out, deref(w))
	}
	return out
}

func orEmpty(input json.RawMessage) json.RawMessage {
	if len(input) == 0 {
		return json.RawMessage("{}")
	}
	return input
}

// sameText compares a free-form input, which an adapter returns as a JSON string or unchanged.
func sameText(g *provider.ToolCall, want json.RawMessage) bool {
	var text, got string
	if json.Unmarshal(want, &text) != nil {
		return false
	}
	if g.Invalid == text {
		return true
	}
	return json.Unmarshal(g.Input, &got) == nil && got == text
}

// sameJSON compares two texts as JSON.
func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
