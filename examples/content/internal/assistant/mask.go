package assistant

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/screen"
	"github.com/pawlkit/pawl/provider"
)

// A masking provider keeps the e-mail addresses and telephone numbers of a conversation away from
// its model. The answer has them again: its texts and inputs come whole then.
type masking struct{ provider.Provider }

// Stream answers a request.
func (m masking) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	clone, restore := mask(req)
	if restore == nil {
		return m.Provider.Stream(ctx, req)
	}
	return func(yield func(provider.Chunk, error) bool) {
		var held provider.Chunk // the chunks of one text or input so far
		flush := func() bool {
			c := held
			held = provider.Chunk{}
			c.Text = restore(c.Text)
			return c.Text == "" || yield(c, nil)
		}
		for c, err := range m.Provider.Stream(ctx, clone) {
			piece := err == nil && c.Extra == nil && (c.Kind == provider.KindText || c.Kind == provider.KindToolDelta)
			if piece && held.Text != "" && held.Kind == c.Kind && held.Index == c.Index {
				held.Text += c.Text
				continue
			}
			if !flush() {
				return
			}
			if piece {
				held = c
			} else if !yield(c, err) {
				return
			}
		}
		flush()
	}
}

// mask returns a request without addresses and numbers, and what puts them back; nil if it has
// none.
func mask(req *provider.Request) (clone *provider.Request, restore func(string) string) {
	var texts []*string
	c := *req
	c.Messages = slices.Clone(req.Messages)
	texts = append(texts, &c.System)
	var inputs []func()
	var walk func(parts []provider.Part) []provider.Part
	walk = func(parts []provider.Part) []provider.Part {
		parts = slices.Clone(parts)
		for i := range parts {
			p := &parts[i]
			texts = append(texts, &p.Text)
			if p.Result != nil {
				result := *p.Result
				result.Parts, p.Result = walk(result.Parts), &result
			}
			if p.Call != nil {
				call, input := *p.Call, string(p.Call.Input)
				p.Call, texts = &call, append(texts, &input)
				inputs = append(inputs, func() {
					if json.Valid([]byte(input)) { // a number that isn't in a string stays
						call.Input = json.RawMessage(input)
					}
				})
			}
		}
		return parts
	}
	for i := range c.Messages {
		c.Messages[i].Parts = walk(c.Messages[i].Parts)
	}
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = strings.ReplaceAll(*t, "\x00", "")
	}
	before := strings.Join(all, "\x00")
	masked, restore := screen.Mask(before)
	if masked == before {
		return req, nil
	}
	for i, text := range strings.Split(masked, "\x00") {
		*texts[i] = text
	}
	for _, set := range inputs {
		set()
	}
	return &c, restore
}
