package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// decideSendBack is a choice that only a submitted plan has: its call ends, and the model reads how
// far the plan is and what the person said.
const decideSendBack DecisionKind = "send back"

// A waiting is the state of the call of a submitted plan that asks about a pause of its run.
type waiting struct {
	Run   string `json:"run"`
	Pause string `json:"pause"`
}

// ask returns the error with which the call of a submitted plan waits for a decision about the
// first pause of its run. The others are asked about after it.
func (r *Runner) ask(ctx context.Context, name string, pending []Pause) error {
	s, err := r.State(ctx, name)
	if err != nil {
		return err
	}
	p := &pending[0]
	prompt, schema := "", json.RawMessage(nil)
	if p.Kind == PauseCall {
		prompt, schema = askAboutCall(p)
	} else {
		q, err := s.question(p)
		if err != nil {
			return err
		}
		prompt, schema = q.Reason,
			schemaOf(append(slices.Clone(p.choices()),
				choice{decideSendBack, "tell the model, which may propose changes"}))
	}
	if n := len(pending) - 1; n > 0 {
		prompt += fmt.Sprintf(" After this, %s more.", count(n, "question"))
	}
	return tools.Suspend{Kind: "plan", Prompt: prompt, Schema: schema, Again: true, State: waiting{name, p.ID}}
}

// askAboutCall returns what a person is asked about the call of a node, and the schema of the
// answer.
func askAboutCall(p *Pause) (prompt string, schema json.RawMessage) {
	c := p.Call
	prompt = cut(fmt.Sprintf("%s? The step %q calls %s: %s. The input of the call is %s", p.Title, p.Node,
		c.Call.Name, line(c.Reason), c.Call.Input), 4<<10)
	reason := map[string]any{"type": "string"}
	choose := func(kinds ...agent.DecisionKind) map[string]any {
		return map[string]any{"type": "string", "enum": kinds}
	}
	switch c.Kind {
	case machine.PauseApproval, machine.PauseInDoubt: // approving a call in doubt runs it again
		return prompt,
			objectSchema(map[string]any{"decision": choose(machine.Approved, machine.Rejected), "reason": reason},
				"decision")
	case machine.PauseCorrection:
		return prompt,
			objectSchema(map[string]any{"decision": choose(machine.Edited, machine.Rejected),
				"input": map[string]any{"type": "object"}, "reason": reason}, "decision")
	}
	var asked any = map[string]any{}
	if len(c.Schema) > 0 {
		asked = c.Schema
	}
	return prompt, objectSchema(map[string]any{"answer": asked}, "answer")
}

// settle takes the answer to what the call of a submitted plan has asked. It reports whether the
// call ends with it, and what the person said. An answer to something that was decided elsewhere
// meanwhile isn't needed any more.
func (r *Runner) settle(ctx context.Context, resumed *tools.Resumption) (back bool, said string, err error) {
	var at waiting
	var a answer
	if err := resumed.Decode(&at, &a); err != nil {
		return false, "", err
	}
	pending, err := r.Pending(ctx, at.Run)
	if err != nil {
		return false, "", err
	}
	for i := range pending {
		p := &pending[i]
		switch {
		case p.ID != at.Pause:
		case p.Kind == PauseCall:
			return false, "", r.settleCall(ctx, p, &a, resumed.By)
		case a.Decision == decideSendBack:
			return true, a.Reason, nil
		default:
			return false, "", r.decided(ctx, at.Run, p.decision(a.Decision, a.Reason).By(resumed.By))
		}
	}
	return false, "", nil
}

// settleCall passes an answer on to the session of a node.
func (r *Runner) settleCall(ctx context.Context, p *Pause, a *answer, by string) error {
	d := agent.Answer(p.ID, a.Answer)
	switch agent.DecisionKind(a.Decision) {
	case machine.Approved:
		d = agent.Approve(p.ID)
	case machine.Rejected:
		d = agent.Reject(p.ID, a.Reason)
	case machine.Edited:
		d = agent.Edit(p.ID, a.Input)
	}
	err := r.agentOf(p.worker).Session(p.Session).Decide(ctx, d.By(by))
	if wrong, ok := errors.AsType[*agent.DecisionError](err); ok && wrong.Code != machine.DecisionBad {
		// it was decided elsewhere, or has expired
		return nil
	}
	return err
}
