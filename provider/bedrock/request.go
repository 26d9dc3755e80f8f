package bedrock

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// address returns the escaped path of a request. Colons are escaped, too, as Amazon's own clients
// do: the signature covers the path as it is sent.
func address(model, action string) string {
	return "model/" + strings.ReplaceAll(url.PathEscape(model), ":", "%3A") + "/" + action
}

// betasOf removes the header for beta features, which Bedrock has in the body, and returns its
// values.
func betasOf(header http.Header) (betas []string) {
	for _, value := range header.Values("Anthropic-Beta") {
		for _, beta := range strings.Split(value, ",") {
			betas = append(betas, strings.TrimSpace(beta))
		}
	}
	header.Del("Anthropic-Beta")
	return betas
}

// invocation returns a function that converts a request of the package anthropic for
// InvokeModelWithResponseStream: the address has the model, and the body the version of the API.
func invocation(betas []string) func(model, path string, body []byte) (string, []byte, error) {
	return func(model, _ string, body []byte) (string, []byte, error) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			return "", nil, fault.Errorf(fault.Permanent, "bedrock: the request can't be decoded: %w", err)
		}
		delete(fields, "model")
		delete(fields, "stream")
		if fields["anthropic_version"] == nil {
			fields["anthropic_version"] = json.RawMessage(`"bedrock-2023-05-31"`)
		}
		if len(betas) > 0 && fields["anthropic_beta"] == nil {
			fields["anthropic_beta"], _ = json.Marshal(betas) // strings
		}
		body, err := adapter.Encode(fields)
		return address(model, "invoke-with-response-stream"), body, err
	}
}

// A content is a block of a request of the package anthropic.
type content struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   []content       `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
}

// A request is a request of the package anthropic, as far as [Model.plain] uses it.
type request struct {
	MaxTokens int       `json:"max_tokens"`
	System    []content `json:"system"`
	Messages  []struct {
		Role    string    `json:"role"`
		Content []content `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`

		Options map[string]json.RawMessage `json:"bedrock"` // optionsKey
	} `json:"tools"`
	Choice *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	Temperature *float64                   `json:"temperature"`
	TopP        *float64                   `json:"top_p"`
	Stop        []string                   `json:"stop_sequences"`
	Options     map[string]json.RawMessage `json:"bedrock"` // optionsKey
}

// object is a JSON object that is made here.
type object = map[string]any

// conversation converts a request of the package anthropic for ConverseStream.
func conversation(model, _ string, body []byte) (string, []byte, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return "", nil, fault.Errorf(fault.Permanent, "bedrock: the request can't be decoded: %w", err)
	}
	out := object{}
	if len(r.System) > 0 {
		out["system"] = []object{{"text": r.System[0].Text}}
	}
	documents := 0
	var messages []object
	for _, m := range r.Messages {
		blocks, err := converseBlocks(m.Content, &documents)
		if err != nil {
			return "", nil, err
		}
		messages = append(messages, object{"role": m.Role, "content": blocks})
	}
	out["messages"] = messages
	if config := r.inference(); len(config) > 0 {
		out["inferenceConfig"] = config
	}
	tools, err := r.tools()
	if err != nil {
		return "", nil, err
	}
	if tools != nil {
		out["toolConfig"] = tools
	}
	text, err := adapter.Encode(out)
	if err == nil && len(r.Options) > 0 {
		var fields map[string]json.RawMessage
		if err = json.Unmarshal(text, &fields); err == nil {
			adapter.Merge(fields, r.Options)
			text, err = adapter.Encode(fields)
		}
	}
	return address(model, "converse-stream"), text, err
}

// inference returns the sampling and the limit of the answer.
func (r *request) inference() object {
	config := object{}
	if r.MaxTokens != noMaximum {
		config["maxTokens"] = r.MaxTokens
	}
	if r.Temperature != nil {
		config["temperature"] = *r.Temperature
	}
	if r.TopP != nil {
		config["topP"] = *r.TopP
	}
	if len(r.Stop) > 0 {
		config["stopSequences"] = r.Stop
	}
	return config
}

// tools returns the tools and the choice between them, nil if there are none.
func (r *request) tools() (object, error) {
	if len(r.Tools) == 0 {
		return nil, nil
	}
	var specs []object
	for _, t := range r.Tools {
		spec := object{"name": t.Name, "inputSchema": object{"json": t.Schema}}
		if t.Description != "" {
			spec["description"] = t.Description
		}
		merged, err := adapter.WithOptions(spec, t.Options)
		if err != nil {
			return nil, err
		}
		specs = append(specs, object{"toolSpec": merged})
	}
	config := object{"tools": specs}
	if r.Choice != nil {
		switch r.Choice.Type {
		case "any":
			config["toolChoice"] = object{"any": object{}}
		case "tool":
			config["toolChoice"] = object{"tool": object{"name": r.Choice.Name}}
		}
	}
	return config, nil
}

// converseBlocks converts the blocks of a message or of a result. documents is how many the request
// has so far.
func converseBlocks(in []content, documents *int) ([]object, error) {
	out := []object{}
	before, text := *documents, false
	for i := range in {
		b := &in[i]
		text = text || b.Type == "text"
		made, err := converseBlock(b, documents)
		if err != nil {
			return nil, err
		}
		if made != nil {
			out = append(out, made)
		}
	}
	if *documents > before && !text { // the API requires a text beside a document
		out = append(out, object{"text": "(See the document.)"})
	}
	return out, nil
}

// converseBlock converts a block, nil for a kind that Converse doesn't have.
func converseBlock(b *content, documents *int) (object, error) {
	switch b.Type {
	case "text":
		return object{"text": b.Text}, nil
	case "thinking":
		return object{
			"reasoningContent": object{"reasoningText": object{"text": b.Thinking, "signature": b.Signature}}}, nil
	case "redacted_thinking":
		return object{"reasoningContent": object{"redactedContent": b.Data}}, nil
	case "tool_use":
		return object{"toolUse": object{"toolUseId": b.ID, "name": b.Name, "input": b.Input}}, nil
	case "tool_result":
		inner, err := converseBlocks(b.Content, documents)
		if err != nil {
			return nil, err
		}
		if len(inner) == 0 {
			inner = []object{{"text": "(empty)"}}
		}
		result := object{"toolUseId": b.ToolUseID, "content": inner}
		if b.IsError {
			result["status"] = "error"
		}
		return object{"toolResult": result}, nil
	case "image", "document":
		return converseMedia(b, documents)
	}
	return nil, nil
}

// converseMedia converts an image or a document. A document gets a neutral name, because a model
// reads it as text.
func converseMedia(b *content, documents *int) (object, error) {
	data := b.Source.Data
	format := b.Source.MediaType[strings.LastIndexByte(b.Source.MediaType, '/')+1:]
	switch b.Source.Type {
	case "base64":
	case "text":
		data, format = base64.StdEncoding.EncodeToString([]byte(data)), "txt"
	default:
		return nil, fault.New(fault.Permanent, "bedrock: media by URL or file id can't be sent; set Media.Data")
	}
	media := object{"format": format, "source": object{"bytes": data}}
	if b.Type == "document" {
		*documents++
		media["name"] = "document-" + strconv.Itoa(*documents)
	}
	return object{b.Type: media}, nil
}
