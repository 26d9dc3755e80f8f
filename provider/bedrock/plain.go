package bedrock

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// noMaximum stands for a request without a maximum output, since the package anthropic always sends
// one.
const noMaximum = math.MaxInt32

// optionsKey is the field in which the options come to [conversation].
const optionsKey = "bedrock"

// plain returns a request that the package anthropic encodes without what only Claude understands,
// with this package's opaque data.
func (m *Model) plain(req *provider.Request) (*provider.Request, error) {
	if req.Images != nil {
		return nil, provider.ErrNoImages
	}
	out := req.Clone()
	out.Reasoning, out.Output, out.Cache, out.Options = nil, nil, false, nil
	if req.Output != nil && !adapter.IsNull(req.Output.Schema) {
		if out.System != "" {
			out.System += "\n\n"
		}
		out.System +=
			"Answer with one JSON value that is valid for this JSON Schema, and with nothing else, not even a code " +
				"fence:\n" +
				string(req.Output.Schema)
	}
	if out.MaxOutput <= 0 {
		out.MaxOutput = noMaximum
		if info, ok := m.InfoOf(req.Model); ok && info.MaxOutput > 0 {
			out.MaxOutput = info.MaxOutput
		}
	}
	if raw := req.Options[Name]; len(raw) > 0 {
		if !json.Valid(raw) {
			return nil, fault.Errorf(fault.Permanent, "bedrock: Options[%q] isn't JSON", Name)
		}
		options, err := adapter.Encode(map[string]json.RawMessage{optionsKey: raw})
		if err != nil {
			return nil, err
		}
		out.Options = map[string]json.RawMessage{anthropic.Name: options}
	}
	for i := range out.Tools {
		t := &out.Tools[i]
		options, _, err := adapter.ToolOptions(Name, "", t, []string{"name", "inputSchema"}, Name)
		if err != nil {
			return nil, err
		}
		if t.Options = nil; options != nil {
			raw := adapter.JSON(map[string]any{optionsKey: options})
			t.Options = map[string]json.RawMessage{anthropic.Name: raw}
		}
	}
	for i := range out.Messages {
		out.Messages[i].Parts = parts(out.Messages[i].Parts)
	}
	return out, nil
}

// parts returns the parts of a message with this package's opaque data as the package anthropic's,
// and without that of others. Parts are copied only if they change.
func parts(in []provider.Part) []provider.Part {
	out, copied := in, false
	for i := range in {
		o := in[i].Opaque
		if o == nil && !in[i].Cache {
			continue
		}
		if !copied {
			out, copied = slices.Clone(in), true
		}
		out[i].Cache, out[i].Opaque = false, nil
		if o != nil && o.Provider == Name {
			own := *o
			own.Provider = anthropic.Name
			out[i].Opaque = &own
		}
	}
	return out
}

// renamed returns a chunk with the package anthropic's opaque data as this package's: the data is
// that of another model.
func renamed(c provider.Chunk) provider.Chunk {
	if c.Kind != provider.KindOpaque {
		return c
	}
	extra, part, own := *c.Extra, *c.Extra.Part, *c.Extra.Part.Opaque
	own.Provider = Name
	part.Opaque = &own
	extra.Part = &part
	c.Extra = &extra
	return c
}
