package request

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// A Decision is a decision on a pause, as a client makes it.
type Decision struct {
	ID       string          `json:"id"`
	Decision string          `json:"decision"` // approve, reject, edit, suggest, answer or always
	Reason   string          `json:"reason"`   // of reject and suggest
	Input    json.RawMessage `json:"input"`    // of edit
	Value    json.RawMessage `json:"value"`    // of answer
	Scope    string          `json:"scope"`    // of always: see agent.Decision.For
}

// Parse returns the decision, or what is wrong with it in words for a client. Fields that aren't
// part of it are rejected: an input in an approval would look as if that input were run.
func (b *Decision) Parse() (agent.Decision, error) {
	d := agent.Decision{ID: b.ID, Kind: agent.DecisionKind(b.Decision), Reason: b.Reason}
	var problem string
	switch d.Kind {
	case machine.Approved, machine.Rejected:
	case machine.AlwaysAllow:
		d = d.For(b.Scope)
	case machine.Suggested:
		if b.Reason == "" {
			problem = `"suggest" needs a "reason": what to do instead`
		}
	case machine.Edited:
		if d.Input = b.Input; d.Input == nil {
			problem = `"edit" needs an "input"`
		}
	case machine.AnswerGiven:
		if d.Value = b.Value; d.Value == nil {
			problem = `"answer" needs a "value"`
		}
	default:
		problem = fmt.Sprintf("%.40q is no decision; those are approve, reject, edit, suggest, answer and always",
			b.Decision)
	}
	switch {
	case problem != "":
	case b.ID == "":
		problem = `a decision needs the "id" of a pause`
	case b.Input != nil && d.Kind != machine.Edited:
		problem = fmt.Sprintf(
			`%q takes no "input": what runs is the call as it was shown; decide with "edit" to change it`, d.Kind)
	case b.Value != nil && d.Kind != machine.AnswerGiven:
		problem = fmt.Sprintf(`%q takes no "value"; decide with "answer" to give the result`, d.Kind)
	case b.Scope != "" && d.Kind != machine.AlwaysAllow:
		problem = fmt.Sprintf(`%q takes no "scope"; decide with "always" for later calls, too`, d.Kind)
	}
	if problem != "" {
		return agent.Decision{}, errors.New(problem)
	}
	return d, nil
}
