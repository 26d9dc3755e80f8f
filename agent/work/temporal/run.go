package temporal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/carry"
)

// maxInput is how many bytes an input may have as JSON. Temporal refuses payloads of 2 MB.
const maxInput = 1 << 20

// A Run is the argument of [Workflow]. [NewRun] makes one.
type Run struct {
	Agent   string        `json:"agent"` // its name
	Session string        `json:"session"`
	Key     string        `json:"key"`
	Steps   int           `json:"steps,omitempty"` // of a leg: see [agent.Leg]
	Time    time.Duration `json:"time,omitempty"`
	Grace   time.Duration `json:"grace,omitempty"`
	// AcceptChanges is that of the legs.
	AcceptChanges bool `json:"accept_changes,omitempty"`
	// Input is the [agent.Input] that starts the run, as JSON. It is empty when the run has begun:
	// then the journal has it.
	Input json.RawMessage `json:"input,omitempty"`
}

// Defaults of a leg.
const (
	legTime  = 10 * time.Minute
	legGrace = 5 * time.Second
)

// NewRun returns the argument of a workflow that runs an input with the agent of that name. [Start]
// calls it; a workflow that starts [Workflow] as a child calls it itself, and gives the child the
// id [ID]. The input needs a Session and a Key. If it has what can't be carried from process to
// process, the error is an *[agent.ArgError]: History, Tools, or more than 1 MiB of JSON.
//
// Of the leg, Time is 10 minutes by default, and an Event is refused.
func NewRun(name string, in agent.Input, leg agent.Leg) (Run, error) {
	r := Run{Agent: name, Session: in.Session, Key: in.Key, Steps: leg.Steps, Time: leg.Time, Grace: leg.Grace,
		AcceptChanges: leg.AcceptChanges}
	if r.Time <= 0 {
		r.Time = legTime
	}
	if r.Grace <= 0 {
		r.Grace = legGrace
	}
	switch {
	case name == "":
		return Run{}, bad("Agent", "it is empty; give the agent a Config.Name, and that name here")
	case in.Session == "":
		return Run{}, bad("Input.Session", "it is empty; a workflow needs the name of a session, so that it can be repeated")
	case in.Key == "":
		return Run{}, bad("Input.Key", "it is empty; a workflow needs a key, so that it can be repeated")
	case in.Prompt == "" && len(in.Parts) == 0:
		return Run{}, bad("Input.Prompt", "it is empty; ask something, or give Parts")
	case len(in.History) > 0:
		return Run{}, bad("Input.History", "a conversation mustn't be in the history of a workflow; "+
			"put it into the journal first, with Session.Import")
	case len(in.Tools) > 0:
		return Run{}, bad("Input.Tools", "they can't be carried to another process; give them to the agent of the workers")
	case leg.Event != nil:
		return Run{}, bad("Leg.Event", "it can't be carried to another process; read events with Session.Watch")
	}
	data, err := carry.Encode(&in)
	if err != nil {
		return Run{}, err
	}
	if len(data) > maxInput {
		return Run{}, bad("Input", fmt.Sprintf("it has %d bytes as JSON, and a workflow carries at most %d; "+
			"give large files as URLs", len(data), maxInput))
	}
	r.Input = data
	return r, nil
}

func bad(field, problem string) error { return &agent.ArgError{Field: field, Problem: problem} }

// Ended is the result of [Workflow]. The answer and the rest of the conversation are in the
// journal: see [agent.Session.Result].
type Ended struct {
	Session string       `json:"session"`
	Run     string       `json:"run,omitempty"` // empty: it was canceled before it began
	Status  agent.Status `json:"status"`
	Code    string       `json:"code,omitempty"` // why: see [agent.Result]
}
