package openai

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// write yields a piece of the text or the refusal of a message.
func (d *responsesDecoder) write(kind provider.ChunkKind, text string) {
	it := d.at(&d.ev)
	it.part(d.ev.ContentIndex.or(0)).add(text)
	d.say(it, kind, text)
}

func (d *responsesDecoder) say(it *outputItem, kind provider.ChunkKind, text string) {
	if text == "" {
		return
	}
	if it.done { // this piece came after its end, or twice
		d.contradicted()
		return
	}
	d.piece(it, kind, text)
}

// piece yields a piece of the part of an item. Pieces of several items may interleave.
func (d *responsesDecoder) piece(it *outputItem, kind provider.ChunkKind, text string) {
	if it.block == 0 {
		d.block++
		it.block = d.block
	}
	d.last, it.said = it, kind
	d.Put(provider.Chunk{Kind: kind, Index: it.block, Text: text})
}

// attach attaches data to the part of an item, if it has one to which no call has come since. It
// returns false otherwise.
func (d *responsesDecoder) attach(it *outputItem, o provider.Opaque) bool {
	if it.block == 0 || d.last == nil || d.last.block == 0 {
		return false
	}
	if d.last != it {
		d.piece(it, it.said, "")
	}
	d.Put(provider.Attach(o))
	return true
}

// part returns what has been yielded of a part of the content.
func (it *outputItem) part(content int) *yielded {
	const most = 1 << 10
	content = min(max(content, 0), most)
	for len(it.parts) <= content {
		it.parts = append(it.parts, &yielded{})
	}
	return it.parts[content]
}

// think yields a piece of reasoning. An item may have a summary and the text itself; the first one
// counts.
func (d *responsesDecoder) think(it *outputItem, source thoughtOf, text string) {
	if text == "" || it.source != unknownThought && it.source != source {
		return
	}
	it.source = source
	it.thought += len(text)
	d.say(it, provider.KindReasoning, text)
}

func (d *responsesDecoder) messageDone(it *outputItem) {
	for i := range it.item.Content {
		c := &it.item.Content[i]
		kind, text := provider.KindText, string(c.Text)
		if c.Refusal != "" {
			kind, text, d.refused = provider.KindRefusal, string(c.Refusal), true
		}
		rest, ok := it.part(i).rest(text)
		if !ok {
			if d.contradicted(); d.Over {
				return
			}
		}
		d.say(it, kind, rest)
	}
	data := adapter.JSON(messageData{ID: it.item.ID, Phase: it.item.Phase})
	d.attach(it, d.opaque(kindMessage, string(data)))
	before := 0 // bytes of the contents before, which are in the same part
	for i := range it.item.Content {
		c := &it.item.Content[i]
		for j := range c.Annotations {
			if s, ok := c.Annotations[j].source(string(c.Text)); ok {
				if s.End > 0 {
					s.Start, s.End = s.Start+before, s.End+before
				}
				d.Put(provider.Cite(s))
			}
		}
		before += len(c.Text) + len(c.Refusal)
	}
}

// messageData is the data of a message or a call that is sent back in addition to its content.
type messageData struct {
	ID    string `json:"id,omitempty"`
	Phase string `json:"phase,omitempty"`
}

func (d *responsesDecoder) reasoningDone(it *outputItem, raw json.RawMessage) {
	if it.thought == 0 {
		for _, s := range it.item.Summary {
			d.think(it, summaryThought, s.Text)
		}
		for _, s := range it.item.Content {
			d.think(it, rawThought, s.Text)
		}
	}
	o := d.opaque(kindItem, adapter.Compact(raw))
	if !d.attach(it, o) {
		d.Put(provider.OpaquePart(o))
		d.last = nil
	}
}
