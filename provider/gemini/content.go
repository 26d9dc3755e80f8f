package gemini

import (
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// An outPart is a part in a request.
type outPart struct {
	Text      *string         `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Call      *outCall        `json:"functionCall,omitempty"`
	Result    *functionResult `json:"functionResponse,omitempty"`
	Inline    *blob           `json:"inlineData,omitempty"`
	File      *fileData       `json:"fileData,omitempty"`
	Signature string          `json:"thoughtSignature,omitempty"`
}

type outCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResult struct {
	ID       string    `json:"id,omitempty"`
	Name     string    `json:"name"`
	Response response  `json:"response"`
	Parts    []outPart `json:"parts,omitempty"` // media
}

// A response is the result of a function. It is always text: the API stores numbers as floating
// point, which would change long ones in a JSON object.
type response struct {
	Output *string `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
}

// modelPart converts a part of the model.
func (c *conversation) modelPart(t *adapter.Turn, p *provider.Part) (any, error) {
	if own(p) == kindPart && json.Valid([]byte(p.Opaque.Data)) {
		return json.RawMessage(p.Opaque.Data), nil
	}
	var out outPart
	if own(p) == kindSignature {
		out.Signature = p.Opaque.Data
	}
	switch p.Kind {
	case provider.PartToolCall:
		args := json.RawMessage("{}") // also if the arguments weren't a JSON object: the result says what was wrong
		var object map[string]json.RawMessage
		if json.Unmarshal(p.Call.Input, &object) == nil && object != nil {
			args = p.Call.Input
		}
		out.Call = &outCall{c.id(t.Call(p)), c.names.Encode(p.Call.Name), args}
		return out, nil
	case provider.PartMedia:
		media, err := mediaPart(p.Media)
		media.Signature = out.Signature
		return media, err
	case provider.PartReasoning:
		out.Thought = true
	}
	text := p.Text
	out.Text = &text
	return out, nil
}

// id returns the id of a call in the request; the API accepts calls without one.
func (c *conversation) id(call *adapter.Call) string {
	if c.withoutIDs || call.Part.Call.ProviderID+call.Part.Call.ID == "" {
		return ""
	}
	return call.ID
}

// result converts the result of a call, and returns the media that has to follow it.
func (c *conversation) result(call *adapter.Call) (part outPart, behind []any, err error) {
	out := &functionResult{ID: c.id(call), Name: c.names.Encode(call.Part.Call.Name)}
	if call.Result == nil {
		text := "The call was not run, or its result is lost."
		out.Response.Error = &text
		return outPart{Result: out}, nil, nil
	}
	r := call.Result.Result
	text := r.Text()
	if r.Error {
		out.Response.Error = &text
	} else {
		out.Response.Output = &text
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Kind != provider.PartMedia || p.Media == nil {
			continue
		}
		media, err := mediaPart(p.Media)
		if err != nil {
			return part, nil, err
		}
		if c.traits.Has(levels) && media.Inline != nil {
			out.Parts = append(out.Parts, media)
			continue
		}
		if len(behind) == 0 {
			whose := "Result of " + out.Name + ":"
			behind = append(behind, outPart{Text: &whose})
		}
		behind = append(behind, media)
	}
	return outPart{Result: out}, behind, nil
}

// user adds a part of the user.
func (c *conversation) user(parts []any, p *provider.Part) ([]any, error) {
	switch p.Kind {
	case provider.PartMedia:
		media, err := mediaPart(p.Media)
		return append(parts, media), err
	case provider.PartText:
		return append(parts, outPart{Text: &p.Text}), nil
	}
	text := "Result of " + p.Result.Name + ": " + p.Result.Text() // a result without a call
	parts = append(parts, outPart{Text: &text})
	for i := range p.Result.Parts {
		if q := &p.Result.Parts[i]; q.Kind == provider.PartMedia && q.Media != nil {
			media, err := mediaPart(q.Media)
			if err != nil {
				return nil, err
			}
			parts = append(parts, media)
		}
	}
	return parts, nil
}

// filesURL is the prefix of the URLs of uploaded files.
const filesURL = ownURL + "/v1beta/"

// mediaPart converts media: by value, or by a URL that the API opens.
func mediaPart(m *provider.Media) (outPart, error) {
	switch {
	case m.FileID != "":
		uri := m.FileID
		if strings.HasPrefix(uri, "files/") {
			uri = filesURL + uri
		}
		return outPart{File: &fileData{m.Type, uri}}, nil
	case len(m.Data) > 0 && m.Type != "":
		return outPart{Inline: &blob{Type: m.Type, Data: m.Data}}, nil
	case m.URL != "":
		return outPart{File: &fileData{m.Type, m.URL}}, nil
	case len(m.Data) > 0:
		return outPart{}, fault.Errorf(fault.Permanent, "gemini: the media %q has no Type, such as image/png", m.Name)
	}
	return outPart{}, fault.Errorf(fault.Permanent, "gemini: the media %q has neither Data nor URL nor FileID", m.Name)
}
