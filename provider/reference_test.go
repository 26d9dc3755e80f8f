package provider_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A reference says what a Collector has to make of chunks, in the plainest way that there is: it
// keeps everything and begins anew each time.
type reference struct {
	taken []provider.Chunk // that were legal
}

// add reports whether c may come now.
func (r *reference) add(c provider.Chunk) bool {
	if !r.legal(c) {
		return false
	}
	r.taken = append(r.taken, c)
	return true
}

func (r *reference) legal(c provider.Chunk) bool {
	begun, ended, open := false, false, map[int32]bool{}
	for _, t := range r.taken {
		switch t.Kind {
		case provider.KindStart:
			begun = true
		case provider.KindReset:
			begun, open = false, map[int32]bool{}
		case provider.KindEnd:
			ended = true
		case provider.KindToolStart:
			open[t.Index] = true
		case provider.KindToolEnd:
			delete(open, t.Index)
		}
	}
	if ended {
		return false
	}
	part := &provider.Part{}
	if c.Extra != nil && c.Extra.Part != nil {
		part = c.Extra.Part
	}
	switch c.Kind {
	case provider.KindWaiting:
		return !begun && c.Extra != nil && c.Extra.Wait != nil
	case provider.KindStart:
		return !begun
	case provider.KindReset:
		return begun
	case provider.KindText, provider.KindReasoning, provider.KindRefusal:
		return begun
	case provider.KindToolStart:
		return begun && c.Name != "" && !open[c.Index]
	case provider.KindToolDelta, provider.KindToolEnd:
		return open[c.Index]
	case provider.KindProviderCall:
		return begun && part.Kind == provider.PartProviderCall && part.Call != nil
	case provider.KindProviderResult:
		return begun && part.Kind == provider.PartProviderResult && part.Result != nil
	case provider.KindSource:
		return begun && part.Kind == provider.PartSource && part.Source != nil
	case provider.KindFile:
		return begun && part.Kind == provider.PartMedia && part.Media != nil
	case provider.KindOpaque:
		return begun && part.Opaque != nil
	case provider.KindEnd:
		return begun && len(open) == 0 && c.Extra != nil && c.Extra.Stop != ""
	}
	return false
}

// refPart is a part with what tells it from others.
type refPart struct {
	part  provider.Part
	index int32
	open  bool
	raw   string // of a call's arguments, or a text
}

// response returns the answer, and whether it has ended.
func (r *reference) response() *provider.Response {
	resp := &provider.Response{}
	var parts []*refPart
	var last *refPart
	push := func(p *refPart) { parts, last = append(parts, p), p }
	for _, c := range r.taken {
		switch c.Kind {
		case provider.KindStart:
			resp, parts, last = &provider.Response{ID: c.ID, Model: c.Name}, nil, nil
		case provider.KindReset:
			resp, parts, last = &provider.Response{}, nil, nil
		case provider.KindText, provider.KindReasoning, provider.KindRefusal:
			kind := map[provider.ChunkKind]provider.PartKind{provider.KindText: provider.PartText,
				provider.KindReasoning: provider.PartReasoning, provider.KindRefusal: provider.PartRefusal}[c.Kind]
			last = nil
			for i, p := range slices.Backward(parts) {
				text := p.part.Kind == provider.PartText || p.part.Kind == provider.PartReasoning ||
					p.part.Kind == provider.PartRefusal
				if !text || i < len(parts)-1 && parts[len(parts)-1].index == c.Index {
					break
				}
				if p.part.Kind == kind && p.index == c.Index {
					last = p
					break
				}
			}
			if last == nil {
				push(&refPart{part: provider.Part{Kind: kind}, index: c.Index})
			}
			last.raw += c.Text
		case provider.KindToolStart:
			push(&refPart{part: provider.Part{Kind: provider.PartToolCall,
				Call: &provider.ToolCall{ID: c.ID, Name: c.Name}}, index: c.Index, open: true})
		case provider.KindToolDelta, provider.KindToolEnd:
			for _, p := range parts {
				if p.open && p.index == c.Index {
					last = p
				}
			}
			if last.open = c.Kind == provider.KindToolDelta; last.open {
				last.raw += c.Text
			}
		case provider.KindProviderCall, provider.KindProviderResult, provider.KindSource, provider.KindFile:
			push(&refPart{part: *c.Extra.Part, index: -9})
		case provider.KindOpaque:
			target := last
			if c.Index != provider.Attach(provider.Opaque{}).Index {
				target = nil
				for _, p := range parts {
					if p.part.Kind == provider.PartToolCall && p.index == c.Index {
						target = p
					}
				}
			}
			if target == nil || target.part.Opaque != nil {
				target = &refPart{part: provider.Part{Kind: provider.PartOpaque}, index: -9}
				push(target)
			}
			target.part.Opaque = c.Extra.Part.Opaque
		case provider.KindEnd:
			resp.Stop, resp.StopRaw, resp.Complete = c.Extra.Stop, c.Extra.StopRaw, true
			if c.Extra.Usage != nil {
				resp.Usage = *c.Extra.Usage
			}
		}
	}
	for _, p := range parts {
		resp.Parts = append(resp.Parts, p.done())
	}
	return resp
}

func (p *refPart) done() provider.Part {
	switch p.part.Kind {
	case provider.PartText, provider.PartReasoning, provider.PartRefusal:
		p.part.Text = strings.ToValidUTF8(p.raw, "\uFFFD")
	case provider.PartToolCall:
		var b bytes.Buffer
		switch {
		case strings.Trim(p.raw, " \t\r\n") == "":
		case json.Compact(&b, []byte(p.raw)) == nil:
			p.part.Call.Input = provider.EscapeSeparators(bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")))
		default:
			p.part.Call.Invalid = strings.ToValidUTF8(p.raw, "\uFFFD")
		}
	}
	return p.part
}

// decode makes chunks of bytes, for the fuzzer and the property tests: two bytes say which chunk
// and of what.
func decode(data []byte) (chunks []provider.Chunk) {
	texts := []string{"", "x", " {\"a\" : ", "1}", "<b>", "\xff", "\xe2\x82", "\xac", "\"\xc3\"", "[\"\u2028\"]", " \n",
		"null"}
	opaque := provider.Opaque{Provider: "p", Data: "sig"}
	call := provider.ToolCall{ID: "s", Name: "search", Input: json.RawMessage(`{"q":"<"}`)}
	begun := false
	for pair := range slices.Chunk(data, 2) {
		if len(pair) < 2 {
			break
		}
		what, index := pair[0]%24, int32(pair[1]%3)
		text := texts[int(pair[1]/3)%len(texts)]
		c := provider.Chunk{Kind: provider.ChunkKind(what), Index: index, Text: text}
		switch what {
		case 1:
			c = provider.Waiting(provider.Wait{Reason: provider.WaitQueued})
		case 2:
			c = provider.Chunk{Kind: provider.KindStart, ID: []string{"", "r-1", "r-2"}[index], Name: "m"}
		case 6, 20:
			c = provider.ToolStart(int(index), []string{"", "same", "id"}[index], []string{"t", "", "u"}[pair[1]/3%3])
		case 21:
			c = provider.ToolDelta(int(index), text)
		case 9:
			c = provider.ProviderCall(call)
		case 10:
			c = provider.ProviderResult(provider.ToolResult{CallID: "s", Name: "search"})
		case 11:
			c = provider.Cite(provider.Source{URL: "u"})
		case 12:
			c = provider.File(provider.Media{Type: "image/png"})
		case 13:
			opaque.Kind = "attached"
			c = provider.Attach(opaque)
		case 14:
			if !begun {
				continue // whether a Reset may come before any Start isn't asked here
			}
		case 15:
			c = provider.End(provider.StopDone, provider.Usage{Input: int64(pair[1])})
			c.Extra.StopRaw = "stop"
		case 16: // an End that lacks its reason
			c = provider.End("", provider.Usage{})
		case 17:
			opaque.Kind = "call's"
			c = provider.AttachTo(int(index), opaque)
		case 18:
			opaque.Kind = "own"
			c = provider.OpaquePart(opaque)
		case 19: // what lacks its content
			c = provider.Chunk{Kind: provider.ChunkKind(9 + pair[1]%5),
				Extra: &provider.Extra{Part: &provider.Part{Kind: provider.PartText}}}
		case 22: // as the zero chunk
			c = provider.Chunk{}
		case 23:
			c = provider.Chunk{Kind: provider.KindEnd + 1 + provider.ChunkKind(pair[1]/2)}
		}
		begun = begun && c.Kind != provider.KindReset || c.Kind == provider.KindStart
		chunks = append(chunks, c)
	}
	return chunks
}
