package providertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
)

// Unfit is the step whose calls needn't fit the request: they may name tools that it doesn't offer,
// and have inputs that the schema rejects, or that aren't JSON. Without it a [Script] fails at such
// a call. Within a [Reply] it is for the calls of s alone.
func Unfit(s Step) Step {
	s.unfit = nil
	for i := range s.content {
		if s.content[i].Kind == provider.KindToolStart {
			s.unfit = append(s.unfit, i)
		}
	}
	return s
}

// A scriptedCall is a call of a step that should fit its request.
type scriptedCall struct {
	tool  string
	input json.RawMessage
	whole bool // its end is scripted, too
}

// callsToFit returns the calls of a step that aren't meant to be unfit.
func (s *Step) callsToFit() (calls []scriptedCall) {
	open := make(map[int32]int) // calls that have begun and not ended, by their Index
	for i := range s.content {
		c := &s.content[i]
		at, known := open[c.Index]
		switch {
		case c.Kind == provider.KindToolStart && !slices.Contains(s.unfit, i):
			open[c.Index] = len(calls)
			calls = append(calls, scriptedCall{tool: c.Name})
		case c.Kind == provider.KindToolStart:
			delete(open, c.Index)
		case c.Kind == provider.KindToolDelta && known:
			calls[at].input = append(calls[at].input, c.Text...)
		case c.Kind == provider.KindToolEnd && known:
			calls[at].whole = true
			delete(open, c.Index)
		}
	}
	return calls
}

// misfit returns what is wrong with a call for a request; "" if nothing is.
func (m *Model) misfit(c *scriptedCall, req *provider.Request) string {
	i := slices.IndexFunc(req.Tools, func(t provider.Tool) bool { return t.Name == c.tool })
	if i < 0 {
		names := toolNames(req)
		why := fmt.Sprintf("calls %q, which the request doesn't offer; its tools are %s", c.tool, list(names))
		if len(names) == 0 {
			why = fmt.Sprintf("calls %q, and the request offers no tools", c.tool)
		}
		if near, ok := schema.Nearest(c.tool, names); ok {
			why += fmt.Sprintf("; did you mean %q?", near)
		}
		return why
	}
	if !c.whole {
		return ""
	}
	if len(c.input) > 0 && !json.Valid(c.input) {
		return fmt.Sprintf("calls %q with arguments that aren't JSON: %s", c.tool, quote(string(c.input)))
	}
	s := m.schema(req.Tools[i].Schema)
	if s == nil {
		return ""
	}
	if _, err := s.Accept(c.input); err != nil {
		return fmt.Sprintf("calls %q with an input that doesn't fit its schema: %s; the input: %s", c.tool,
			strings.TrimPrefix(err.Error(), "invalid value: "), shorten(string(c.input), 160))
	}
	return ""
}

// schema returns the compiled schema of a tool, or nil if it has none that can be applied: that
// isn't a mistake of the script. m.mu is held.
func (m *Model) schema(of json.RawMessage) *schema.Schema {
	s, known := m.schemas[string(of)]
	if !known {
		if len(of) > 0 {
			s, _ = schema.Parse(of)
		}
		if m.schemas == nil {
			m.schemas = make(map[string]*schema.Schema)
		}
		m.schemas[string(of)] = s
	}
	return s
}

// fits returns an error if a call of step n of the script, counted from 1, doesn't fit the request.
// m.mu is held.
func (m *Model) fits(n int, req *provider.Request) error {
	for i := range m.plays[n-1].calls {
		if why := m.misfit(&m.plays[n-1].calls[i], req); why != "" {
			return &provider.Error{Class: fault.Permanent, Provider: name,
				Message: fmt.Sprintf("step %d of the script %s (write Unfit(step) if that is meant)", n, why)}
		}
	}
	return nil
}
