package wire

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
)

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
	FileID   string `json:"file_id"`
	FileData string `json:"file_data"`
	FileURL  string `json:"file_url"`
	Filename string `json:"filename"`
}

func readResponses(body []byte) (*provider.Request, error) {
	var in struct {
		Model        string          `json:"model"`
		Max          int             `json:"max_output_tokens"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	b := builder{req: &provider.Request{Model: in.Model, MaxOutput: in.Max, System: in.Instructions}}
	if err := b.responsesInput(in.Input); err != nil {
		return nil, err
	}
	for _, t := range in.Tools {
		if t.Type == "function" {
			b.req.Tools = append(b.req.Tools, provider.Tool{Name: t.Name, Description: t.Description, Schema: t.Parameters})
		}
	}
	return b.req, nil
}

func (b *builder) responsesInput(input json.RawMessage) error {
	if len(input) > 0 && input[0] == '"' {
		var text string
		err := json.Unmarshal(input, &text)
		b.add(provider.RoleUser, provider.TextPart(text))
		return err
	}
	var items []responsesItem
	if err := json.Unmarshal(input, &items); err != nil {
		return err
	}
	for i := range items {
		if err := b.responses(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) responses(item *responsesItem) error {
	switch item.Type {
	case "function_call":
		b.call(item.CallID, item.Name, json.RawMessage(item.Arguments))
	case "function_call_output":
		parts, err := responsesParts(item.Output)
		if err != nil {
			return err
		}
		b.add(provider.RoleTool, provider.ResultPart(provider.ToolResult{CallID: item.CallID, Name: b.names[item.CallID], Parts: parts}))
	case "reasoning":
		for _, s := range item.Summary {
			b.add(provider.RoleAssistant, provider.Part{Kind: provider.PartReasoning, Text: s.Text})
		}
	case "", "message":
		parts, err := responsesParts(item.Content)
		if err != nil {
			return err
		}
		role := provider.Role(item.Role)
		if role == provider.RoleUser {
			b.next()
		}
		for _, p := range parts {
			if item.Role == "system" || item.Role == "developer" {
				b.req.System = joinSystem(b.req.System, p.Text)
				continue
			}
			b.add(role, p)
		}
	}
	return nil
}

func responsesParts(content json.RawMessage) ([]provider.Part, error) {
	return textOrParts(content, func(p *responsesPart) (provider.Part, bool) {
		switch p.Type {
		case "input_text", "output_text", "text":
			return provider.TextPart(p.Text), true
		case "input_image":
			m := mediaAt(p.ImageURL, "image/png", "")
			m.FileID = p.FileID
			return provider.MediaPart(m), true
		case "input_file":
			m := mediaAt(p.FileData+p.FileURL, "application/pdf", p.Filename)
			m.FileID = p.FileID
			return provider.MediaPart(m), true
		}
		return provider.Part{}, false
	})
}
