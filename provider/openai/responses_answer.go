package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A responsesDecoder decodes an answer of the Responses API, the events of a stream or one object,
// into chunks.
//
// An answer is complete with response.completed or response.incomplete. Pieces that are missing are
// taken from the finished item, and an item without events is taken from the response itself.
type responsesDecoder struct {
	*answer
	ev      responsesEvent // reused for every event
	items   []*outputItem  // in the order in which they were seen
	last    *outputItem    // the last item with text
	called  bool
	refused bool

	cutShort bool // the response says that it is incomplete
}

func (d *responsesDecoder) marker() { d.cut(nil) }

func (d *responsesDecoder) eof() { d.cut(nil) }

// whole decodes an answer that is one JSON object.
func (d *responsesDecoder) whole(data []byte) { d.finish(data, "") }

// event decodes one event of a stream.
func (d *responsesDecoder) event(data []byte, isErr bool) {
	ev := &d.ev
	*ev = responsesEvent{Item: ev.Item[:0], Response: ev.Response[:0]}
	if err := decode(data, ev); err != nil {
		d.cut(err)
		return
	}
	switch ev.Type {
	case "response.output_text.delta":
		d.write(provider.KindText, string(ev.Delta))
	case "response.refusal.delta":
		d.refused = true
		d.write(provider.KindRefusal, string(ev.Delta))
	case "response.reasoning_summary_text.delta":
		d.think(d.at(ev), summaryThought, string(ev.Delta))
	case "response.reasoning_text.delta":
		d.think(d.at(ev), rawThought, string(ev.Delta))
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		d.argue(d.at(ev), string(ev.Delta))
	case "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		d.finishArgs(d.at(ev), string(ev.Arguments)+string(ev.Input))
	case "response.output_item.added":
		d.added(d.of(ev.Item), ev.Item)
	case "response.output_item.done":
		d.itemDone(d.of(ev.Item), ev.Item)
	case "response.created", "response.in_progress", "response.queued":
		var r response
		if decode(ev.Response, &r) == nil && (r.ID != "" || r.Model != "") {
			d.Begin(r.ID, r.Model)
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		d.finish(ev.Response, strings.TrimPrefix(ev.Type, "response."))
	default:
		if ev.Type == "error" || isErr || ev.Type == "" && isSet(ev.Error) {
			d.broken(d.errorInAnswer(ev.Error, data))
		}
	}
}

// added starts an item.
func (d *responsesDecoder) added(it *outputItem, raw json.RawMessage) {
	if it.kind != "" || decode(raw, &it.item) != nil {
		return
	}
	it.kind = it.item.Type
	if it.isCall() {
		d.call(it)
	}
}

func (it *outputItem) isCall() bool {
	return it.kind == "function_call" || it.kind == "custom_tool_call"
}

// call starts a call, once its name is known.
func (d *responsesDecoder) call(it *outputItem) {
	if it.open || it.done || it.item.Name == "" {
		return
	}
	it.open, it.custom, d.called, d.last = true, it.kind == "custom_tool_call", true, it
	d.Put(provider.ToolStart(it.index, it.item.CallID, d.Names.Decode(it.item.Name)))
	if it.custom {
		d.Put(provider.ToolDelta(it.index, `"`))
	}
}

// argue yields a piece of the input of a call. Pieces before the name are yielded at the end of the
// item.
func (d *responsesDecoder) argue(it *outputItem, text string) {
	if text == "" {
		return
	}
	if !it.open {
		it.pending = true
		return
	}
	it.sent.add(text)
	if it.custom {
		text = quoted(text)
	}
	d.last = it
	d.Put(provider.ToolDelta(it.index, text))
}

// finishArgs completes the input of a call. The call ends with its item.
func (d *responsesDecoder) finishArgs(it *outputItem, whole string) {
	if !it.open {
		it.pending = it.pending || !it.done
		return
	}
	d.argueRest(it, whole)
	it.argsDone = true
}

// argueRest yields what is missing of the input of a call.
func (d *responsesDecoder) argueRest(it *outputItem, whole string) {
	rest, ok := it.sent.rest(whole)
	if !ok {
		d.contradicted()
		return
	}
	d.argue(it, rest)
}

// cutOff reports whether a call is incomplete.
func (it *outputItem) cutOff() bool {
	if it.open {
		return !it.argsDone
	}
	return !it.done && (it.pending || it.isCall() || clientItems[it.kind].tool != "")
}

// itemDone completes an item: it yields what didn't come in pieces, and the opaque data to send
// back.
func (d *responsesDecoder) itemDone(it *outputItem, raw json.RawMessage) {
	var item responsesItem
	if decode(raw, &item) != nil {
		return
	}
	if it.done {
		if it.differs(&item, raw) {
			d.contradicted()
		}
		return
	}
	if item.Type == "" && it.kind == "" {
		return // the response has it, too
	}
	it.item, it.kind = item, cmp.Or(item.Type, it.kind)
	switch it.kind {
	case "message":
		d.messageDone(it)
	case "reasoning":
		d.reasoningDone(it, raw)
	case "function_call", "custom_tool_call":
		d.callDone(it, raw)
	default:
		d.itemOfServer(it, raw)
	}
	it.done = true
}

// differs reports whether a call that has ended already has another input at its second end.
func (it *outputItem) differs(item *responsesItem, raw json.RawMessage) bool {
	if a, ok := clientItems[it.kind]; ok && it.asked != "" {
		again := a.inputOf(raw)
		return again != "{}" && !agreeing(again, it.asked)
	}
	if !it.isCall() {
		return false
	}
	rest, ok := it.sent.rest(string(item.Arguments) + string(item.Input))
	return !ok || rest != ""
}

func (d *responsesDecoder) callDone(it *outputItem, raw json.RawMessage) {
	d.call(it)
	if !it.open {
		d.fail(&provider.Error{Class: fault.Transient, Status: 200,
			Message: "the server sent a tool call without a name"})
		return
	}
	whole := string(it.item.Arguments)
	if it.custom {
		whole = string(it.item.Input)
	}
	d.argueRest(it, whole)
	if d.Over {
		return
	}
	d.callEnd(it)
	kind := kindCall
	if it.custom {
		kind = kindCustomCall
	}
	d.Put(provider.AttachTo(it.index, d.opaque(kind, string(adapter.JSON(otherFields(raw))))))
}

func (d *responsesDecoder) callEnd(it *outputItem) {
	if it.custom {
		d.Put(provider.ToolDelta(it.index, `"`))
	}
	it.open = false
	d.Put(provider.ToolEnd(it.index))
}

// finish decodes the response as a whole, which is the end of a stream. status replaces a missing
// one.
func (d *responsesDecoder) finish(data []byte, status string) {
	if !isSet(data) {
		d.cut(nil)
		return
	}
	var r response
	if err := decode(data, &r); err != nil {
		d.cut(err)
		return
	}
	if isSet(r.Error) {
		d.broken(d.errorInAnswer(r.Error, data))
		return
	}
	r.Status = cmp.Or(r.Status, status)
	if r.Status == "" && r.Output == nil {
		d.cut(nil)
		return
	}
	d.Begin(r.ID, r.Model)
	d.cutShort = r.Status == "incomplete"
	for i, raw := range r.Output {
		d.itemDone(d.inOutput(i, raw), raw)
	}
	if d.Over {
		return
	}
	for _, it := range d.items { // items whose end wasn't sent and that aren't in the response
		if r.Status != "incomplete" && r.Status != "failed" && r.Status != "cancelled" && it.cutOff() {
			d.cut(nil)
			return
		}
		if it.open {
			d.callEnd(it)
		}
	}
	stop, raw := provider.StopUnknown, r.Status
	switch r.Status {
	case "completed":
		switch {
		case d.refused:
			stop = provider.StopFiltered
		case d.called:
			stop = provider.StopToolCalls
		default:
			stop = provider.StopDone
		}
	case "incomplete":
		stop = provider.StopLength // also for unknown reasons: the answer was cut
		if r.Incomplete.Reason != "" {
			raw += ":" + r.Incomplete.Reason
		}
		if strings.Contains(r.Incomplete.Reason, "filter") {
			stop = provider.StopFiltered
		}
	case "failed", "cancelled":
		d.broken(&provider.Error{Class: fault.Degraded, Status: 200, Code: r.Status,
			Message: "the server says that the answer is " + r.Status})
		return
	case "queued", "in_progress":
		d.cut(nil)
		return
	}
	d.addMetadata(&r.responsesMetadata)
	d.Put(adapter.Ended(stop, raw, responsesUsage(r.Usage)))
}

// broken yields an error, and before it the calls that the server was running, because they may
// have had effects.
func (d *responsesDecoder) broken(err error) {
	for _, it := range d.items {
		if !it.done && ranByServer[it.kind] {
			d.Put(provider.ProviderCall(provider.ToolCall{ID: it.item.ID, Name: it.kind, Input: it.item.input()}))
		}
	}
	d.fail(err)
}
