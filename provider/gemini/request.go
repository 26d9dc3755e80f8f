package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A prepared is an encoded request, and what is needed to decode its answer.
type prepared struct {
	model string
	names *adapter.Names
	body  json.RawMessage
}

// A body is the body of a request. The order of its fields, and of everything in them, is fixed.
type body struct {
	System     *content    `json:"systemInstruction,omitempty"`
	Contents   []content   `json:"contents"`
	Tools      []tools     `json:"tools,omitempty"`
	ToolConfig *toolConfig `json:"toolConfig,omitempty"`
	Config     *generation `json:"generationConfig,omitempty"`
	Token      string      `json:"continuationToken,omitempty"`
}

type tools struct {
	Functions []any `json:"functionDeclarations"` // function, perhaps with options
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type toolConfig struct {
	Calling calling `json:"functionCallingConfig"`
}

type calling struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames,omitempty"`
}

type generation struct {
	Temperature      *float64        `json:"temperature,omitempty"`
	TopP             *float64        `json:"topP,omitempty"`
	TopK             *int            `json:"topK,omitempty"`
	Seed             *int32          `json:"seed,omitempty"`
	PresencePenalty  *float64        `json:"presencePenalty,omitempty"`
	FrequencyPenalty *float64        `json:"frequencyPenalty,omitempty"`
	MaxOutput        int             `json:"maxOutputTokens,omitempty"`
	Stop             []string        `json:"stopSequences,omitempty"`
	Type             string          `json:"responseMimeType,omitempty"`
	Schema           json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking         *thinking       `json:"thinkingConfig,omitempty"`
	Modalities       []string        `json:"responseModalities,omitempty"`
	Image            *imageConfig    `json:"imageConfig,omitempty"`
}

type imageConfig struct {
	AspectRatio string `json:"aspectRatio"`
}

// defaultImages is the model for requests with Images that name none, unless Config.Model makes
// images.
const defaultImages = "gemini-2.5-flash-image"

// checkImages returns what is wrong with a request for images.
func checkImages(req *provider.Request, model string, t trait) error {
	if req.Images == nil {
		return nil
	}
	n, err := req.Images.Number()
	switch {
	case err != nil:
		return err
	case !t.Has(images) && !strings.Contains(model, "image"):
		return fault.NewFixable("gemini: "+model+" makes no images",
			"set the request's Model to one that does, such as "+defaultImages, provider.ErrNoImages)
	case n > 1:
		return fault.Errorf(fault.Invalid,
			"gemini: Images.Count is %d, and a request makes one image; send one request for each", n)
	case req.Images.Quality != "":
		return fault.Errorf(fault.Invalid,
			"gemini: Images.Quality is %q, and this API has no qualities; leave it empty", req.Images.Quality)
	}
	return nil
}

// prepare makes the body of a call.
func (m *Model) prepare(req *provider.Request) (*prepared, error) {
	p := &prepared{model: req.Model, names: adapter.NewNames(req.Tools)}
	if p.model == "" {
		if p.model = m.id; req.Images != nil && !traitsOf(m.id).Has(images) {
			p.model = defaultImages
		}
	}
	t := traitsOf(p.model)
	if err := checkImages(req, p.model, t); err != nil {
		return nil, err
	}
	b := &body{}
	if err := b.addTools(req, p.names); err != nil {
		return nil, err
	}
	c := &conversation{names: p.names, traits: t, withoutIDs: m.withoutIDs}
	var err error
	if b.Contents, err = c.convert(req.Messages); err != nil {
		return nil, err
	}
	if len(b.Contents) == 0 {
		return nil, fault.New(fault.Permanent, "gemini: the request has no message with content")
	}
	b.Token = continuation(req.Messages)
	b.addSystem(req, t)
	b.addConfig(req, t)
	if p.body, err = adapter.Extended(b, req.Options[Name]); err != nil {
		return nil, fault.Errorf(fault.Permanent, "gemini: Options[%q]: %w", Name, err)
	}
	return p, nil
}

// continuation returns the token with which the newest message, the model's, goes on; "" if there
// is none.
func continuation(messages []provider.Message) string {
	if n := len(messages); n > 0 && messages[n-1].Role == provider.RoleAssistant {
		for i := range messages[n-1].Parts {
			if p := &messages[n-1].Parts[i]; own(p) == kindToken {
				return p.Opaque.Data
			}
		}
	}
	return ""
}

func (b *body) addTools(req *provider.Request, n *adapter.Names) error {
	var functions []any
	for i := range req.Tools {
		t := &req.Tools[i]
		f := function{Name: n.Encode(t.Name), Description: t.Description}
		if !adapter.IsNull(t.Schema) {
			f.Schema = narrowed(t.Schema)
		}
		options, _, err := adapter.ToolOptions(Name, "", t,
			[]string{"name", "parameters", "parametersJsonSchema"}, Name)
		if err != nil {
			return err
		}
		one, err := adapter.WithOptions(f, options)
		if err != nil {
			return fault.Errorf(fault.Invalid, "gemini: the tool %q: %w", t.Name, err)
		}
		functions = append(functions, one)
	}
	if len(functions) == 0 {
		return nil
	}
	b.Tools = []tools{{functions}}
	switch req.ToolChoice.Mode {
	case provider.ChooseAuto:
	case provider.ChooseNone:
		b.ToolConfig = &toolConfig{calling{Mode: "NONE"}}
	case provider.ChooseRequired:
		b.ToolConfig = &toolConfig{calling{Mode: "ANY"}}
	case provider.ChooseTool:
		b.ToolConfig = &toolConfig{calling{Mode: "ANY", Allowed: []string{n.Encode(req.ToolChoice.Tool)}}}
	default:
		return fault.Errorf(fault.Permanent, "gemini: unknown tool choice %q", req.ToolChoice.Mode)
	}
	return nil
}

// asText reports whether the system text must contain the schema of the answer: older models reject
// an output schema with tools.
func asText(req *provider.Request, t trait) bool { return len(req.Tools) > 0 && !t.Has(levels) }

// addSystem sets the instructions.
func (b *body) addSystem(req *provider.Request, t trait) {
	text := req.System
	if req.Output != nil && !adapter.IsNull(req.Output.Schema) && asText(req, t) {
		if text != "" {
			text += "\n\n"
		}
		text +=
			"When you give your answer, give it as one JSON value that is valid for this JSON Schema, and nothing " +
				"else, not even a code fence:\n" +
				string(req.Output.Schema)
	}
	if !blank(text) {
		b.System = &content{Parts: []any{outPart{Text: &text}}}
	}
}

// addConfig sets the sampling, the thinking and the output format.
func (b *body) addConfig(req *provider.Request, t trait) {
	g := generation{MaxOutput: max(req.MaxOutput, 0), Thinking: thinkingOf(req.Reasoning, t)}
	set := g.MaxOutput > 0 || g.Thinking != nil
	if s := req.Sampling; s != nil {
		g.Temperature, g.TopP, g.TopK = s.Temperature, s.TopP, s.TopK
		g.PresencePenalty, g.FrequencyPenalty = s.PresencePenalty, s.FrequencyPenalty
		for _, stop := range s.Stop {
			if stop != "" && !slices.Contains(g.Stop, stop) {
				g.Stop = append(g.Stop, stop)
			}
		}
		if s.Seed != nil {
			seed := int32(*s.Seed) // the API accepts 32 bits
			g.Seed = &seed
		}
		set = true
	}
	if req.Output != nil && !adapter.IsNull(req.Output.Schema) && !asText(req, t) {
		g.Type, g.Schema, set = "application/json", narrowed(req.Output.Schema), true
	}
	if o := req.Images; o != nil {
		g.Modalities, set = []string{"TEXT", "IMAGE"}, true
		if o.Size != "" {
			g.Image = &imageConfig{o.Size}
		}
	}
	if set {
		b.Config = &g
	}
}
