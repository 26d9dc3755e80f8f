package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// An EventError says that an event isn't one of the protocol.
type EventError struct {
	Type    Type   // empty: it has none
	Field   string // for example "outcome.interrupts"; empty: the event as a whole
	Problem string
	// Unknown is set if the type, or a kind that the event can't do without, isn't in this version
	// of the protocol. A receiver leaves such an event out and goes on.
	Unknown bool
}

// Error says which event has which problem.
func (e *EventError) Error() string {
	name := string(e.Type)
	if name == "" {
		name = "event"
	}
	if e.Field == "" {
		return "agui: the " + name + " " + e.Problem
	}
	return "agui: " + e.Field + " of the " + name + " " + e.Problem
}

// Marshal returns e as JSON on one line. What must be there and is nil becomes empty: arrays,
// objects, and null for a value of any kind. Bytes that aren't UTF-8 become U+FFFD. Errors are
// *[EventError].
func Marshal(e Event) ([]byte, error) {
	e, err := plain(e)
	if err != nil {
		return nil, err
	}
	return marshal(e)
}

// marshal is Marshal of a struct.
func marshal(e Event) ([]byte, error) {
	e = complete(e)
	if err := check(e); err != nil {
		return nil, inEvent(e.eventType(), err)
	}
	body, err := encode(e)
	if err != nil {
		return nil, &EventError{Type: e.eventType(), Problem: "has no JSON: " + err.Error()}
	}
	out := make([]byte, 0, len(body)+len(e.eventType())+len(`{"type":"",`))
	out = append(out, `{"type":"`...)
	out = append(out, e.eventType()...)
	if len(body) == len("{}") {
		return append(out, `"}`...), nil
	}
	out = append(out, `",`...)
	out = append(out, body[1:]...)
	if !utf8.Valid(out) { // in a json.RawMessage: encoding/json replaces the others
		out = bytes.ToValidUTF8(out, []byte("\uFFFD"))
	}
	return out, nil
}

// encode is json.Marshal without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	if err := to.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// plain returns the struct that e is or points to.
func plain(e Event) (Event, error) {
	v := reflect.ValueOf(e)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || types[nameOf(v)] == nil {
		return nil,
			&EventError{Problem: fmt.Sprintf("is a %T: it must be a struct of this package or a pointer to one", e)}
	}
	return v.Interface().(Event), nil
}

func nameOf(v reflect.Value) Type {
	if e, ok := v.Interface().(Event); ok && v.Type().PkgPath() == reflect.TypeFor[Base]().PkgPath() {
		return e.eventType()
	}
	return ""
}

// types decode the events by type.
var types = map[Type]func(raw json.RawMessage) (Event, error){
	typeRunStarted:              decode[RunStarted],
	typeRunFinished:             decode[RunFinished],
	typeRunError:                decode[RunError],
	typeStepStarted:             decode[StepStarted],
	typeStepFinished:            decode[StepFinished],
	typeTextMessageStart:        decode[TextMessageStart],
	typeTextMessageContent:      decode[TextMessageContent],
	typeTextMessageEnd:          decode[TextMessageEnd],
	typeTextMessageChunk:        decode[TextMessageChunk],
	typeToolCallStart:           decode[ToolCallStart],
	typeToolCallArgs:            decode[ToolCallArgs],
	typeToolCallEnd:             decode[ToolCallEnd],
	typeToolCallChunk:           decode[ToolCallChunk],
	typeToolCallResult:          decode[ToolCallResult],
	typeStateSnapshot:           decode[StateSnapshot],
	typeStateDelta:              decode[StateDelta],
	typeMessagesSnapshot:        decode[MessagesSnapshot],
	typeActivitySnapshot:        decode[ActivitySnapshot],
	typeActivityDelta:           decode[ActivityDelta],
	typeReasoningStart:          decode[ReasoningStart],
	typeReasoningMessageStart:   decode[ReasoningMessageStart],
	typeReasoningMessageContent: decode[ReasoningMessageContent],
	typeReasoningMessageEnd:     decode[ReasoningMessageEnd],
	typeReasoningMessageChunk:   decode[ReasoningMessageChunk],
	typeReasoningEnd:            decode[ReasoningEnd],
	typeReasoningEncryptedValue: decode[ReasoningEncryptedValue],
	typeSubagentStarted:         decode[SubagentStarted],
	typeSubagentFinished:        decode[SubagentFinished],
	typeSubagentError:           decode[SubagentError],
	typeRaw:                     decode[Raw],
	typeCustom:                  decode[Custom],
}

func decode[E Event](raw json.RawMessage) (Event, error) {
	var e E
	if err := decodeInto(raw, &e, ""); err != nil {
		return nil, err
	}
	return e, check(e)
}

// Unmarshal reads an event. The result is a struct, not a pointer. Properties, roles, parts and
// outcomes that aren't in this version are left out. Errors are *[EventError]; it has Unknown if
// the event should be left out.
func Unmarshal(data []byte) (Event, error) {
	if !json.Valid(data) {
		return nil, &EventError{Problem: "isn't valid JSON"}
	}
	var object map[string]json.RawMessage
	var name string
	if json.Unmarshal(data, &object) != nil || object == nil || json.Unmarshal(object["type"], &name) != nil {
		return nil, &EventError{Problem: "must be an object with a type"}
	}
	decode := types[Type(name)]
	if decode == nil {
		return nil, &EventError{Type: Type(name), Problem: "isn't in version " + Version, Unknown: true}
	}
	e, err := decode(bytes.Clone(data))
	if err != nil {
		return nil, inEvent(Type(name), err)
	}
	return e, nil
}

func inEvent(t Type, err error) error {
	if errors.Is(err, errUnknown) {
		return &EventError{Type: t, Problem: "has a kind that isn't in version " + Version, Unknown: true}
	}
	if field, ok := errors.AsType[*fieldError](err); ok {
		return &EventError{Type: t, Field: field.path, Problem: field.problem}
	}
	return &EventError{Type: t, Problem: err.Error()}
}
