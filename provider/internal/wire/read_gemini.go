package wire

import (
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Result *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	Inline *struct {
		MIME string `json:"mimeType"`
		Data string `json:"data"`
	} `json:"inlineData"`
	File *struct {
		MIME string `json:"mimeType"`
		URI  string `json:"fileUri"`
	} `json:"fileData"`
}

func readGemini(body []byte) (*provider.Request, error) {
	camel, err := camelCase(body)
	if err != nil {
		return nil, err
	}
	var in struct {
		System   *geminiContent  `json:"systemInstruction"`
		Contents []geminiContent `json:"contents"`
		Config   struct {
			Max int `json:"maxOutputTokens"`
		} `json:"generationConfig"`
		Tools []struct {
			Functions []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
				Schema      json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(camel, &in); err != nil {
		return nil, err
	}
	b := builder{req: &provider.Request{MaxOutput: in.Config.Max}}
	if in.System != nil {
		for _, p := range in.System.Parts {
			b.req.System = joinSystem(b.req.System, p.Text)
		}
	}
	for _, c := range in.Contents {
		for i := range c.Parts {
			b.gemini(c.Role, &c.Parts[i])
		}
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			schema := f.Schema
			if len(schema) == 0 {
				schema = f.Parameters
			}
			b.req.Tools = append(b.req.Tools, provider.Tool{Name: f.Name, Description: f.Description, Schema: lowerTypes(schema)})
		}
	}
	return b.req, nil
}

func (b *builder) gemini(word string, p *geminiPart) {
	role := provider.RoleUser
	if word == "model" {
		role = provider.RoleAssistant
	}
	switch {
	case p.Call != nil:
		b.call(p.Call.ID, p.Call.Name, p.Call.Args)
	case p.Result != nil:
		b.add(provider.RoleTool, provider.ResultPart(provider.ToolResult{CallID: p.Result.ID, Name: p.Result.Name,
			Parts: []provider.Part{provider.TextPart(unwrapped(p.Result.Response))}}))
	case p.Inline != nil:
		b.add(role, provider.MediaPart(mediaAt("data:"+p.Inline.MIME+";base64,"+p.Inline.Data, p.Inline.MIME, "")))
	case p.File != nil:
		b.add(role, provider.MediaPart(provider.Media{Type: p.File.MIME, URL: p.File.URI}))
	case p.Thought:
		b.add(role, provider.Part{Kind: provider.PartReasoning, Text: p.Text})
	case p.Text != "":
		b.add(role, provider.TextPart(p.Text))
	}
}

// unwrapped returns the result of a function: the value of the single key in which a client has wrapped it, else all of it.
func unwrapped(response json.RawMessage) string {
	var one map[string]json.RawMessage
	if json.Unmarshal(response, &one) == nil && len(one) == 1 {
		for _, v := range one {
			var text string
			if json.Unmarshal(v, &text) == nil {
				return text
			}
			return string(v)
		}
	}
	return string(response)
}

// camelCase converts keys such as function_call to functionCall: the API accepts both. Arguments, results and schemas keep theirs.
func camelCase(body []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, err
	}
	return json.Marshal(camel(v))
}

func camel(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = camel(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			words := strings.Split(key, "_")
			for i := 1; i < len(words); i++ {
				if w := words[i]; w != "" {
					words[i] = strings.ToUpper(w[:1]) + w[1:]
				}
			}
			name := strings.Join(words, "")
			switch name {
			case "args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema":
			default:
				value = camel(value)
			}
			out[name] = value
		}
		return out
	}
	return v
}

// lowerTypes converts the types of a schema, such as STRING, to those of JSON Schema.
func lowerTypes(schema json.RawMessage) json.RawMessage {
	var v any
	if len(schema) == 0 || json.Unmarshal(schema, &v) != nil {
		return schema
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for i := range v {
				walk(v[i])
			}
		case map[string]any:
			if t, ok := v["type"].(string); ok {
				v["type"] = strings.ToLower(t)
			}
			for _, value := range v {
				walk(value)
			}
		}
	}
	walk(v)
	out, err := json.Marshal(v)
	if err != nil {
		return schema
	}
	return out
}
