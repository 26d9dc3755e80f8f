package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// An ask is a pause of a session.
type ask struct {
	agent.Pause
	choices []choice           // none: the next prompt answers it, unless it is for somebody else
	cancel  context.CancelFunc // withdraws it in the editor; nil: the editor isn't asked
}

// A choice is an option that a person has, and the decision that it makes.
type choice struct {
	name     string
	kind     sdk.PermissionOptionKind
	decision agent.Decision
}

// schema is what the schema of an answer says about choices. One that can't be read says nothing.
func (a *ask) schema() (s struct {
	Type any
	Enum []any
}) {
	if a.Kind == agent.PauseCorrection { // its answer is what to do instead
		return s
	}
	_ = json.Unmarshal(a.Schema, &s)
	if s.Type == "boolean" {
		s.Enum = []any{true, false}
	}
	return s
}

// choose adds the choices.
func (a *ask) choose() {
	add := func(name string, kind sdk.PermissionOptionKind, d agent.Decision) {
		a.choices = append(a.choices, choice{name, kind, d})
	}
	values := a.schema().Enum
	switch {
	case a.For != "":
		return
	case a.Kind == agent.PauseApproval, a.Kind == agent.PauseInDoubt:
		add("Allow once", sdk.PermissionOptionKindAllowOnce, agent.Approve(a.ID))
		for _, s := range a.Scopes {
			add("Always allow: "+cmp.Or(s.Text, s.Name), sdk.PermissionOptionKindAllowAlways,
				agent.Approve(a.ID).For(s.Name))
		}
	case len(values) == 0:
		return
	}
	for _, v := range values {
		add(fmt.Sprint(v), sdk.PermissionOptionKindAllowOnce, agent.Answer(a.ID, v))
	}
	add("Reject", sdk.PermissionOptionKindRejectOnce, agent.Reject(a.ID, ""))
}

// answer returns the decision that a text makes where there are no choices.
func (a *ask) answer(text string) agent.Decision {
	switch {
	case a.Kind == agent.PauseCorrection:
		return agent.Suggest(a.ID, text)
	case a.schema().Type != "string" && json.Valid([]byte(text)):
		return agent.Answer(a.ID, json.RawMessage(text))
	}
	return agent.Answer(a.ID, text)
}

// text says what a pause waits for that the editor isn't asked.
func (a *ask) text() string {
	switch {
	case a.For != "":
		return a.Title + ": this waits for " + a.For + "."
	case a.Kind == agent.PauseCorrection:
		return a.Title + ": the input doesn't fit. Write what is to be done instead."
	case len(a.choices) == 0:
		return cmp.Or(a.Reason, a.Title)
	}
	return a.Title + ": this waits for a decision. Load the session to be asked again; a prompt rejects it."
}

// outer returns the id of the session's own call that waits.
func (a *ask) outer() string { return append(a.Path, a.Call.ID)[0] }

// ask asks the editor about a pause, unless it is asked already.
func (x *session) ask(p *agent.Pause) {
	a := &ask{Pause: *p}
	a.choose()
	r := sdk.RequestPermissionRequest{SessionId: sdk.SessionId(x.id), ToolCall: x.view.asked(p)}
	for i, c := range a.choices {
		r.Options = append(r.Options,
			sdk.PermissionOption{OptionId: sdk.PermissionOptionId(strconv.Itoa(i)), Kind: c.kind, Name: c.name})
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.ContainsFunc(x.pending, func(other *ask) bool { return other.ID == a.ID }) {
		return
	}
	if x.pending = append(x.pending, a); len(a.choices) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(x.ctx)
	a.cancel = cancel
	x.asks.Go(func() {
		defer cancel()
		res, err := x.srv.conn.RequestPermission(ctx, r)
		if ctx.Err() != nil || err == nil && x.decide(ctx, a, res.Outcome.Selected) {
			return // somebody else has decided, or the editor is gone; or the run goes on
		}
		x.mu.Lock()
		a.cancel = nil
		x.mu.Unlock()
		_ = x.rests()
	})
}

// decide takes the decision that a person has chosen. It returns false if they can't be asked. An
// editor that cancels the prompt says first that nothing is chosen.
func (x *session) decide(ctx context.Context, a *ask, chosen *sdk.RequestPermissionOutcomeSelected) bool {
	if chosen == nil {
		return true
	}
	i, err := strconv.Atoi(string(chosen.OptionId))
	if err != nil || i < 0 || i >= len(a.choices) {
		return false
	}
	_, err = x.hub.Decide(ctx, x.id, a.choices[i].decision.By(x.srv.cfg.Input.User))
	refused, ok := errors.AsType[*agent.DecisionError](err)
	if err != nil && (!ok || refused.Code == machine.DecisionBad) { // else somebody has decided, or it opens again
		_ = x.say("The decision wasn't taken: " + err.Error())
		return false
	}
	return true
}

// withdraw forgets pauses that are no longer open. The caller holds mu.
func (x *session) withdraw(which func(*ask) bool) {
	x.pending = slices.DeleteFunc(x.pending, func(a *ask) bool {
		gone := which(a)
		if gone && a.cancel != nil {
			a.cancel()
		}
		return gone
	})
}
