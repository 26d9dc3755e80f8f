package features

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
)

// what makes a request say something by its fields
type ask = func(*provider.Request)

func sampling(s provider.Sampling) ask {
	return func(req *provider.Request) { req.Sampling = &s }
}

func reasoning(o provider.ReasoningOptions) ask {
	return func(req *provider.Request) { req.Reasoning = &o }
}

func media(kind string) ask {
	return func(req *provider.Request) {
		req.Messages = []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("Look."),
			provider.MediaPart(provider.Media{Type: kind, Data: []byte("data")})}}}
	}
}

func withTool(req *provider.Request) { req.Tools = []provider.Tool{find} }

func choosing(c provider.ToolChoice) ask {
	return func(req *provider.Request) { req.ToolChoice = c }
}

// called is a conversation with a call, so that every API sends the tools.
func called(req *provider.Request) {
	req.Messages = append(req.Messages,
		provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartToolCall,
			Call: &provider.ToolCall{ID: "c", Name: "find", Input: json.RawMessage(`{"q":"x"}`)}}}},
		provider.Message{Role: provider.RoleTool, Parts: []provider.Part{provider.ResultPart(
			provider.ToolResult{CallID: "c", Name: "find", Parts: []provider.Part{provider.TextPart("found")}})}})
}

func marked(req *provider.Request) {
	part := provider.TextPart("Hello.")
	part.Cache = true
	req.Messages = []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{part}}}
}

func cached(req *provider.Request) { req.Cache, req.Labels.Session = true, "s" }

func output(req *provider.Request) {
	req.Output = &provider.OutputFormat{Name: "page", Schema: find.Schema}
}
