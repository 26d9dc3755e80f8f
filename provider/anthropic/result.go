package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// isProviderCall reports whether blocks of this kind are calls that the provider runs:
// server_tool_use, mcp_tool_use.
func isProviderCall(kind string) bool {
	return kind != "tool_use" && strings.HasSuffix(kind, "_tool_use")
}

// isProviderResult reports whether blocks of this kind are results of such calls:
// web_search_tool_result, mcp_tool_result and the like.
func isProviderResult(kind string) bool {
	return strings.HasSuffix(kind, "_tool_result")
}

// providerCall yields a call that the provider runs, with the whole block, which is sent back.
func (d *decoder) providerCall(b *block) {
	input, raw := b.Input, b.raw
	call := provider.ToolCall{ID: b.ID, Name: b.Name}
	if b.deltas {
		input = json.RawMessage(adapter.Join(b.input.String()))
		if json.Valid(input) {
			raw = with(raw, map[string]json.RawMessage{"input": input})
		} else {
			call.Invalid, input = string(input), nil
			raw = with(raw, map[string]json.RawMessage{"input": json.RawMessage("{}")})
		}
	}
	if !adapter.IsNull(input) {
		call.Input = input
	}
	c := provider.ProviderCall(call)
	o := sealed(b.Type, string(raw))
	c.Extra.Part.Opaque = &o
	d.Put(c)
}

// providerResult yields the result of such a call as text, with the whole block, which is sent
// back.
func (d *decoder) providerResult(b *block) {
	r := provider.ToolResult{CallID: b.ToolUseID, Error: b.IsError,
		Name: cmp.Or(d.calls[b.ToolUseID], strings.TrimSuffix(b.Type, "_tool_result"))}
	text, files, failed := readable(b.Content)
	r.Error = r.Error || failed
	if text != "" {
		r.Parts = []provider.Part{provider.TextPart(text)}
	}
	c := provider.ProviderResult(r)
	if !b.unknown {
		o := sealed(b.Type, string(b.raw))
		c.Extra.Part.Opaque = &o
	}
	d.Put(c)
	for _, id := range files {
		d.Put(provider.File(provider.Media{FileID: id}))
	}
}

// An output is the content of a result, or one item of it, with the fields of all kinds.
type output struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Title     string          `json:"title"`
	URL       string          `json:"url"`
	Stdout    string          `json:"stdout"`
	Stderr    string          `json:"stderr"`
	ErrorCode string          `json:"error_code"`
	FileID    string          `json:"file_id"`
	Content   json.RawMessage `json:"content"`
}

// readable returns a result as text, the files that it made, and whether it is a failure. Items
// without text are returned as JSON.
func readable(content json.RawMessage) (text string, files []string, failed bool) {
	content = bytes.TrimSpace(content)
	if adapter.IsNull(content) {
		return "", nil, false
	}
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		return plain, nil, false
	}
	var items []output
	if json.Unmarshal(content, &items) == nil {
		lines := make([]string, 0, len(items))
		for _, item := range items {
			switch {
			case item.Text != "":
				lines = append(lines, item.Text)
			case item.URL != "":
				lines = append(lines, strings.TrimSpace(item.Title+" "+item.URL))
			}
			if item.FileID != "" {
				files = append(files, item.FileID)
			}
		}
		return strings.Join(lines, "\n"), files, false
	}
	var one output
	if json.Unmarshal(content, &one) != nil {
		return string(content), nil, false
	}
	switch {
	case one.ErrorCode != "":
		return one.ErrorCode, nil, true
	case strings.HasSuffix(one.Type, "code_execution_result"):
		_, files, _ = readable(one.Content)
		return one.Stdout + one.Stderr, files, false
	case one.URL != "":
		return one.URL, nil, false
	}
	return string(content), nil, false
}

// A citation is a source of a text, with the fields of all kinds.
type citation struct {
	Text     string  `json:"cited_text"`
	URL      string  `json:"url"`
	Title    string  `json:"title"`
	Document string  `json:"document_title"`
	Source   string  `json:"source"` // of a search result: what the host calls it
	FileID   *string `json:"file_id"`
}

func source(raw json.RawMessage) (provider.Source, bool) {
	var c citation
	if json.Unmarshal(raw, &c) != nil {
		return provider.Source{}, false
	}
	s := provider.Source{URL: cmp.Or(c.URL, c.Source), Title: cmp.Or(c.Title, c.Document), Text: c.Text}
	if c.FileID != nil {
		s.ID = *c.FileID
	}
	return s, true
}
