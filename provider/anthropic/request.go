package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// defaultOutput is max_tokens if neither the request nor the properties of the model have a limit.
const defaultOutput = 8192

// A prepared is an encoded request, and what is needed to decode its answer.
type prepared struct {
	model string
	names *adapter.Names
	body  []byte
}

// A body is the body of a request. The order of its fields, and of everything in them, is fixed.
type body struct {
	Model         string        `json:"model"`
	MaxTokens     int           `json:"max_tokens,omitempty"`
	System        []*content    `json:"system,omitempty"`
	Messages      []turn        `json:"messages"`
	Tools         []*tool       `json:"tools,omitempty"`
	ToolChoice    *toolChoice   `json:"tool_choice,omitempty"`
	Thinking      *thinking     `json:"thinking,omitempty"`
	OutputConfig  *outputConfig `json:"output_config,omitempty"`
	Temperature   *float64      `json:"temperature,omitempty"`
	TopP          *float64      `json:"top_p,omitempty"`
	TopK          *int          `json:"top_k,omitempty"`
	StopSequences []string      `json:"stop_sequences,omitempty"`
	Container     string        `json:"container,omitempty"`
	Stream        bool          `json:"stream,omitempty"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`

	options map[string]json.RawMessage
}

// MarshalJSON encodes the tool with its options.
func (t *tool) MarshalJSON() ([]byte, error) {
	type plain tool // without this method
	merged, err := adapter.WithOptions((*plain)(t), t.options)
	if err != nil {
		return nil, err
	}
	return adapter.Encode(merged)
}

type toolChoice struct {
	Type                     string `json:"type"`
	Name                     string `json:"name,omitempty"`
	DisableParallelToolCalls bool   `json:"disable_parallel_tool_use,omitempty"`
}

type outputConfig struct {
	Effort string  `json:"effort,omitempty"`
	Format *format `json:"format,omitempty"`
}

type format struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

// prepare makes the body of a call.
func (m *Model) prepare(req *provider.Request) (*prepared, error) {
	b, o, n, err := m.compose(req)
	if err != nil {
		return nil, err
	}
	b.Stream = true
	return finished(b, o, n)
}

func finished(b *body, o *options, n *adapter.Names) (*prepared, error) {
	var extra json.RawMessage
	if len(o.body) > 0 {
		extra = adapter.JSON(o.body)
	}
	text, err := adapter.Extended(b, extra)
	if err != nil {
		return nil, err
	}
	return &prepared{model: b.Model, names: n, body: text}, nil
}

// compose makes a body, except for the fields of a streaming call.
func (m *Model) compose(req *provider.Request) (*body, *options, *adapter.Names, error) {
	o, err := readOptions(req.Options[Name])
	if err != nil {
		return nil, nil, nil, err
	}
	b := &body{Model: cmp.Or(req.Model, m.id), MaxTokens: req.MaxOutput}
	if b.MaxTokens <= 0 {
		b.MaxTokens = cmp.Or(modelInfo(b.Model, m.known).MaxOutput, defaultOutput)
	}
	traits := traitsOf(b.Model)
	c := &conversation{names: adapter.NewNames(req.Tools), mark: &cacheControl{Type: "ephemeral", TTL: o.cache.TTL},
		marks: mostMarks}
	if err := b.addTools(req, c); err != nil {
		return nil, nil, nil, err
	}
	if b.Messages, err = c.convert(req.Messages); err != nil {
		return nil, nil, nil, err
	}
	if len(b.Messages) == 0 {
		return nil, nil, nil, fault.New(fault.Permanent, "anthropic: the request has no message with content")
	}
	_, own := o.body["tools"]
	if len(b.Tools) == 0 && !own && len(c.called) > 0 {
		// The API rejects calls in the conversation if the request has no tools.
		for _, name := range c.called {
			b.Tools = append(b.Tools, &tool{Name: name, InputSchema: adapter.NoParameters})
		}
		b.ToolChoice = &toolChoice{Type: "none"}
	} else if len(b.Tools) > 0 || own {
		if b.ToolChoice, err = chosen(req, c.names); err != nil {
			return nil, nil, nil, err
		}
	}
	b.Container = c.container
	b.addOutput(req, traits)
	b.addThinking(req, traits)
	b.addSampling(req, traits)
	b.addSystem(req, traits)
	if o.cache.System && len(b.System) > 0 {
		b.System[len(b.System)-1].CacheControl = c.mark
		c.marks--
	}
	if last := b.lastTool(); o.cache.Tools && last != nil && last.CacheControl == nil {
		last.CacheControl = c.mark
		c.marks--
	}
	c.limitMarks()
	if req.Cache && !bytes.Contains(req.Options[Name], []byte(`"cache_control"`)) {
		c.addMarks(b)
	}
	return b, &o, c.names, nil
}

func (b *body) addTools(req *provider.Request, c *conversation) error {
	for i := range req.Tools {
		t := &req.Tools[i]
		one := &tool{Name: c.names.Encode(t.Name), Description: t.Description,
			InputSchema: adapter.Parameters(t.Schema)}
		options, own, err := adapter.ToolOptions(Name, "custom", t, []string{"type", "name", "input_schema"}, Name)
		switch {
		case err != nil:
			return err
		case own != nil:
			one.Description, one.InputSchema, options = "", nil, own
			delete(own, "name") // the tool's, by which it is found again
		}
		one.options = options
		if mark, ok := one.options["cache_control"]; ok { // one of the marks of the request
			if err := json.Unmarshal(mark, &one.CacheControl); err != nil {
				return fault.Errorf(fault.Invalid, "anthropic: the tool %q: cache_control can't be decoded: %w", t.Name, err)
			}
			if one.CacheControl != nil {
				c.marks--
			}
			delete(one.options, "cache_control") // the map is the adapter's own
		}
		if adapter.AsksStrict(one.options) {
			if adapter.IsNull(t.Schema) {
				one.InputSchema = adapter.ClosedParameters
			} else if schema, ok := narrowed(one.InputSchema); ok {
				one.InputSchema = schema
			}
		}
		b.Tools = append(b.Tools, one)
	}
	return nil
}

// chosen returns the tool choice, nil for the API's default.
func chosen(req *provider.Request, n *adapter.Names) (*toolChoice, error) {
	switch req.ToolChoice.Mode {
	case provider.ChooseAuto:
		if !req.DisableParallelToolCalls {
			return nil, nil
		}
		return &toolChoice{Type: "auto", DisableParallelToolCalls: true}, nil
	case provider.ChooseNone:
		return &toolChoice{Type: "none"}, nil
	case provider.ChooseRequired:
		return &toolChoice{Type: "any", DisableParallelToolCalls: req.DisableParallelToolCalls}, nil
	case provider.ChooseTool:
		return &toolChoice{Type: "tool", Name: n.Encode(req.ToolChoice.Tool),
			DisableParallelToolCalls: req.DisableParallelToolCalls}, nil
	}
	return nil, fault.Errorf(fault.Permanent, "anthropic: unknown tool choice %q", req.ToolChoice.Mode)
}

// addOutput requests an answer that matches a schema, if the model supports it.
func (b *body) addOutput(req *provider.Request, t trait) {
	if schema := formatOf(req, t); schema != nil {
		b.OutputConfig = &outputConfig{Format: &format{Type: "json_schema", Schema: schema}}
	}
}

// addSystem sets the instructions. They contain the schema of the answer if the model doesn't
// support output formats.
func (b *body) addSystem(req *provider.Request, t trait) {
	text := req.System
	if req.Output != nil && !adapter.IsNull(req.Output.Schema) && formatOf(req, t) == nil {
		if text != "" {
			text += "\n\n"
		}
		text +=
			"Answer with one JSON value that is valid for this JSON Schema, and with nothing else, not even a code " +
				"fence:\n" + string(req.Output.Schema)
	}
	if strings.TrimSpace(text) != "" {
		b.System = []*content{{Type: "text", Text: text}}
	}
}

// addSampling sets the sampling fields, except those that the model, or its thinking, rejects.
func (b *body) addSampling(req *provider.Request, t trait) {
	s := req.Sampling
	if s == nil {
		return
	}
	for _, stop := range s.Stop {
		if strings.TrimSpace(stop) != "" && !slices.Contains(b.StopSequences, stop) { // the API rejects blank ones
			b.StopSequences = append(b.StopSequences, stop)
		}
	}
	if !t.Has(samplings) || b.Thinking.thinks() {
		return
	}
	b.Temperature, b.TopP, b.TopK = s.Temperature, s.TopP, s.TopK
}
