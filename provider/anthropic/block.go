package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A block is a block of the answer that is being received.
type block struct {
	head
	index     int32           // of the server
	number    int32           // of all blocks of the answer
	raw       json.RawMessage // the start of the block
	said      bool            // a chunk of it was yielded
	size      int             // of the text, in bytes
	input     strings.Builder // of a call that the provider runs
	deltas    bool            // the input came in pieces
	signature string
	citations []json.RawMessage
	fields    map[string]json.RawMessage // of a compaction
	unknown   bool                       // an unknown piece came: the block can't be sent back
}

// A head is the start of a block.
type head struct {
	Type      string            `json:"type"`
	Text      string            `json:"text"`
	Thinking  string            `json:"thinking"`
	Signature string            `json:"signature"`
	Data      string            `json:"data"`
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Input     json.RawMessage   `json:"input"`
	Citations []json.RawMessage `json:"citations"`
	ToolUseID string            `json:"tool_use_id"`
	Content   json.RawMessage   `json:"content"`
	IsError   bool              `json:"is_error"`
}

// wholeBlock decodes a block that came in one piece.
func (d *decoder) wholeBlock(raw json.RawMessage) error {
	index := d.next()
	if err := d.startBlock(index, raw); err != nil {
		return err
	}
	return d.stopBlock(index)
}

// next returns an index for a block without one.
func (d *decoder) next() int32 {
	d.whole++
	return d.whole - 1
}

func (d *decoder) at(index int32) int {
	return slices.IndexFunc(d.open, func(b *block) bool { return b.index == index })
}

func (d *decoder) find(index int32) *block {
	if at := d.at(index); at >= 0 {
		return d.open[at]
	}
	return nil
}

func (d *decoder) startBlock(index int32, raw json.RawMessage) error {
	d.Begin("", d.Model)
	d.blocks = true
	b := &block{index: index, number: d.count, raw: raw}
	if err := json.Unmarshal(raw, &b.head); err != nil {
		return garbled("a block", err)
	}
	if b.Type == "" {
		return garbled("a block without a type", nil)
	}
	if call := b.ID + " " + b.Name; b.ID != "" {
		if d.began[call] {
			return garbled("a call began twice", nil)
		}
		if d.began == nil {
			d.began = map[string]bool{}
		}
		d.began[call] = true
	}
	if d.find(index) != nil { // it wasn't closed
		if err := d.stopBlock(index); err != nil {
			return err
		}
	}
	d.count++
	delete(d.ended, index)
	d.open = append(d.open, b)
	if b.Type != "text" && b.Type != "thinking" {
		d.last = nil
	}
	switch {
	case b.Type == "text":
		b.citations = b.Citations
		d.text(b, b.Text)
	case b.Type == "thinking":
		b.signature = b.Signature
		d.think(b, b.Thinking)
	case b.Type == "tool_use":
		name := d.Names.Decode(b.Name)
		if name == "" {
			return garbled("a tool call without a name", nil)
		}
		d.called = true
		d.Put(provider.ToolStart(int(index), b.ID, name))
	case isProviderCall(b.Type):
		if d.calls == nil {
			d.calls = map[string]string{}
		}
		d.calls[b.ID], d.called = b.Name, true
	}
	return nil
}

func (d *decoder) delta(e *event, data []byte) error {
	b := d.find(int32(e.Index))
	if b == nil && d.ended[int32(e.Index)] {
		return garbled("a piece of a block that has ended", nil)
	}
	if b == nil { // some servers leave out the starts of blocks
		kind := map[string]string{"text_delta": "text", "thinking_delta": "thinking"}[e.Delta.Type]
		if kind == "" {
			return garbled("a piece of a block that hasn't started: "+quote(e.Delta.Type), nil)
		}
		if err := d.startBlock(int32(e.Index), json.RawMessage(`{"type":"`+kind+`"}`)); err != nil {
			return err
		}
		b = d.find(int32(e.Index))
	}
	switch e.Delta.Type {
	case "text_delta":
		d.text(b, string(e.Delta.Text))
	case "thinking_delta":
		d.think(b, string(e.Delta.Thinking))
	case "input_json_delta":
		if e.Delta.JSON == "" {
			return nil
		}
		b.deltas, d.last = true, nil
		if b.Type == "tool_use" {
			d.Put(provider.ToolDelta(int(b.index), string(e.Delta.JSON)))
		} else {
			b.input.WriteString(string(e.Delta.JSON))
		}
	case "signature_delta":
		b.signature += e.Delta.Signature
	case "citations_delta":
		if !adapter.IsNull(e.Delta.Citation) {
			b.citations = append(b.citations, e.Delta.Citation)
		}
	case "compaction_delta":
		var whole struct {
			Delta map[string]json.RawMessage `json:"delta"`
		}
		if err := json.Unmarshal(data, &whole); err != nil {
			return garbled("an event", err)
		}
		delete(whole.Delta, "type")
		b.fields = whole.Delta
	default:
		b.unknown = true
	}
	return nil
}

func (d *decoder) text(b *block, s string) {
	if s == "" {
		return
	}
	b.size += len(s)
	d.say(b, provider.KindText, s)
}

func (d *decoder) think(b *block, s string) {
	if s == "" {
		return
	}
	d.say(b, provider.KindReasoning, s)
}

func (d *decoder) say(b *block, kind provider.ChunkKind, s string) {
	b.said, d.last = true, b
	d.Put(provider.Chunk{Kind: kind, Index: b.number, Text: s})
}

// attach attaches data to the part of a block of text or thinking, which may not be the last one
// that was written to.
func (d *decoder) attach(b *block, kind provider.ChunkKind, o provider.Opaque) {
	if d.last != b {
		d.say(b, kind, "")
	}
	d.Put(provider.Attach(o))
}

func (d *decoder) stopBlock(index int32) error {
	at := d.at(index)
	if at < 0 {
		return nil // closed twice, or never started: nothing is lost
	}
	b := d.open[at]
	d.open = slices.Delete(d.open, at, at+1)
	if d.ended == nil {
		d.ended = map[int32]bool{}
	}
	d.ended[index] = true
	if b.Type != "text" && b.Type != "thinking" {
		d.last = nil
	}
	switch {
	case b.Type == "text":
		d.endText(b)
	case b.Type == "thinking":
		if b.signature == "" {
			return nil
		}
		d.attach(b, provider.KindReasoning, sealed(kindSignature, b.signature)) // thoughts may be hidden
	case b.Type == kindRedacted:
		d.Put(provider.OpaquePart(sealed(kindRedacted, b.Data)))
	case b.Type == "tool_use":
		d.endCall(b)
	case isProviderCall(b.Type):
		d.providerCall(b)
	case isProviderResult(b.Type):
		d.providerResult(b)
	case b.unknown: // an incomplete block would be rejected
	case b.Type == "compaction":
		d.Put(opaque(b.Type, with(b.raw, b.fields)))
	default:
		d.Put(opaque(b.Type, b.raw))
	}
	return nil
}

// endText yields the citations of a text block. Those that have to be sent back are attached to the
// text.
func (d *decoder) endText(b *block) {
	if len(b.citations) == 0 {
		return
	}
	if b.said {
		d.attach(b, provider.KindText, sealed(kindCitations, string(adapter.JSON(b.citations))))
	}
	for _, raw := range b.citations {
		if s, ok := source(raw); ok {
			s.End = b.size
			d.Put(provider.Cite(s))
		}
	}
}

// endCall yields the end of a call. If its input didn't come in pieces, it is in the start of the
// block.
func (d *decoder) endCall(b *block) {
	if !b.deltas && !adapter.IsNull(b.Input) {
		d.Put(provider.ToolDelta(int(b.index), string(b.Input)))
	}
	d.Put(provider.ToolEnd(int(b.index)))
	if fields := otherFields(b.raw); len(fields) > 0 {
		d.Put(provider.AttachTo(int(b.index), sealed(kindFields, string(adapter.JSON(fields)))))
	}
}

// otherFields returns the fields of a call that a request has besides those of each call. That the
// model itself made the call isn't said.
func otherFields(raw json.RawMessage) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	for name, value := range fields {
		switch {
		case name == "type", name == "id", name == "name", name == "input", adapter.IsNull(value),
			name == "caller" && strings.Contains(string(value), `"direct"`):
			delete(fields, name)
		}
	}
	return fields
}

// with returns a JSON object with other values for some of its keys.
func with(raw json.RawMessage, other map[string]json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(other) == 0 || json.Unmarshal(raw, &fields) != nil || fields == nil {
		return raw
	}
	maps.Copy(fields, other)
	return adapter.JSON(fields)
}

func quote(s string) string { return strconv.Quote(s[:min(len(s), 64)]) }
