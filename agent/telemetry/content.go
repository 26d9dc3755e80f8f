package telemetry

import (
	"encoding/json"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
)

// maxContent is the most bytes of an attribute with content.
const maxContent = 16 << 10

// A message is a message in the form of the conventions.
type message struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Type      string          `json:"type"`
	Content   string          `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  string          `json:"response,omitempty"`
	MIME      string          `json:"mime_type,omitempty"`
}

// exchange sets what a model was told and what it replied, if the configuration wants that.
func (t *Telemetry) exchange(span trace.Span, system string, messages []provider.Message, answer []provider.Part) {
	if t.cfg.Content == NoContent || !span.IsRecording() {
		return
	}
	in := make([]message, len(messages))
	for i := range messages {
		in[i] = t.message(&messages[i])
	}
	out := t.message(&provider.Message{Role: provider.RoleAssistant, Parts: answer})
	span.SetAttributes(attribute.String(attrInputMessages, encoded(in)),
		attribute.String(attrOutputMessages, encoded([]message{out})))
	if system != "" {
		span.SetAttributes(attribute.String(attrInstructions, clip(t.text(system), maxContent)))
	}
}

// call sets the input and the result of a tool call, if the configuration wants that.
func (t *Telemetry) call(span trace.Span, input, result string) {
	if t.cfg.Content == NoContent || !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String(attrArguments, clip(t.text(input), maxContent)),
		attribute.String(attrResult, clip(t.text(result), maxContent)))
}

// text returns a text as spans may contain it.
func (t *Telemetry) text(s string) string {
	if t.cfg.Content == Redacted {
		return t.cfg.Redact(s)
	}
	return s
}

func (t *Telemetry) message(m *provider.Message) message {
	out := message{Role: string(m.Role), Parts: []part{}}
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Call != nil:
			args := json.RawMessage(t.text(string(p.Call.Input)))
			if !json.Valid(args) {
				args = nil
			}
			out.Parts = append(out.Parts, part{Type: "tool_call", ID: p.Call.ID, Name: p.Call.Name, Arguments: args})
		case p.Result != nil:
			out.Parts = append(out.Parts, part{Type: "tool_call_response", ID: p.Result.CallID, Name: p.Result.Name,
				Response: t.text(p.Result.Text())})
		case p.Media != nil:
			out.Parts = append(out.Parts, part{Type: "file", MIME: p.Media.Type, Name: t.text(p.Media.Name)})
		case p.Kind == provider.PartReasoning:
			out.Parts = append(out.Parts, part{Type: "reasoning", Content: t.text(p.Text)})
		case p.Text != "":
			out.Parts = append(out.Parts, part{Type: "text", Content: t.text(p.Text)})
		}
	}
	return out
}

// encoded returns messages as JSON of at most maxContent bytes: the oldest ones are left out, and
// the texts of the newest are cut.
func encoded(messages []message) string {
	for {
		raw, err := json.Marshal(messages)
		switch {
		case err != nil:
			return ""
		case len(raw) <= maxContent:
			return string(raw)
		case len(messages) > 1:
			messages = messages[(len(messages)+1)/2:]
		default:
			return clip(string(raw), maxContent)
		}
	}
}

// clip returns at most n bytes of a text, as valid UTF-8.
func clip(s string, n int) string {
	return cut.Start(strings.ToValidUTF8(s, "\uFFFD"), n)
}
