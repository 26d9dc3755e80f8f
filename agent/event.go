package agent

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
)

// An Event reports what a run does. There are two kinds. A [Fact] is stored and numbered before
// anyone sees it. A note ([TextDelta], [ReasoningDelta], [CallBegun], [CallDelta], [PartAdded],
// [Waiting], [Progress], [Reset], [BreakerOpen], [Escalated], [MemoryWarning], [SourceFailed],
// [UnknownPrice], [Shown], [Lagged]) is shown once and not kept. Events are pointers to these
// types, and are never changed after they are shown. [MarshalEvent] returns an event as JSON.
type Event interface {
	// Envelope returns what all events have in common.
	Envelope() Meta
}

// TextDelta is a piece of text, or of a refusal. A [Reset] withdraws the pieces of its model call.
//
// Index says which part of the reply it belongs to, here and in the notes that follow: the index in
// [Replied].Message.Parts, unless a hook changes the reply.
type TextDelta struct {
	NoteMeta
	Index int    `json:"index"`
	Text  string `json:"text"`
}

// ReasoningDelta is a piece of the model's reasoning.
type ReasoningDelta struct {
	NoteMeta
	Index int    `json:"index"`
	Text  string `json:"text"`
}

// CallBegun says that the model has begun to write a tool call, which its envelope names. Its
// arguments follow; whether it runs is decided when the reply is complete.
type CallBegun struct {
	NoteMeta
	Index int    `json:"index"`
	Name  string `json:"name"`
}

// CallDelta is a piece of the arguments of the call that its envelope names.
type CallDelta struct {
	NoteMeta
	Index int    `json:"index"`
	Text  string `json:"text"`
}

// PartAdded is a part of the reply that comes whole: a call that the provider runs itself
// ([provider.PartProviderCall]), its result, a source, or a file.
type PartAdded struct {
	NoteMeta
	Index int            `json:"index"`
	Part  *provider.Part `json:"part"`
}

// Waiting says why a call waits, and until when if that is known. If the envelope names a tool
// call, that call is retried later. Otherwise it is the model call, which is queued, rate limited,
// backing off, or waiting for budget.
type Waiting struct {
	NoteMeta
	provider.Wait
}

// Reset withdraws what the current model call has shown so far, because the call is made again.
type Reset struct {
	NoteMeta
	Why string `json:"why"`
}

// BreakerOpen says that a tool call doesn't run because the breaker of its tool or resource is
// open. The result of the call follows.
type BreakerOpen struct {
	NoteMeta
	Tool string `json:"tool"`
	// when the breaker lets another call pass; zero if that depends on a call in progress
	Until time.Time          `json:"until,omitzero"`
	Err   *circuit.OpenError `json:"-"`
}

// UnknownPrice says that the run has a limit of cost, and that the price of the model isn't known,
// so that its calls don't count towards that limit: it is the default limit, or
// Limits.AllowUnknownPrices is set. It is shown before the first reply of such a model.
type UnknownPrice struct {
	NoteMeta
	Model string `json:"model,omitempty"` // empty for the provider's default
}

// Progress is what a running tool reports.
type Progress struct {
	NoteMeta
	Tool string  `json:"tool"`
	Text string  `json:"text,omitempty"`
	Done float64 `json:"done,omitempty"` // from 0 to 1; 0 if unknown
}

// Lagged says that a reader was too slow, and that the given number of notes were left out. It must
// discard what it has of the reply in progress. All facts follow, and then the reply so far, as one
// note for each part. Only readers of package agent/live get it.
type Lagged struct {
	NoteMeta
	Notes int `json:"notes"`
}

// noteTypes are the types of notes by their kind in JSON. A fact has the kind that it has in a
// journal.
//
// Front ends choose by type what they show, and leave out the notes that they don't know: show.go
// of agent/terminal, chatmap.go and aguimap.go of agent/serve, view.go of its page and of
// agent/acp, and partial.go of agent/live, for readers that come later. publicEvent of agent/serve
// passes on to users what it doesn't know.
var noteTypes = map[string]reflect.Type{
	"text_delta":      reflect.TypeFor[TextDelta](),
	"reasoning_delta": reflect.TypeFor[ReasoningDelta](),
	"call_begun":      reflect.TypeFor[CallBegun](),
	"call_delta":      reflect.TypeFor[CallDelta](),
	"part_added":      reflect.TypeFor[PartAdded](),
	"waiting":         reflect.TypeFor[Waiting](),
	"progress":        reflect.TypeFor[Progress](),
	"reset":           reflect.TypeFor[Reset](),
	"breaker_open":    reflect.TypeFor[BreakerOpen](),
	"escalated":       reflect.TypeFor[Escalated](),
	"memory_warning":  reflect.TypeFor[MemoryWarning](),
	"source_failed":   reflect.TypeFor[SourceFailed](),
	"unknown_price":   reflect.TypeFor[UnknownPrice](),
	"shown":           reflect.TypeFor[Shown](),
	"lagged":          reflect.TypeFor[Lagged](),
}

// noteKinds are the kinds of the pointers to these types.
var noteKinds = make(map[reflect.Type]string)

func init() {
	for kind, t := range noteTypes {
		noteKinds[reflect.PointerTo(t)] = kind
	}
}

// A noteForm is the JSON form of a note. A fact has that of [history.Line], which has the same
// members and two more.
type noteForm struct {
	V       int    `json:"v"`
	Kind    string `json:"kind"`
	Session string `json:"session"`
	Data    Event  `json:"data"`
}

// MarshalEvent returns an event as a JSON object:
//
//	{"v": 2, "kind": "text_delta", "session": "s-1", "data": {"run": "r-1", "step": 1, "index": 0, "text": "Hel"}}
//
// v is [machine.Version]. Facts also have seq and time. The errors in [BreakerOpen], [Escalated]
// and [SourceFailed], and the Result of a [RunEnded], are for the host and aren't included. If ev
// isn't a fact or a note of this package, by pointer, the error is an *[ArgError] or a
// *[machine.FactError].
func MarshalEvent(ev Event) ([]byte, error) {
	if f, ok := ev.(Fact); ok {
		return history.Marshal(f)
	}
	kind, ok := noteKinds[reflect.TypeOf(ev)]
	if !ok || reflect.ValueOf(ev).IsNil() {
		return nil, badEvent("MarshalEvent", fmt.Sprintf("%T", ev),
			"it isn't an event; events are pointers to the facts and notes of package agent", nil)
	}
	data, err := machine.Marshal(noteForm{V: machine.Version, Kind: kind, Session: ev.Envelope().Session(), Data: ev})
	if err != nil {
		return nil, badEvent("MarshalEvent", kind, "it can't be encoded: "+err.Error(), err)
	}
	return data, nil
}

// UnmarshalEvent returns the event that [MarshalEvent] has encoded. A [RunEnded] has no Result. The
// error is an *[ArgError] if data isn't such an object, and a *[machine.FactError] if it is a
// fact that can't be read. Both are also for another version and for unknown kinds.
func UnmarshalEvent(data []byte) (Event, error) {
	var form history.Line
	if err := json.Unmarshal(data, &form); err != nil {
		return nil, badEvent("UnmarshalEvent", form.Kind, "it isn't the JSON of an event: "+err.Error(), err)
	}
	t, ok := noteTypes[form.Kind]
	if !ok {
		return form.Fact(form.Session)
	}
	if form.V != machine.Version {
		return nil, badEvent("UnmarshalEvent", form.Kind,
			fmt.Sprintf("it has version %d, and this release reads version %d", form.V, machine.Version), nil)
	}
	v := reflect.New(t)
	if err := json.Unmarshal(form.Data, v.Interface()); err != nil {
		return nil, badEvent("UnmarshalEvent", form.Kind, "it can't be read: "+err.Error(), err)
	}
	ev := v.Interface().(Event)
	if o := ev.Envelope().Origin; o != nil {
		o.Session = form.Session
	}
	return ev, nil
}
