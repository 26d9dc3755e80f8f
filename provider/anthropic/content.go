package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A content is a block in a request, with the fields of all kinds.
type content struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Signature    string          `json:"signature,omitempty"`
	Data         string          `json:"data,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      []*content      `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	Title        string          `json:"title,omitempty"`
	Source       *mediaSource    `json:"source,omitempty"`
	Citations    json.RawMessage `json:"citations,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`

	fields map[string]json.RawMessage // others, as they came
}

// MarshalJSON encodes the block with its other fields.
func (c *content) MarshalJSON() ([]byte, error) {
	type plain content // without this method
	return with(adapter.JSON((*plain)(c)), c.fields), nil
}

type mediaSource struct {
	Type      string `json:"type"` // base64, text, url, file
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
	FileID    string `json:"file_id,omitempty"`
}

func textBlock(s string) *content { return &content{Type: "text", Text: s} }

// model converts a turn of the model.
func (c *conversation) model(t *adapter.Turn) []any {
	blocks := make([]any, 0, len(t.Parts))
	for _, p := range t.Parts {
		var b any
		switch p.Kind {
		case provider.PartReasoning:
			b = &content{Type: "thinking", Thinking: &p.Text, Signature: p.Opaque.Data}
		case provider.PartToolCall:
			b = c.toolUse(t.Call(p))
		case provider.PartProviderCall, provider.PartProviderResult, provider.PartOpaque:
			b = verbatim(p)
		default:
			text := textBlock(p.Text)
			if own(p) == kindCitations && json.Valid([]byte(p.Opaque.Data)) {
				text.Citations = json.RawMessage(p.Opaque.Data)
			}
			b = text
		}
		blocks = append(blocks, b)
		if c.cached[p] {
			c.markLast(blocks)
		}
	}
	return blocks
}

// verbatim returns opaque data as the block that it contains.
func verbatim(p *provider.Part) any {
	if own(p) == kindRedacted {
		return &content{Type: kindRedacted, Data: p.Opaque.Data}
	}
	return json.RawMessage(p.Opaque.Data)
}

func (c *conversation) toolUse(call *adapter.Call) *content {
	p := call.Part
	name := c.names.Encode(p.Call.Name)
	b := &content{Type: "tool_use", ID: call.ID, Name: name, Input: input(p.Call), fields: fieldsOf(p)}
	if !slices.Contains(c.called, name) {
		c.called = append(c.called, name)
	}
	return b
}

// input returns the arguments of a call as a JSON object, which the API requires. Another value is
// wrapped in one.
func input(t *provider.ToolCall) json.RawMessage {
	raw, broken := t.Input, t.Invalid
	if broken == "" && len(raw) > 0 && !isObject(raw) {
		broken = string(raw)
	}
	if broken == "" {
		if len(raw) == 0 {
			return json.RawMessage(`{}`)
		}
		return raw
	}
	return adapter.JSON(map[string]string{"INVALID_JSON": broken})
}

func isObject(raw json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimSpace(string(raw)), "{") && json.Valid(raw)
}

// user converts a turn of the user: first the results of the calls of the model's turn before, in
// their order, then the rest.
func (c *conversation) user(calls []adapter.Call, rest []*provider.Part) ([]any, error) {
	blocks := make([]any, 0, len(calls)+len(rest))
	for _, call := range calls {
		b := &content{Type: "tool_result", ToolUseID: call.ID, IsError: true}
		blocks = append(blocks, b)
		if call.Result == nil {
			b.Content = []*content{textBlock("There is no result: the call wasn't run.")}
			continue
		}
		var err error
		if b.Content, err = resultContent(call.Result.Result); err != nil {
			return nil, err
		}
		b.IsError = call.Result.Result.Error
		if c.cached[call.Result] {
			c.markLast(blocks)
		}
	}
	for _, p := range rest {
		more, err := userBlocks(p)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, more...)
		if c.cached[p] {
			c.markLast(blocks)
		}
	}
	return blocks, nil
}

// userBlocks converts a part of the user. A result without a call becomes text, followed by its
// media.
func userBlocks(p *provider.Part) ([]any, error) {
	switch p.Kind {
	case provider.PartMedia:
		b, err := media(p.Media)
		return []any{b}, err
	case provider.PartOpaque:
		return []any{verbatim(p)}, nil
	case provider.PartToolResult:
		inner, err := resultContent(p.Result)
		if err != nil {
			return nil, err
		}
		blocks := []any{textBlock("An earlier call of the tool " + p.Result.Name + " returned:")}
		for _, b := range inner {
			blocks = append(blocks, b)
		}
		return blocks, nil
	}
	return []any{textBlock(p.Text)}, nil
}

func resultContent(r *provider.ToolResult) ([]*content, error) {
	var blocks []*content
	for i := range r.Parts {
		switch p := &r.Parts[i]; {
		case p.Kind == provider.PartText && !blank(p.Text):
			blocks = append(blocks, textBlock(p.Text))
		case p.Kind == provider.PartMedia && p.Media != nil:
			b, err := media(p.Media)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, b)
		}
	}
	return blocks, nil
}

// media converts an image or a document.
func media(m *provider.Media) (*content, error) {
	kind := mediaType(m)
	b := &content{Type: "document", Title: m.Name}
	if strings.HasPrefix(kind, "image/") {
		b.Type, b.Title = "image", ""
	}
	refused := strings.HasPrefix(kind, "audio/") || strings.HasPrefix(kind, "video/")
	switch {
	case refused:
		return nil,
			fault.Errorf(fault.Permanent, "anthropic: media of type %q can't be sent, only images and documents", kind)
	case m.FileID != "":
		b.Source = &mediaSource{Type: "file", FileID: m.FileID}
	case len(m.Data) == 0 && m.URL != "":
		b.Source = &mediaSource{Type: "url", URL: m.URL}
	case len(m.Data) == 0:
		return nil,
			fault.Errorf(fault.Permanent, "anthropic: media of type %q has no data, no URL and no file id", kind)
	case b.Type == "document" && kind != "application/pdf":
		if !strings.HasPrefix(kind, "text/") && kind != "application/json" {
			return nil,
				fault.Errorf(fault.Permanent, "anthropic: a document of type %q can't be sent, only PDF and text", kind)
		}
		b.Source = &mediaSource{Type: "text", MediaType: "text/plain",
			Data: strings.ToValidUTF8(string(m.Data), "\uFFFD")}
	default:
		b.Source = &mediaSource{Type: "base64", MediaType: kind, Data: base64.StdEncoding.EncodeToString(m.Data)}
	}
	return b, nil
}

// mediaType returns the MIME type without its parameters. Without a type, it is derived from the
// data or the URL.
func mediaType(m *provider.Media) string {
	kind := m.Type
	if kind == "" && len(m.Data) > 0 {
		kind = http.DetectContentType(m.Data)
	}
	if kind == "" && m.URL != "" {
		u, err := url.Parse(m.URL)
		if err == nil && strings.EqualFold(path.Ext(u.Path), ".pdf") {
			return "application/pdf"
		}
		return "image/" // the API detects the format
	}
	kind, _, _ = strings.Cut(kind, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
