package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A chatDecoder decodes an answer of Chat Completions, a stream or one object, into chunks.
//
// What an answer is, is decided from everything that was seen of it:
//
//	an event, a choice or a body that is an error, in any known form   an error
//	an event without choices that has a message, and no reason         an error
//	a reason that says that the server failed, also its upstream's     an error
//	a reason that announces calls, and no call                         an error
//	a call that is incomplete or has no name                           an error
//	a reason                                                           an answer
//	no reason, but [DONE] after text                                   an answer whose Stop is unknown
//	anything else                                                      cut
//
// Only the first choice counts, except that one without the calls that it announces gets those of
// the next choice that has any. Usage is cumulative: the last figures count.
type chatDecoder struct {
	*answer
	ev chatEvent // reused for every event

	calls    []*chatCall
	others   []chatCallDelta // pieces of calls in the first other choice that has any
	other    int             // its index
	finish   string          // the last reason
	native   string          // the last one of the server's upstream
	ended    bool            // the answer is complete
	refused  bool
	spoke    bool  // there was a delta with content
	said     bool  // there was text or media
	ruler    ruler // of the text so far
	usage    []byte
	groq     []byte // usage in Groq's own field
	sources  []byte // the last ones of Perplexity
	cited    []byte
	thinking string // the field with the reasoning; other fields repeat it
	details  details
	hint     *provider.Error // what an event without choices said, which may have been an error
	audio    chatSpeech
}

// event decodes one event of a stream.
func (d *chatDecoder) event(data []byte, isErr bool) { d.take(data, isErr, false) }

// whole decodes an answer that is one JSON object.
func (d *chatDecoder) whole(data []byte) {
	d.take(data, false, true)
	if d.Over {
		return
	}
	d.marker()
}

func (d *chatDecoder) marker() {
	if !d.ended && (!d.said || d.broken() || d.hint != nil) {
		d.cutShort()
		return
	}
	d.complete()
}

func (d *chatDecoder) eof() {
	if !d.ended {
		d.cutShort()
		return
	}
	d.complete()
}

// cutShort ends an answer that isn't complete, with what the server said beside it, if it did.
func (d *chatDecoder) cutShort() {
	if d.hint != nil {
		d.fail(d.hint)
		return
	}
	d.cut(nil)
}

// take decodes an event, or a whole answer.
func (d *chatDecoder) take(data []byte, isErr, whole bool) {
	ev := &d.ev
	clear(ev.Choices[:cap(ev.Choices)]) // otherwise the values of the last event would stay
	ev.reset()
	*ev = chatEvent{Choices: ev.Choices[:0], Usage: ev.Usage[:0], chatMetadata: ev.chatMetadata}
	if err := decode(data, ev); err != nil {
		d.cut(err)
		return
	}
	certain := saysError(ev.Error) || isErr
	if !certain && len(ev.Choices) == 0 {
		f := adapter.ParseFailure(data)
		if certain = f.Certain(); !certain && f.Says() && d.hint == nil {
			d.hint = d.errorInAnswer(nil, data)
		}
	}
	if certain {
		d.fail(d.errorInAnswer(ev.Error, data))
		return
	}
	if len(ev.Choices) > 0 && saysError(ev.Choices[0].Error) {
		d.fail(d.errorInAnswer(ev.Choices[0].Error, data))
		return
	}
	if ev.ID != "" || ev.Model != "" || len(ev.Choices) > 0 {
		d.Begin(ev.ID, ev.Model)
	}
	for i := range ev.Choices {
		c := &ev.Choices[i]
		index := c.Index.or(0)
		if index == 0 {
			d.delta(&c.Delta, whole)
			if whole || !d.spoke && c.FinishReason != "" { // Perplexity repeats the deltas here
				d.delta(&c.Message, true)
			}
			if c.FinishReason != "" {
				d.finish, d.ended = c.FinishReason, true
			}
			d.native = cmp.Or(string(c.NativeFinish), d.native)
			d.Metadata.Add("logprobs", json.RawMessage(c.Logprobs))
			d.Metadata.Set("content_filter_results", json.RawMessage(c.Filter))
			continue
		}
		for _, calls := range [][]chatCallDelta{c.Delta.ToolCalls, c.Message.ToolCalls} {
			if len(calls) > 0 && (d.other == 0 || d.other == index) {
				d.others, d.other = append(d.others, calls...), index
			}
		}
	}
	keep(&d.usage, ev.Usage)
	if ev.XGroq != nil {
		keep(&d.groq, ev.XGroq.Usage)
		if ev.XGroq.Error != "" {
			d.fail(&provider.Error{Class: fault.Degraded, Status: 200, Message: ev.XGroq.Error})
		}
	}
	d.addMetadata(&ev.chatMetadata)
	keep(&d.sources, ev.SearchResults)
	keep(&d.cited, ev.Citations)
}

// delta decodes a piece of a message, or a whole one.
func (d *chatDecoder) delta(m *chatDelta, whole bool) {
	for _, raw := range m.ReasoningDetails {
		d.details.add(raw)
	}
	d.reason("reasoning_content", string(m.ReasoningContent))
	d.reason("reasoning", string(m.Reasoning))
	for _, raw := range m.ReasoningDetails {
		d.reason("reasoning_details", detailText(raw))
	}
	d.content(&m.Content)
	if m.Refusal != "" {
		d.refused, d.spoke, d.said = true, true, true
		d.text(provider.KindRefusal, string(m.Refusal))
	}
	for i := range m.ToolCalls {
		d.call(&m.ToolCalls[i], whole)
	}
	if f := m.FunctionCall; f != nil && (f.Name != "" || f.Arguments != "") {
		d.call(&chatCallDelta{Index: optional{set: true, n: -2}, Function: *f}, false)
	}
	for i := range m.Annotations {
		d.cite(&m.Annotations[i], string(m.Content.text), whole)
	}
	for i := range m.Images {
		if media, ok := dataURL(m.Images[i].ImageURL.URL); ok {
			d.said = true
			d.Put(provider.File(media))
		}
	}
	if m.Audio != nil {
		d.said = true
		d.text(provider.KindText, m.Audio.Transcript)
		d.audio.add(m.Audio)
	}
}

// reason yields reasoning. The first field that has any counts.
func (d *chatDecoder) reason(field, text string) {
	if text == "" || d.thinking != "" && d.thinking != field {
		return
	}
	first := d.thinking == ""
	d.thinking, d.spoke = field, true
	d.text(provider.KindReasoning, text)
	if first && field != "reasoning_details" {
		d.Put(provider.Attach(d.opaque(kindReasoningField, field)))
	}
}

// content yields the text of a message, and the reasoning that some servers put into it.
func (d *chatDecoder) content(c *content) {
	d.say(c.text)
	for i := range c.parts {
		p := &c.parts[i]
		switch {
		case p.Type == "thinking":
			d.reason("thinking", p.Thinking.String())
		case p.Refusal != "":
			d.refused, d.said = true, true
			d.text(provider.KindRefusal, string(p.Refusal))
		case p.ImageURL.URL != "":
			if media, ok := dataURL(p.ImageURL.URL); ok {
				d.said = true
				d.Put(provider.File(media))
			}
		default:
			d.say(string(p.Text))
		}
	}
}

func (d *chatDecoder) say(text string) {
	if text == "" {
		return
	}
	d.spoke, d.said = true, true
	d.text(provider.KindText, text)
	d.ruler.add(text)
}

// complete yields the chunks that are only known at the end, and End.
func (d *chatDecoder) complete() {
	stop := d.stop()
	if stop == provider.StopToolCalls && len(d.calls) == 0 {
		for i := range d.others {
			d.call(&d.others[i], false)
		}
	}
	for i, c := range d.calls {
		if c.held {
			d.release(i)
			continue
		}
		if !c.started {
			if c.id == "" && strings.TrimSpace(c.args) == "" {
				continue
			}
			d.fail(&provider.Error{Class: fault.Transient, Status: 200,
				Message: "the server sent a tool call without a name"})
			return
		}
		d.endCall(i)
	}
	if media, id, ok := d.audio.file(); ok {
		file := provider.File(media)
		if id != "" {
			o := d.opaque(kindAudio, id)
			file.Extra.Part.Opaque = &o
		}
		d.Put(file)
	}
	if data := d.details.json(); data != "" && !(d.thinking == "reasoning_content" && d.details.readable()) {
		d.Put(provider.OpaquePart(d.opaque(kindReasoningDetails, data)))
	}
	d.searched()
	usage := d.usage
	if len(usage) == 0 {
		usage = d.groq
	}
	switch {
	case stop == provider.StopError:
		reason := d.finish
		if !failedReason(reason) {
			reason = d.native
		}
		d.fail(&provider.Error{Class: fault.Degraded, Status: 200, Code: reason,
			Message: "the server says that it couldn't finish the answer"})
		return
	case stop == provider.StopToolCalls && !d.called() && !d.Names.None():
		d.fail(adapter.NoCalls(d.finish))
		return
	}
	d.Put(adapter.Ended(stop, d.finish, chatUsage(usage)))
}

// failedReason reports whether a finish reason says that a server couldn't finish the answer.
func failedReason(reason string) bool {
	switch strings.ToLower(reason) {
	case "error", "insufficient_system_resource", "network_error", "server_error", "malformed_function_call", "abort":
		return true
	}
	return false
}

// stop returns the stop reason. That of the upstream counts only if it makes an answer incomplete
// that otherwise counts as complete.
func (d *chatDecoder) stop() provider.StopReason {
	stop := d.ownStop()
	if (stop == provider.StopDone || stop.RunsCalls() || stop == provider.StopUnknown) && failedReason(d.native) {
		return provider.StopError
	}
	return stop
}

func (d *chatDecoder) ownStop() provider.StopReason {
	if failedReason(d.finish) {
		return provider.StopError
	}
	switch strings.ToLower(d.finish) {
	case "stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed":
		switch {
		case d.refused:
			return provider.StopFiltered
		case d.called():
			return provider.StopToolCalls
		}
		return provider.StopDone
	case "tool_calls", "function_call", "tool_use":
		return provider.StopToolCalls
	case "length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded":
		return provider.StopLength
	case "content_filter", "safety", "refusal", "sensitive":
		return provider.StopFiltered
	}
	return provider.StopUnknown
}

// keep copies a JSON value over the one before, unless it is empty or null.
func keep(to *[]byte, raw json.RawMessage) {
	if isSet(raw) {
		*to = append((*to)[:0], raw...)
	}
}

// isSet reports whether a JSON value is present and not null.
func isSet(raw json.RawMessage) bool { return !adapter.IsNull(raw) }

// quoted returns text as the inside of a JSON string.
func quoted(text string) string {
	raw := adapter.JSON(text)
	return string(raw[1 : len(raw)-1])
}
