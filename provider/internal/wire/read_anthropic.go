package wire

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
)

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Title     string          `json:"title"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
		URL       string `json:"url"`
		FileID    string `json:"file_id"`
	} `json:"source"`
}

func readAnthropic(body []byte) (*provider.Request, error) {
	var in struct {
		Model    string          `json:"model"`
		Max      int             `json:"max_tokens"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    provider.Role   `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	b := builder{req: &provider.Request{Model: in.Model, MaxOutput: in.Max}}
	system, err := anthropicParts(in.System)
	if err != nil {
		return nil, err
	}
	for _, block := range system {
		b.req.System = joinSystem(b.req.System, block.Text)
	}
	for _, m := range in.Messages {
		blocks, err := anthropicParts(m.Content)
		if err != nil {
			return nil, err
		}
		for i := range blocks {
			if err := b.anthropic(m.Role, &blocks[i]); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range in.Tools {
		if len(t.Schema) > 0 { // the provider's own tools have none
			b.req.Tools = append(b.req.Tools, provider.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
		}
	}
	return b.req, nil
}

func (b *builder) anthropic(role provider.Role, block *anthropicBlock) error {
	switch block.Type {
	case "text":
		b.add(role, provider.TextPart(block.Text))
	case "thinking":
		b.add(role, provider.Part{Kind: provider.PartReasoning, Text: block.Thinking})
	case "tool_use":
		b.call(block.ID, block.Name, block.Input)
	case "image", "document":
		b.add(role, provider.MediaPart(block.media()))
	case "tool_result":
		content, err := anthropicParts(block.Content)
		if err != nil {
			return err
		}
		r := provider.ToolResult{CallID: block.ToolUseID, Name: b.names[block.ToolUseID], Error: block.IsError}
		for i := range content {
			switch content[i].Type {
			case "text":
				r.Parts = append(r.Parts, provider.TextPart(content[i].Text))
			case "image", "document":
				r.Parts = append(r.Parts, provider.MediaPart(content[i].media()))
			}
		}
		b.add(provider.RoleTool, provider.ResultPart(r))
	}
	return nil
}

func (block *anthropicBlock) media() provider.Media {
	s := &block.Source
	kind := s.MediaType
	if kind == "" && block.Type == "document" {
		kind = "application/pdf"
	}
	if kind == "" {
		kind = "image/png"
	}
	return provider.Media{Type: kind, Name: block.Title, Data: s.Data, URL: s.URL, FileID: s.FileID}
}

// anthropicParts decodes content that is a text or a list of blocks.
func anthropicParts(content json.RawMessage) ([]anthropicBlock, error) {
	if len(content) == 0 || string(content) == "null" {
		return nil, nil
	}
	if content[0] == '"' {
		var text string
		err := json.Unmarshal(content, &text)
		return []anthropicBlock{{Type: "text", Text: text}}, err
	}
	// The data of a plain-text document isn't base64.
	var raw []json.RawMessage
	if err := json.Unmarshal(content, &raw); err != nil {
		return nil, err
	}
	blocks := make([]anthropicBlock, 0, len(raw))
	for _, one := range raw {
		var block anthropicBlock
		if err := json.Unmarshal(one, &block); err == nil {
			blocks = append(blocks, block)
		}
	}
	return blocks, nil
}
