package wire

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
)

type chatPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
	Audio struct {
		Data   []byte `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
	File struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
		ID   string `json:"file_id"`
	} `json:"file"`
}

type chatMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	CallID    string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func readChat(body []byte) (*provider.Request, error) {
	var in struct {
		Model    string        `json:"model"`
		Max      int           `json:"max_tokens"`
		MaxNew   int           `json:"max_completion_tokens"`
		Messages []chatMessage `json:"messages"`
		Tools    []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	b := builder{req: &provider.Request{Model: in.Model, MaxOutput: max(in.Max, in.MaxNew)}}
	for i := range in.Messages {
		if err := b.chat(&in.Messages[i]); err != nil {
			return nil, err
		}
	}
	for _, t := range in.Tools {
		if f := t.Function; f.Name != "" {
			b.req.Tools = append(b.req.Tools, provider.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
		}
	}
	return b.req, nil
}

func (b *builder) chat(m *chatMessage) error {
	parts, err := chatParts(m.Content)
	if err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer":
		for _, p := range parts {
			b.req.System = joinSystem(b.req.System, p.Text)
		}
	case "tool":
		b.add(provider.RoleTool, provider.ResultPart(provider.ToolResult{CallID: m.CallID, Name: b.names[m.CallID], Parts: parts}))
	case "assistant":
		if m.Reasoning != "" {
			b.add(provider.RoleAssistant, provider.Part{Kind: provider.PartReasoning, Text: m.Reasoning})
		}
		for _, p := range parts {
			if p.Text != "" {
				b.add(provider.RoleAssistant, p)
			}
		}
		for _, c := range m.Calls {
			b.call(c.ID, c.Function.Name, json.RawMessage(c.Function.Arguments))
		}
	default:
		b.next()
		for _, p := range parts {
			b.add(provider.RoleUser, p)
		}
	}
	return nil
}

func chatParts(content json.RawMessage) ([]provider.Part, error) {
	return textOrParts(content, func(p *chatPart) (provider.Part, bool) {
		switch p.Type {
		case "text":
			return provider.TextPart(p.Text), true
		case "image_url":
			return provider.MediaPart(mediaAt(p.ImageURL.URL, "image/png", "")), true
		case "input_audio":
			return provider.MediaPart(provider.Media{Type: "audio/" + p.Audio.Format, Data: p.Audio.Data}), true
		case "file":
			m := mediaAt(p.File.Data, "application/pdf", p.File.Name)
			m.FileID = p.File.ID
			return provider.MediaPart(m), true
		}
		return provider.Part{}, false
	})
}

// textOrParts decodes content that is a text or a list of parts, and ignores parts of an unknown kind.
func textOrParts[P any](content json.RawMessage, read func(*P) (provider.Part, bool)) ([]provider.Part, error) {
	if len(content) == 0 || string(content) == "null" {
		return nil, nil
	}
	if content[0] == '"' {
		var text string
		err := json.Unmarshal(content, &text)
		return []provider.Part{provider.TextPart(text)}, err
	}
	var in []P
	if err := json.Unmarshal(content, &in); err != nil {
		return nil, err
	}
	var out []provider.Part
	for i := range in {
		if p, ok := read(&in[i]); ok {
			out = append(out, p)
		}
	}
	return out, nil
}
