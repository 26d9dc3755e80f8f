package provider

import (
	"encoding/json"
	"strings"
)

// A Response is a whole answer, or the part of it that has arrived.
type Response struct {
	ID      string     `json:"id,omitempty"`
	Model   string     `json:"model,omitempty"` // that answered
	Parts   []Part     `json:"parts,omitempty"` // in the order in which they began
	Stop    StopReason `json:"stop,omitempty"`
	StopRaw string     `json:"stop_raw,omitempty"`
	Usage   Usage      `json:"usage,omitzero"`
	// Details are the metadata of the answer, under the provider's own names and as it said it: the
	// tier that served the call, log probabilities, moderation, and so on. The adapters say which
	// they read. A value that was too large, above 1 MiB with the others, is null. Details aren't
	// part of [Response.Message] and never go back to a provider; an agent shows them to its
	// AfterStep hooks, as they are, and stores none.
	Details map[string]json.RawMessage `json:"details,omitempty"`
	// Complete says that End has arrived. Parts of an incomplete answer may be cut anywhere.
	Complete bool `json:"complete"`
}

// TextResponse returns a complete answer that consists of a text: for fakes of models, and for
// hooks that answer in a model's place. Its Stop is [StopDone], and it has no Usage.
func TextResponse(text string) *Response {
	return &Response{Parts: []Part{TextPart(text)}, Stop: StopDone, Complete: true}
}

// Message returns the answer as a message of a conversation.
func (r *Response) Message() Message { return Message{Role: RoleAssistant, Parts: r.parts()} }

// parts returns the parts of the answer; none of a nil one.
func (r *Response) parts() []Part {
	if r == nil {
		return nil
	}
	return r.Parts
}

// Text returns the text parts, joined.
func (r *Response) Text() string { return joinText(r.parts(), PartText) }

// Reasoning returns the reasoning parts, joined.
func (r *Response) Reasoning() string { return joinText(r.parts(), PartReasoning) }

// Calls returns the calls that the host is asked to run, in first-seen order.
func (r *Response) Calls() []*ToolCall {
	m := r.Message()
	return m.Calls()
}

// A Collector builds a [Response] from the chunks of one call. The response so far is available at
// any time. The zero Collector is ready for use. It isn't safe for concurrent use, and must not be
// copied after its first use.
//
// Text becomes valid UTF-8 (invalid bytes become U+FFFD) and arguments become compact JSON, so that
// they survive a journal unchanged. Arguments that aren't JSON are kept unchanged in
// [ToolCall.Invalid].
type Collector struct {
	grammar Grammar
	resp    Response
	pieces  []piece
	room    [2]piece // most answers have no more than two
	last    int      // the piece added to last; -1: none
}

// A piece is a part that is being written.
type piece struct {
	kind  PartKind
	index int32
	open  bool             // a call without its ToolEnd
	first string           // all of it, while it came in one chunk
	text  *strings.Builder // all of the text, once there are two
	args  []byte           // all of the arguments of a call, once there are two
	id    string           // of a call
	name  string
	part  *Part // that came whole
	extra *Opaque
}

// Add adds the next chunk. It returns a *[GrammarError] if the chunk isn't allowed here.
func (c *Collector) Add(chunk Chunk) error {
	if chunk.Kind == KindText && !c.grammar.ended && c.extend(PartText, &chunk) {
		return nil // most chunks are text that continues the last part
	}
	if err := c.grammar.Next(&chunk); err != nil {
		return err
	}
	switch chunk.Kind {
	case KindText:
		c.text(PartText, &chunk)
	case KindReasoning:
		c.text(PartReasoning, &chunk)
	case KindRefusal:
		c.text(PartRefusal, &chunk)
	case KindStart: // the collector is empty: Start comes first, or after a Reset
		c.last = -1
		c.resp.ID, c.resp.Model = valid(chunk.ID), valid(chunk.Name)
	case KindToolStart:
		c.push(piece{kind: PartToolCall, index: chunk.Index, open: true, id: valid(chunk.ID), name: valid(chunk.Name)})
	case KindToolDelta:
		c.last = c.openCall(chunk.Index)
		c.pieces[c.last].add(chunk.Text)
	case KindToolEnd:
		c.last = c.openCall(chunk.Index)
		c.pieces[c.last].open = false
	case KindProviderCall, KindProviderResult, KindSource, KindFile:
		c.push(piece{kind: chunk.Extra.Part.Kind, part: normalizePart(chunk.Extra.Part)})
	case KindOpaque:
		c.opaque(&chunk)
	case KindReset:
		c.Reset()
	case KindEnd:
		c.resp.Stop, c.resp.StopRaw, c.resp.Complete = chunk.Extra.Stop, valid(chunk.Extra.StopRaw), true
		if chunk.Extra.Usage != nil {
			c.resp.Usage = *chunk.Extra.Usage
		}
		c.resp.Details = normalizeDetails(chunk.Extra.Details)
	}
	return nil
}

// extend appends a piece of text to the last part, if that is of the same kind and block.
func (c *Collector) extend(kind PartKind, chunk *Chunk) bool {
	last := len(c.pieces) - 1
	if last < 0 {
		return false
	}
	p := &c.pieces[last]
	if p.kind != kind || p.index != chunk.Index || p.part != nil {
		return false
	}
	p.add(chunk.Text)
	c.last = last
	return true
}

// Last returns which part of the response the last chunk was added to: its index in Response.Parts,
// or -1 before the first part.
func (c *Collector) Last() int {
	if len(c.pieces) == 0 {
		return -1
	}
	return c.last
}

// Complete reports whether End has arrived.
func (c *Collector) Complete() bool { return c.grammar.Complete() }

// Empty reports whether no part of an answer has arrived since the last Reset.
func (c *Collector) Empty() bool { return !c.grammar.begun }

// Reset forgets everything, for the next call.
func (c *Collector) Reset() {
	clear(c.room[:min(len(c.pieces), len(c.room))])
	c.grammar.Reset()
	c.resp, c.pieces, c.last = Response{}, c.room[:0], -1
}

// Response returns the answer so far. It is a new value each time, and shares nothing that changes
// later.
func (c *Collector) Response() *Response {
	r := c.resp
	r.Parts = c.parts()
	return &r
}

// Final is like Response but returns the Collector's own value, which, except for its Parts, is
// valid until the next Add or Reset.
func (c *Collector) Final() *Response {
	c.resp.Parts = c.parts()
	return &c.resp
}

// parts returns new parts with the content of the pieces.
func (c *Collector) parts() []Part {
	if len(c.pieces) == 0 {
		return nil
	}
	parts := make([]Part, len(c.pieces))
	for i := range c.pieces {
		parts[i] = c.pieces[i].finish()
	}
	return parts
}

func (c *Collector) push(p piece) {
	if c.pieces == nil {
		c.pieces = c.room[:0]
	}
	c.pieces = append(c.pieces, p)
	c.last = len(c.pieces) - 1
}

// text continues the last piece if it is of the same kind and block, or, if the pieces of several
// blocks interleave, that of its block; else it begins another.
func (c *Collector) text(kind PartKind, chunk *Chunk) {
	if c.extend(kind, chunk) {
		return
	}
	for i := len(c.pieces) - 1; i >= 0 && c.pieces[i].isText() && c.pieces[len(c.pieces)-1].index != chunk.Index; i-- {
		if p := &c.pieces[i]; p.kind == kind && p.index == chunk.Index {
			p.add(chunk.Text)
			c.last = i
			return
		}
	}
	c.push(piece{kind: kind, index: chunk.Index, first: chunk.Text})
}

// isText reports whether the piece is one of those whose chunks may interleave.
func (p *piece) isText() bool {
	return p.part == nil && (p.kind == PartText || p.kind == PartReasoning || p.kind == PartRefusal)
}

// openCall returns the piece of the open call with that index; the grammar has seen to it that
// there is one.
func (c *Collector) openCall(index int32) int {
	for i := len(c.pieces) - 1; i >= 0; i-- {
		if p := &c.pieces[i]; p.kind == PartToolCall && p.index == index && p.open {
			return i
		}
	}
	return len(c.pieces) - 1
}

func (c *Collector) opaque(chunk *Chunk) {
	o := normalizePart(chunk.Extra.Part).Opaque
	target := -1
	switch chunk.Index {
	case ownPart:
	case lastPart:
		target = c.last
		if len(c.pieces) == 0 {
			target = -1
		}
	default: // a call, open or not: the newest with that index
		for i := len(c.pieces) - 1; i >= 0 && target < 0; i-- {
			if c.pieces[i].kind == PartToolCall && c.pieces[i].index == chunk.Index {
				target = i
			}
		}
	}
	if target < 0 || c.pieces[target].taken() { // what is there already isn't lost
		c.push(piece{kind: PartOpaque, index: ownPart, extra: o})
		return
	}
	c.pieces[target].extra = o
}

func (p *piece) add(s string) {
	switch {
	case s == "":
	case p.text != nil:
		if room := p.text.Cap() - p.text.Len(); room < len(s) {
			p.text.Grow(max(len(s), p.text.Cap())) // doubles, as append doesn't for long texts
		}
		p.text.WriteString(s)
	case p.args != nil:
		p.args = append(p.args, s...)
	case p.first == "":
		p.first = s
	case p.kind == PartToolCall:
		p.args = make([]byte, 0, max(64, 2*(len(p.first)+len(s))))
		p.args = append(append(p.args, p.first...), s...)
	default:
		p.text = new(strings.Builder)
		p.text.Grow(max(256, 2*(len(p.first)+len(s))))
		p.text.WriteString(p.first)
		p.text.WriteString(s)
	}
}

func (p *piece) finish() Part {
	if p.part != nil {
		part := *p.part
		if p.extra != nil {
			part.Opaque = p.extra
		}
		return part
	}
	part := Part{Kind: p.kind, Opaque: p.extra}
	if p.kind != PartToolCall {
		part.Text = p.first
		if p.text != nil {
			part.Text = p.text.String()
		}
		part.Text = valid(part.Text)
		return part
	}
	part.Call = &ToolCall{ID: p.id, Name: p.name}
	raw := p.args
	if raw == nil {
		raw = []byte(p.first)
	}
	part.Call.Input, part.Call.Invalid = arguments(raw[:len(raw):len(raw)])
	return part
}

// taken reports whether the piece has opaque data already.
func (p *piece) taken() bool { return p.extra != nil || p.part != nil && p.part.Opaque != nil }
