package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// beforeInput calls the BeforeInput hooks with a text and returns the text that they leave. An
// empty text isn't shown to them.
func (a *Agent) beforeInput(ctx context.Context, t IncomingText) (string, error) {
	if t.Text == "" {
		return "", nil
	}
	for _, h := range a.hooksAt(func(h *Hooks) bool { return h.BeforeInput != nil }) {
		_, err := a.callHook(ctx, t.Session, h, "BeforeInput", func() error { return h.BeforeInput(ctx, &t) })
		var abort *AbortError
		switch {
		case errors.As(err, &abort):
			return "", refusedBy(h.Name, &t, abort.Err)
		case err != nil:
			return "", refusedBy(h.Name, &t, err)
		}
	}
	return t.Text, nil
}

func refusedBy(hook string, t *IncomingText, err error) error {
	return &SessionError{Session: t.Session, Code: ErrRefused, Err: err,
		Problem: fmt.Sprintf("hook %q refused the text of source %q", hook, t.Source)}
}

// screenInput passes the texts of an input to the BeforeInput hooks, before its session is touched.
// The task of a subagent isn't a text from outside, and decisions in a subagent's session were seen
// in the parent's.
func (a *Agent) screenInput(ctx context.Context, session string, in *Input) (err error) {
	if in.parent != nil || len(a.hooksAt(func(h *Hooks) bool { return h.BeforeInput != nil })) == 0 {
		return nil
	}
	if in.resumes() {
		m, err := a.sessions.Load(ctx, session)
		if err == nil {
			in.decisions, err = a.screenDecisions(ctx, m, in.decisions)
		}
		return err
	}
	screen := func(source TextSource) machine.Redactor {
		return func(text string) string {
			if err == nil {
				text, err = a.beforeInput(ctx,
					IncomingText{Session: session, Source: source, User: in.User, Text: text})
			}
			return text
		}
	}
	prompt := screen(FromPrompt)
	in.Prompt, in.Parts = prompt(in.Prompt), slices.Clone(in.Parts)
	for i := range in.Parts {
		if p := &in.Parts[i]; p.Kind == provider.PartText {
			p.Text = prompt(p.Text)
		}
	}
	in.History = screen(FromHistory).Messages(in.History) // it visits each text
	if err != nil {
		return err
	}
	return a.checkInput(in) // once more: the hooks may have changed it
}

// screenDecisions passes the texts of decisions to the BeforeInput hooks, and returns the decisions
// with the texts that these leave. m is the session's. An answer isn't passed if it isn't recorded,
// or its pause isn't open, so that it is refused.
func (a *Agent) screenDecisions(ctx context.Context, m *machine.Machine, decisions []Decision) (_ []Decision,
	err error) {
	own := slices.Clone(decisions)
	for i := range own {
		d := &own[i]
		if d.Err() != nil {
			continue // it is refused anyway
		}
		t := IncomingText{Session: m.State().Session, User: d.User, Pause: d.ID, Source: FromReason, Text: d.Reason}
		if d.Reason, err = a.beforeInput(ctx, t); err != nil {
			return nil, err
		}
		t.Source = FromAnswer
		if _, p := m.State().Run.Suspended(d.ID); p != nil && p.Kind != machine.PauseSecret {
			d.Value, err = a.screenJSON(ctx, t, d.Value)
		}
		if err != nil {
			return nil, err
		}
		t.Source = FromEdit
		if d.Input, err = a.screenJSON(ctx, t, d.Input); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// screenJSON is beforeInput for a JSON value.
func (a *Agent) screenJSON(ctx context.Context, t IncomingText, value json.RawMessage) (json.RawMessage, error) {
	var text string
	isText := json.Unmarshal(value, &text) == nil && string(value) != "null"
	if t.Text = string(value); isText {
		t.Text = text
	}
	out, err := a.beforeInput(ctx, t)
	switch {
	case err != nil:
		return nil, err
	case out == t.Text:
		return value, nil
	case isText:
		return machine.Marshal(machine.ValidText(out))
	case !json.Valid([]byte(out)):
		return nil, &DecisionError{Session: t.Session, ID: t.Pause, Code: machine.DecisionBad,
			Problem: "a BeforeInput hook has replaced its value by what is no JSON"}
	}
	return json.RawMessage(out), nil
}
