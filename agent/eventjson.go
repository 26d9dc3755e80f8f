package agent

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/machine"
)

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
