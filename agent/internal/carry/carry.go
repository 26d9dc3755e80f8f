package carry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/provider"
)

// Encode returns an input as JSON, with the fields that are set. The error is an *[agent.ArgError]:
// Tools are functions, and JSON must keep each field as it is.
func Encode(in *agent.Input) (json.RawMessage, error) {
	set, err := fields(in)
	if err != nil {
		return nil, err
	}
	text, err := machine.Marshal(set)
	if err != nil {
		return nil, err
	}
	back, _, err := Decode(text)
	if err != nil {
		return nil, err
	}
	carried, err := fields(&back)
	if err != nil {
		return nil, err
	}
	for name, value := range set {
		if !bytes.Equal(value, carried[name]) {
			return nil, bad(name, "it isn't the same after it was encoded as JSON; give valid UTF-8")
		}
	}
	return text, nil
}

// fields returns the fields of an input that are set, as JSON.
func fields(in *agent.Input) (map[string]json.RawMessage, error) {
	set := make(map[string]json.RawMessage)
	v := reflect.ValueOf(in).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch {
		case v.Field(i).IsZero():
			continue
		case name == "Tools":
			return nil, bad(name, "a queue carries no functions; give the tools to the agent")
		}
		text, err := machine.Marshal(v.Field(i).Interface())
		if err != nil {
			return nil, &agent.ArgError{Field: "Input." + name, Err: err,
				Problem: "it can't be encoded: " + err.Error()}
		}
		set[name] = text
	}
	return set, nil
}

func bad(field, problem string) error {
	return &agent.ArgError{Field: "Input." + field, Problem: problem}
}

// Decode returns an input that Encode, or an earlier version, has written, and whether it says that
// its run goes on although the agent has changed, which is in [agent.Leg] now. A field that isn't
// known, of a newer version of the program, is an error.
func Decode(text []byte) (_ agent.Input, acceptChanges bool, _ error) {
	var in struct {
		agent.Input
		// An input had these fields before v0.2. The text of a briefing came after the other parts.
		Briefing      *notes.Briefing
		AcceptChanges bool
		CallKey       string // it had no effect on an input with a prompt
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return agent.Input{}, false, fmt.Errorf("the stored input can't be read: %w", err)
	}
	if text := in.Briefing.Text(); text != "" {
		in.Parts = append(in.Parts, provider.TextPart(text))
	}
	return in.Input, in.AcceptChanges, nil
}
