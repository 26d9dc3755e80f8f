package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// An event is one event of a stream, with the fields of all kinds.
type event struct {
	Type    string          `json:"type"`
	Index   adapter.Index   `json:"index"`
	Message *message        `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   delta           `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	metadata
}

// metadata has the members of an event, or of a whole answer, that aren't content. All but
// the first are of Bedrock's Converse.
type metadata struct {
	Context     adapter.Detail `json:"context_management"`
	Trace       adapter.Detail `json:"trace"`
	Tier        adapter.Detail `json:"serviceTier"`
	Performance adapter.Detail `json:"performanceConfig"`
	More        adapter.Detail `json:"additionalModelResponseFields"`
}

// A delta is a piece of a block, or the end of an answer.
type delta struct {
	Type      string          `json:"type"`
	Text      adapter.Text    `json:"text"`
	JSON      adapter.Text    `json:"partial_json"`
	Thinking  adapter.Text    `json:"thinking"`
	Signature string          `json:"signature"`
	Citation  json.RawMessage `json:"citation"`
	ending
}

// A message is a whole answer, or its start.
type message struct {
	Type    string            `json:"type"`
	ID      string            `json:"id"`
	Model   string            `json:"model"`
	Content []json.RawMessage `json:"content"`
	Usage   json.RawMessage   `json:"usage"`
	Error   json.RawMessage   `json:"error"`
	ending
	metadata
}

// An ending is the stop reason of an answer, and other fields of its end.
type ending struct {
	Stop        string          `json:"stop_reason"`
	Sequence    adapter.Detail  `json:"stop_sequence"`
	StopDetails json.RawMessage `json:"stop_details"`
	Container   json.RawMessage `json:"container"`
}

// A decoder decodes events into chunks. Its state grows with the number of blocks, and not with
// their content, except for open ones.
type decoder struct {
	adapter.Answer

	open  []*block
	ended map[int32]bool  // the numbers of the server whose blocks have ended
	began map[string]bool // the calls, by id and name
	count int32           // of the blocks
	last  *block          // whose part was written to last; nil: none of text or thinking
	end   ending
	usage tally
	calls map[string]string // names of the calls that the provider runs, by id
	ev    event
	whole int32 // number of blocks without an index

	started bool // there was the start of a message
	blocks  bool // a block began after it
	called  bool // there was a call, of the host's tools or of the provider's
}

// event decodes the next event. name is the event's name in the stream; the type in the data takes
// precedence.
func (d *decoder) event(name string, data []byte) error {
	if name == "ping" || len(data) == 0 {
		return nil
	}
	if name == "error" {
		return d.errorIn(data)
	}
	e := &d.ev
	*e = event{}
	if err := json.Unmarshal(sound(data), e); err != nil {
		return garbled("an event", err)
	}
	if e.Type == "" && !adapter.IsNull(e.Error) {
		return d.errorIn(data)
	}
	if e.Type == "" {
		e.Type = name
	}
	switch e.Type {
	case "content_block_delta":
		return d.delta(e, data)
	case "content_block_start":
		return d.startBlock(int32(e.Index), e.Block)
	case "content_block_stop":
		return d.stopBlock(int32(e.Index))
	case "message_start":
		if e.Message == nil {
			return garbled("message_start without a message", nil)
		}
		if d.started && d.blocks { // such as two attempts of a gateway in one stream
			return garbled("a second answer began before the end of the first", nil)
		}
		d.started, d.blocks = true, false
		d.mergeEnding(&e.Message.ending)
		d.usage.add(e.Message.Usage)
		d.Begin(e.Message.ID, cmp.Or(e.Message.Model, d.Model))
		for _, raw := range e.Message.Content { // usually none
			if err := d.wholeBlock(raw); err != nil {
				return err
			}
		}
	case "message_delta":
		d.mergeEnding(&e.Delta.ending)
		d.usage.add(e.Usage)
		d.addMetadata(&e.metadata)
	case "message_stop":
		return d.finish()
	case "error":
		return d.errorIn(data)
	}
	return nil // ignore unknown kinds
}

// message decodes an answer that came as one JSON object.
func (d *decoder) message(data []byte) error {
	var m message
	if err := json.Unmarshal(sound(data), &m); err != nil {
		return garbled("it isn't a message", err)
	}
	switch {
	case m.Type == "error" || m.Type == "" && !adapter.IsNull(m.Error):
		return d.errorIn(data)
	case m.Type != "message":
		return garbled("it isn't a message, but has the type "+quote(m.Type), nil)
	}
	d.mergeEnding(&m.ending)
	d.usage.add(m.Usage)
	d.addMetadata(&m.metadata)
	d.Begin(m.ID, cmp.Or(m.Model, d.Model))
	for _, raw := range m.Content {
		if err := d.wholeBlock(raw); err != nil {
			return err
		}
	}
	return d.finish()
}

// addMetadata keeps the metadata of an event.
func (d *decoder) addMetadata(b *metadata) {
	d.Metadata.Set("context_management", json.RawMessage(b.Context))
	d.Metadata.Set("trace", json.RawMessage(b.Trace))
	d.Metadata.Set("serviceTier", json.RawMessage(b.Tier))
	d.Metadata.Set("performanceConfig", json.RawMessage(b.Performance))
	d.Metadata.Set("additionalModelResponseFields", json.RawMessage(b.More))
}

// sound returns data as valid UTF-8, which is needed also for the parts that are kept raw.
func sound(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	return bytes.ToValidUTF8(data, []byte("\uFFFD"))
}

// mergeEnding adds the fields of an ending that are set.
func (d *decoder) mergeEnding(e *ending) {
	if e.Stop != "" {
		d.end.Stop = e.Stop
	}
	d.Metadata.Set("stop_sequence", json.RawMessage(e.Sequence))
	if !adapter.IsNull(e.StopDetails) {
		d.end.StopDetails = slices.Clone(e.StopDetails)
	}
	if !adapter.IsNull(e.Container) {
		d.end.Container = slices.Clone(e.Container)
	}
}

// finish yields the chunks that are only known at the end, and End. A block that wasn't closed
// counts as complete.
func (d *decoder) finish() error {
	d.Begin("", d.Model)
	for len(d.open) > 0 {
		if err := d.stopBlock(d.open[0].index); err != nil {
			return err
		}
	}
	if !adapter.IsNull(d.end.Container) {
		d.Put(opaque(kindContainer, d.end.Container))
		d.Metadata.Set("container", d.end.Container)
	}
	d.Metadata.Set("service_tier", d.usage["service_tier"])
	if !adapter.IsNull(d.end.StopDetails) {
		d.Put(opaque(kindStopDetails, d.end.StopDetails))
	}
	stop := stopReason(d.end.Stop)
	if stop == provider.StopToolCalls && !d.called && !d.Names.None() {
		return adapter.NoCalls(d.end.Stop)
	}
	d.Put(adapter.Ended(stop, d.end.Stop, d.usage.normal()))
	return nil
}

func stopReason(raw string) provider.StopReason {
	switch raw {
	case "end_turn", "stop_sequence":
		return provider.StopDone
	case "tool_use":
		return provider.StopToolCalls
	case "max_tokens", "model_context_window_exceeded":
		return provider.StopLength
	case "pause_turn", "compaction":
		return provider.StopPaused
	case "refusal", "guardrail_intervened", "content_filtered": // the last two are of Bedrock
		return provider.StopFiltered
	case "malformed_model_output", "malformed_tool_use": // of Bedrock
		return provider.StopError
	}
	return provider.StopUnknown
}

// The kinds of opaque data that aren't types of blocks.
const (
	kindSignature   = "signature"    // of a thinking block
	kindCitations   = "citations"    // of a text block: a JSON array
	kindFields      = "tool_use"     // of a call: a JSON object with its other fields, such as caller
	kindCaller      = "caller"       // of a call of older versions: its caller
	kindContainer   = "container"    // where the provider ran code
	kindStopDetails = "stop_details" // why the answer was refused
	kindRedacted    = "redacted_thinking"
)

// opaque returns data as a part of its own.
func opaque(kind string, data json.RawMessage) provider.Chunk {
	return provider.OpaquePart(sealed(kind, string(data)))
}

func sealed(kind, data string) provider.Opaque {
	return provider.Opaque{Provider: Name, Kind: kind, Data: data}
}
