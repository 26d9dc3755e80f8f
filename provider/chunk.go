package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// A ChunkKind says what a [Chunk] is.
type ChunkKind uint8

// The kinds of chunks; the package comment has their grammar.
const (
	KindNone           ChunkKind = iota
	KindWaiting                  // the call waits: Extra.Wait
	KindStart                    // the answer begins: ID of the response, Name of the model, perhaps Extra.RateLimits
	KindText                     // Text
	KindReasoning                // Text
	KindRefusal                  // Text
	KindToolStart                // Index, ID, Name
	KindToolDelta                // Index, Text: a piece of the arguments
	KindToolEnd                  // Index
	KindProviderCall             // Extra.Part: a call that the provider ran itself
	KindProviderResult           // Extra.Part
	KindSource                   // Extra.Part
	KindFile                     // Extra.Part: media made by the model
	KindOpaque                   // Extra.Part.Opaque: see Attach, AttachTo and OpaquePart
	KindReset                    // voids everything since the first Start; Text says why
	KindEnd                      // the answer is complete: Extra.Stop, Extra.Usage (nil: not reported), Extra.Details
)

var chunkKinds = [...]string{"none", "waiting", "start", "text", "reasoning", "refusal", "tool_start", "tool_delta",
	"tool_end",
	"provider_call", "provider_result", "source", "file", "opaque", "reset", "end"}

// String returns the kind's name in JSON, for example "tool_delta".
func (k ChunkKind) String() string {
	if int(k) < len(chunkKinds) {
		return chunkKinds[k]
	}
	return fmt.Sprintf("ChunkKind(%d)", uint8(k))
}

// MarshalText returns [ChunkKind.String].
func (k ChunkKind) MarshalText() ([]byte, error) {
	if int(k) >= len(chunkKinds) {
		return nil, fmt.Errorf("provider: unknown chunk kind %d", uint8(k))
	}
	return []byte(chunkKinds[k]), nil
}

// UnmarshalText reads what MarshalText wrote.
func (k *ChunkKind) UnmarshalText(text []byte) error {
	for i, name := range chunkKinds {
		if name == string(text) {
			*k = ChunkKind(i)
			return nil
		}
	}
	return fmt.Errorf("provider: unknown chunk kind %q", text)
}

// A Chunk is one piece of an answer. It is 64 bytes, passed by value; rare fields are in Extra.
type Chunk struct {
	Kind ChunkKind `json:"kind"`
	// Index identifies a call within an answer, for the tool kinds. For text, reasoning and
	// refusals it may number the blocks of an answer: a new number begins a new part, and the
	// number of a block before, with nothing but such blocks since, continues that block's part.
	Index int32  `json:"index,omitempty"`
	Text  string `json:"text,omitempty"`
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Extra *Extra `json:"extra,omitempty"`
}

// Extra has the fields that only some chunks have.
type Extra struct {
	Part    *Part      `json:"part,omitempty"`
	Usage   *Usage     `json:"usage,omitempty"`
	Stop    StopReason `json:"stop,omitempty"`
	StopRaw string     `json:"stop_raw,omitempty"` // the provider's term
	// Details are those of the [Response]. Only for End.
	Details map[string]json.RawMessage `json:"details,omitempty"`
	Wait    *Wait                      `json:"wait,omitempty"`
	// RateLimits are the answer's headers about the remaining rate; see [RateLimits]. Only for
	// Start.
	RateLimits http.Header `json:"rate_limits,omitempty"`
}

// Wait says why a call waits.
type Wait struct {
	Reason WaitReason `json:"reason"`
	// Until is when the wait ends; zero if that isn't known.
	Until   time.Time `json:"until,omitzero"`
	Detail  string    `json:"detail,omitempty"`  // for a person
	Attempt int       `json:"attempt,omitempty"` // the attempt that follows, when backing off; the first is 1
}

// A WaitReason is the reason why a call waits.
type WaitReason string

// The reasons for waiting.
const (
	WaitQueued      WaitReason = "queued"       // every slot is taken
	WaitRateLimited WaitReason = "rate_limited" // the provider asked for a pause
	WaitBackingOff  WaitReason = "backing_off"  // a failed attempt is made again
	WaitPreempted   WaitReason = "preempted"    // gave its slot to a person's request
	WaitBudget      WaitReason = "budget"       // reservations of others have to be settled
	WaitBackground  WaitReason = "background"   // the provider makes the answer while nobody is connected
)

// A StopReason says why an answer ended: StopDone, StopLength, StopToolCalls, StopFiltered,
// StopPaused, StopError or StopUnknown.
type StopReason string

// The stop reasons.
const (
	StopDone      StopReason = "done"       // the model finished its answer
	StopLength    StopReason = "length"     // cut at the output limit or the context window
	StopToolCalls StopReason = "tool_calls" // the model waits for results
	StopFiltered  StopReason = "filtered"   // cut by a content filter, or a refusal
	StopPaused    StopReason = "paused"     // the provider asks to be called again with this answer
	StopError     StopReason = "error"      // the provider reports that the answer failed
	StopUnknown   StopReason = "unknown"    // ended normally, without a reason
)

// RunsCalls reports whether the tool calls of an answer with this stop reason may be run: after
// done, tool_calls and unknown. The calls of an answer that was cut are never run.
func (s StopReason) RunsCalls() bool {
	return s == StopDone || s == StopToolCalls || s == StopUnknown
}

// Start returns the chunk that begins an answer.
func Start(model string) Chunk { return Chunk{Kind: KindStart, Name: model} }

// Text returns a piece of text.
func Text(s string) Chunk { return Chunk{Kind: KindText, Text: s} }

// Reasoning returns a piece of the model's reasoning.
func Reasoning(s string) Chunk { return Chunk{Kind: KindReasoning, Text: s} }

// Refusal returns a piece of a refusal.
func Refusal(s string) Chunk { return Chunk{Kind: KindRefusal, Text: s} }

// ToolStart begins a tool call. The index identifies it within the answer; id is the provider's,
// unchanged.
func ToolStart(index int, id, name string) Chunk {
	return Chunk{Kind: KindToolStart, Index: int32(index), ID: id, Name: name}
}

// ToolDelta returns a piece of the arguments of the call with that index.
func ToolDelta(index int, arguments string) Chunk {
	return Chunk{Kind: KindToolDelta, Index: int32(index), Text: arguments}
}

// ToolEnd says that the call with that index is complete.
func ToolEnd(index int) Chunk { return Chunk{Kind: KindToolEnd, Index: int32(index)} }

// ProviderCall reports a call that the provider runs itself.
func ProviderCall(call ToolCall) Chunk {
	return Chunk{Kind: KindProviderCall, Extra: &Extra{Part: &Part{Kind: PartProviderCall, Call: &call}}}
}

// ProviderResult reports the result of a call that the provider ran itself.
func ProviderResult(r ToolResult) Chunk {
	return Chunk{Kind: KindProviderResult, Extra: &Extra{Part: &Part{Kind: PartProviderResult, Result: &r}}}
}

// Cite reports a source of the answer.
func Cite(s Source) Chunk {
	return Chunk{Kind: KindSource, Extra: &Extra{Part: &Part{Kind: PartSource, Source: &s}}}
}

// File reports media that the model made.
func File(m Media) Chunk {
	return Chunk{Kind: KindFile, Extra: &Extra{Part: &Part{Kind: PartMedia, Media: &m}}}
}

// lastPart and ownPart are the Index of an opaque chunk that isn't for a call.
const (
	lastPart = -1
	ownPart  = -2
)

// Attach attaches opaque data to the part that the answer added to last; if there is none, it
// becomes a part of its own.
func Attach(o Opaque) Chunk { return opaqueChunk(lastPart, o) }

// AttachTo attaches opaque data to the tool call with the given index.
func AttachTo(index int, o Opaque) Chunk { return opaqueChunk(int32(index), o) }

// OpaquePart adds opaque data as a part of its own.
func OpaquePart(o Opaque) Chunk { return opaqueChunk(ownPart, o) }

// Waiting says that the call waits. until may be zero.
func Waiting(w Wait) Chunk { return Chunk{Kind: KindWaiting, Extra: &Extra{Wait: &w}} }

// Reset voids everything since the first Start: the answer is made again.
func Reset(why string) Chunk { return Chunk{Kind: KindReset, Text: why} }

// End completes an answer.
func End(stop StopReason, usage Usage) Chunk {
	return Chunk{Kind: KindEnd, Extra: &Extra{Stop: stop, Usage: &usage}}
}

// EndUnmetered completes an answer of which the provider hasn't reported the usage. Those who count
// tokens estimate it.
func EndUnmetered(stop StopReason) Chunk { return Chunk{Kind: KindEnd, Extra: &Extra{Stop: stop}} }

func opaqueChunk(index int32, o Opaque) Chunk {
	return Chunk{Kind: KindOpaque, Index: index, Extra: &Extra{Part: &Part{Kind: PartOpaque, Opaque: &o}}}
}
