package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// The kinds of opaque data.
const (
	kindSignature = "thoughtSignature"  // of the part that it is attached to; alone: of an empty text
	kindPart      = "part"              // the original part, which is sent back instead
	kindGrounding = "groundingMetadata" // for the host: what the sources come from, and what a search wants shown
	kindMessage   = "finishMessage"     // for the host: why the answer ended
	kindToken     = "continuationToken" // the answer goes on when it is sent back
	kindFeedback  = "promptFeedback"    // for the host: why the prompt was rejected
)

// A decoder decodes the objects of one answer into chunks.
type decoder struct {
	adapter.Answer

	block int32              // index of the text block; a signature ends a block
	last  provider.ChunkKind // kind of the last part, if it is text that a signature can belong to
	calls int
	open  *openCall

	candidate bool // there was a candidate
	finish    string
	message   string
	token     string // of an answer that goes on
	feedback  feedback
	counts    usageCounts
	usage     json.RawMessage // the last one with figures
	evidence  evidence
}

// A feedback is the provider's answer to a prompt that it rejects.
type feedback struct {
	Reason string `json:"blockReason"`
	raw    string
}

// An openCall is a call whose arguments are being received.
type openCall struct {
	index int
	args  string // arguments that came whole
	root  node   // arguments that came in pieces
}

// errLeft stops the decoding after the consumer has stopped.
var errLeft = errors.New("gemini: the consumer left")

// read decodes a body. It returns nil if the answer ended, or d.Over is set.
func (d *decoder) read(body io.Reader) error {
	f := frames{each: d.event}
	err := f.read(body)
	var classed interface{ Fault() fault.Class }
	switch {
	case d.Over:
		return nil
	case err == nil:
		return d.end(f.whole)
	case errors.As(err, &classed):
		return err
	}
	return adapter.Broken(err)
}

// event decodes one object.
func (d *decoder) event(data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return garbled("an object has an unknown form", err)
	}
	if !adapter.IsNull(e.Error) {
		return d.errorIn(data)
	}
	d.Begin(e.ID, cmp.Or(e.Model, d.Model))
	if bytes.Contains(e.Usage, figure) && json.Unmarshal(e.Usage, &d.counts) == nil {
		d.usage = append(d.usage[:0], e.Usage...)
	}
	if !adapter.IsNull(e.Feedback) && json.Unmarshal(e.Feedback, &d.feedback) == nil {
		d.feedback.raw = adapter.Compact(e.Feedback)
		d.Metadata.Set("promptFeedback", e.Feedback)
	}
	d.Metadata.Set("modelStatus", json.RawMessage(e.Status))
	for i := range e.Candidates {
		if e.Candidates[i].Index == 0 {
			if err := d.take(&e.Candidates[i]); err != nil {
				return err
			}
		}
	}
	if d.Over {
		return errLeft
	}
	return nil
}

// take decodes the first candidate of an object.
func (d *decoder) take(c *candidate) error {
	d.candidate = true
	for _, raw := range c.Content.Parts {
		if err := d.part(raw); err != nil {
			return err
		}
	}
	if c.Finish != "" && c.Finish != "FINISH_REASON_UNSPECIFIED" {
		d.finish = c.Finish
	}
	d.message, d.token = cmp.Or(c.FinishMessage, d.message), cmp.Or(c.Continuation, d.token)
	d.evidence.add(c)
	d.Metadata.Set("safetyRatings", json.RawMessage(c.Safety))
	d.Metadata.Set("avgLogprobs", json.RawMessage(c.Average))
	d.Metadata.Add("logprobsResult", json.RawMessage(c.Logprobs))
	d.Metadata.Set("urlContextMetadata", c.URLs)
	return nil
}

func (d *decoder) part(raw json.RawMessage) error {
	var p part
	if err := json.Unmarshal(raw, &p); err != nil {
		return garbled("a part has an unknown form", err)
	}
	switch {
	case p.Call != nil:
		return d.call(p.Call, p.Signature)
	case p.Text != nil:
		d.text(&p)
	case p.Inline != nil && p.Thought: // a draft of an image; drafts are large, and not sent back
	case p.Inline != nil && len(p.Inline.Data) > 0:
		kind := cmp.Or(p.Inline.Type, http.DetectContentType(p.Inline.Data))
		d.whole(provider.File(provider.Media{Type: kind, Name: p.Inline.Name, Data: p.Inline.Data}), p.Signature)
	case p.File != nil && p.File.URI != "":
		d.whole(provider.File(provider.Media{Type: p.File.Type, URL: p.File.URI}), p.Signature)
	case p.Code != nil || p.CodeRan != nil || p.ToolCall != nil || p.ToolRan != nil:
		c := p.ranByProvider()
		c.Extra.Part.Opaque = &provider.Opaque{Provider: Name, Kind: kindPart, Data: adapter.Compact(raw)}
		d.whole(c, "")
	case unknown(raw):
		d.whole(provider.OpaquePart(provider.Opaque{Provider: Name, Kind: kindPart, Data: adapter.Compact(raw)}), "")
	case p.Signature != "":
		d.whole(provider.OpaquePart(signature(p.Signature)), "")
	}
	return nil
}

// unknown reports whether a part has fields that this package doesn't know.
func unknown(raw json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	for name, value := range fields {
		if name != "thought" && name != "thoughtSignature" && !adapter.IsNull(value) {
			return true
		}
	}
	return false
}

func signature(data string) provider.Opaque {
	return provider.Opaque{Provider: Name, Kind: kindSignature, Data: data}
}

// text yields a piece of text or of thoughts. A signature with an empty text belongs to the text
// before it.
func (d *decoder) text(p *part) {
	kind := provider.KindText
	if p.Thought {
		kind = provider.KindReasoning
	}
	if *p.Text != "" {
		d.Put(provider.Chunk{Kind: kind, Index: d.block, Text: *p.Text})
		d.last = kind
	}
	if p.Signature == "" {
		return
	}
	if d.last == kind {
		d.Put(provider.Attach(signature(p.Signature)))
	} else {
		d.Put(provider.OpaquePart(signature(p.Signature)))
	}
	d.block++ // the next text is another part, without this signature
	d.last = provider.KindNone
}

// whole yields a part that comes in one piece.
func (d *decoder) whole(c provider.Chunk, sign string) {
	d.Put(c)
	if sign != "" {
		d.Put(provider.Attach(signature(sign)))
	}
	d.last = provider.KindNone
}

// ranByProvider returns the chunk of a call that the provider ran, or of its result.
func (p *part) ranByProvider() provider.Chunk {
	const code = "code_execution"
	switch {
	case p.Code != nil:
		input := adapter.JSON(map[string]string{"language": p.Code.Language, "code": p.Code.Code})
		return provider.ProviderCall(provider.ToolCall{ID: p.Code.ID, Name: code, Input: input})
	case p.CodeRan != nil:
		return provider.ProviderResult(provider.ToolResult{CallID: p.CodeRan.ID, Name: code,
			Error: p.CodeRan.Outcome != "OUTCOME_OK",
			Parts: textParts(p.CodeRan.Output)})
	case p.ToolCall != nil:
		return provider.ProviderCall(provider.ToolCall{ID: p.ToolCall.ID, Name: p.ToolCall.Type,
			Input: input(p.ToolCall.Args)})
	}
	return provider.ProviderResult(provider.ToolResult{CallID: p.ToolRan.ID, Name: p.ToolRan.Type,
		Parts: textParts(string(input(p.ToolRan.Response)))})
}

func input(raw json.RawMessage) json.RawMessage {
	if adapter.IsNull(raw) {
		return nil
	}
	return json.RawMessage(adapter.Compact(raw))
}

func textParts(text string) []provider.Part {
	if text == "" {
		return nil
	}
	return []provider.Part{provider.TextPart(text)}
}

// call decodes a call, or continues the one that is open.
func (d *decoder) call(c *functionCall, sign string) error {
	d.last = provider.KindNone
	if c.Name != "" {
		if err := d.closeCall(); err != nil {
			return err
		}
		d.open = &openCall{index: d.calls}
		d.calls++
		d.Put(provider.ToolStart(d.open.index, c.ID, d.Names.Decode(c.Name)))
	}
	if d.open == nil {
		if !adapter.IsNull(c.Args) || len(c.Partial) > 0 {
			return garbled("there are arguments without a call", nil)
		}
		if sign != "" {
			d.Put(provider.OpaquePart(signature(sign)))
		}
		return nil
	}
	if !adapter.IsNull(c.Args) {
		d.open.args = adapter.Compact(c.Args)
	}
	for i := range c.Partial {
		if !d.open.root.add(&c.Partial[i]) {
			return garbled("a piece of arguments has an invalid path: "+c.Partial[i].Path, nil)
		}
	}
	if sign != "" {
		d.Put(provider.AttachTo(d.open.index, signature(sign)))
	}
	if !c.Continue {
		return d.closeCall()
	}
	return nil
}

// closeCall yields the arguments and the end of the open call, if there is one.
func (d *decoder) closeCall() error {
	o := d.open
	if o == nil {
		return nil
	}
	d.open = nil
	args := o.args
	if o.root.fields != nil {
		var ok bool
		if args, ok = o.root.joined(args); !ok {
			return garbled("the arguments of a call contradict each other", nil)
		}
	}
	if args != "" {
		d.Put(provider.ToolDelta(o.index, args))
	}
	d.Put(provider.ToolEnd(o.index))
	return nil
}

// end completes the answer if it is complete. whole says that the form of the body shows its end.
func (d *decoder) end(whole bool) error {
	blocked := d.feedback.Reason != "" && d.finish == ""
	switch {
	case d.finish != "" || blocked:
	case whole && d.calls > 0: // there may be more calls, or incomplete ones
		return provider.ErrIncomplete
	case whole && d.candidate:
	case whole:
		return garbled("it contains no candidate", nil)
	default:
		return provider.ErrIncomplete
	}
	if d.finish == "MALFORMED_FUNCTION_CALL" { // the next attempt usually works
		return &provider.Error{Class: fault.Degraded, Provider: Name, Status: http.StatusOK, Code: d.finish,
			Message: cmp.Or(d.message, "the model made a call that can't be read")}
	}
	stop := stopReason(d.finish, d.calls > 0)
	raw := d.finish
	if blocked {
		stop, raw = provider.StopFiltered, d.feedback.Reason
	}
	if d.open != nil && stop.RunsCalls() {
		stop = provider.StopError // a call with incomplete arguments must not run
	}
	if err := d.closeCall(); err != nil {
		return err
	}
	for _, s := range d.evidence.sources() {
		d.Put(provider.Cite(s))
	}
	d.opaque(kindGrounding, adapter.Compact(d.evidence.grounding))
	if stop == provider.StopError || stop == provider.StopFiltered {
		d.opaque(kindMessage, d.message)
		d.opaque(kindFeedback, d.feedback.raw)
	}
	d.opaque(kindToken, d.token)
	d.Metadata.Set("serviceTier", json.RawMessage(d.counts.Tier))
	d.Metadata.Set("trafficType", json.RawMessage(d.counts.Traffic))
	d.Put(adapter.Ended(stop, raw, d.counts.normal(d.usage)))
	return nil
}

// opaque yields opaque data that isn't sent back as a part.
func (d *decoder) opaque(kind, data string) {
	if data != "" {
		d.Put(provider.OpaquePart(provider.Opaque{Provider: Name, Kind: kind, Data: data}))
	}
}

// stopReason converts a finish reason. Unknown reasons count as errors.
func stopReason(finish string, calls bool) provider.StopReason {
	switch finish {
	case "":
		return provider.StopUnknown
	case "STOP":
		if calls {
			return provider.StopToolCalls
		}
		return provider.StopDone
	case "MAX_TOKENS":
		return provider.StopLength
	case "CONTINUATION":
		return provider.StopPaused
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return provider.StopFiltered
	}
	return provider.StopError // UNEXPECTED_TOOL_CALL, TOO_MANY_TOOL_CALLS, NO_IMAGE, OTHER …
}
