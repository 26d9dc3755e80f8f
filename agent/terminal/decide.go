package terminal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// decide gets a decision on each pause, and resumes the run with them.
func (u *ui) decide(ctx context.Context) error {
	pending := u.pending
	var ds []agent.Decision
	for i := range pending {
		p := &pending[i]
		if p.For != "" || u.decided[p.ID] {
			continue
		}
		if !u.tried[p.ID] && u.cfg.Decide != nil {
			u.tried[p.ID] = true
			if d, ok := u.cfg.Decide(*p); ok {
				ds = append(ds, d)
				continue
			}
		}
		if u.cfg.Once && (!u.cfg.Ask || u.keys.file == nil) {
			return errWaits
		}
		d, err := u.ask(ctx, p)
		switch {
		case errors.Is(err, errChanged):
			return nil
		case errors.Is(err, io.EOF):
			return errWaits
		case err != nil:
			return err
		}
		ds = append(ds, d.By(u.cfg.Input.User))
	}
	if len(ds) == 0 {
		return u.waitForOthers(ctx)
	}
	return u.resume(ctx, ds)
}

// resume resumes the run with decisions. If one is refused, none is taken.
func (u *ui) resume(ctx context.Context, ds []agent.Decision) error {
	err := u.began(ctx)(u.hub.Decide(ctx, u.cfg.Session, ds...))
	var refused *agent.DecisionError
	switch {
	case !errors.As(err, &refused):
		return u.refused(err)
	case refused.Code == machine.DecisionExpired:
		u.tell("Too late: the approval has expired.")
		return u.refused(u.start(ctx, agent.Continue(u.cfg.Session)))
	}
	u.out.line("%s", u.out.paint(red, "Not accepted: "+short(refused.Problem, 1000)))
	u.asked = ""
	_, err = u.look(ctx)
	return err
}

// waitForOthers waits until somebody else decides.
func (u *ui) waitForOthers(ctx context.Context) error {
	if u.cfg.Once {
		return errWaits
	}
	for i := range u.pending {
		u.describe(&u.pending[i])
	}
	for {
		key, _, err := u.key(ctx, func() bool { return u.running })
		switch {
		case errors.Is(err, errChanged):
			return nil
		case errors.Is(err, io.EOF), err == nil && key == keyCtrlD:
			return errWaits
		case errors.Is(err, errInterrupt):
			if u.twice("Another Ctrl-C ends the program. The session goes on when it is decided.") {
				return errWaits
			}
		case err != nil:
			return err
		}
	}
}

// leave shows how what waits can be decided later.
func (u *ui) leave() {
	later := u.cfg.Later
	if later == nil {
		later = func(session string, _ agent.Pause) string {
			return fmt.Sprintf("To decide, go on with the session %s.", session)
		}
	}
	shown := ""
	for i := range u.pending {
		p := &u.pending[i]
		u.describe(p)
		if text := later(u.cfg.Session, *p); text != shown && p.For == "" {
			shown = text
			u.out.line("%s", strings.TrimRight(clean(text), "\n"))
		}
	}
}

// describe prints a pause, unless it was the last one that was described.
func (u *ui) describe(p *agent.Pause) {
	if u.asked != p.ID {
		u.asked = p.ID
		u.out.describe(p)
	}
}

// isQuestion reports whether a tool asks, and not the agent.
func isQuestion(p *agent.Pause) bool {
	return p.Kind != agent.PauseApproval && p.Kind != agent.PauseInDoubt && p.Kind != agent.PauseCorrection
}

// inputOf returns the input of a pause's call as a person edits it.
func inputOf(p *agent.Pause) string {
	if p.Call.Invalid != "" {
		return p.Call.Invalid
	}
	var b bytes.Buffer
	if json.Indent(&b, p.Call.Input, "", "  ") != nil {
		return string(p.Call.Input)
	}
	return b.String()
}

// A choice is something that can be decided: with its key, or where lines are read with its word.
type choice struct{ key, word, label, help string }

var (
	approve = choice{"a", "approve", "[a]pprove", "runs the call; so does y"}
	reject  = choice{"r", "reject", "[r]eject", "keeps the call from running, with a reason if you give one; so does n"}
	suggest = choice{"s", "suggest", "[s]uggest something else", "keeps the call from running; the agent reads what to do instead"}
	edit    = choice{"e", "edit", "[e]dit", "changes the input, and runs the call with that"}
	always  = choice{"A", "always", "[A]lways", "runs the call, and doesn't ask about this tool again"}
	again   = choice{"a", "approve", "[a] run it again", "runs the call again"}
	leaveIt = choice{"r", "reject", "[r] don't run it", "leaves it as it is"}
	tellIt  = choice{"w", "answer", "[w] say what it did", "tells the agent what the result was"}
)

// choicesOf returns what can be decided about a call.
func choicesOf(p *agent.Pause) []choice {
	switch p.Kind {
	case agent.PauseInDoubt:
		return []choice{again, leaveIt, tellIt}
	case agent.PauseCorrection:
		return []choice{edit, reject, suggest}
	}
	all := []choice{approve, reject, suggest, edit}
	if p.Always {
		all = append(all, always)
	}
	return all
}

// choose shows choices and waits for one. In a terminal it is a single key.
func (u *ui) choose(ctx context.Context, p *agent.Pause, all []choice) (word string, err error) {
	prompt, keys, help := "", "?", ""
	if p.Kind == agent.PauseApproval {
		keys += "yn"
	}
	for _, c := range all {
		prompt += c.label + ", "
		keys += c.key
		help += fmt.Sprintf("  %s  %s\n", c.key, c.help)
	}
	if len(all) > 9 {
		keys = "" // numbers of two digits
	}
	for {
		said, err := u.line(ctx, prompt+"[?]: ", keys, func() bool { return u.running || u.decided[p.ID] })
		if errors.Is(err, errInterrupt) && u.keys.file != nil {
			if !u.twice("It stays open. Another Ctrl-C ends the program.") {
				continue
			}
			err = io.EOF
		}
		if err != nil {
			return "", err
		}
		if key := map[string]string{"y": "a", "yes": "a", "n": "r", "no": "r"}[strings.ToLower(said)]; key != "" &&
			p.Kind == agent.PauseApproval {
			said = key
		}
		i := slices.IndexFunc(all, func(c choice) bool { return said == c.key || strings.EqualFold(said, c.word) })
		switch {
		case i >= 0:
			return all[i].word, nil
		case said == "?":
			u.out.line("%s  Ctrl-D leaves it open.", help)
		default:
			u.out.line("Type one of the letters.")
		}
	}
}

// ask asks the person until there is a valid decision.
func (u *ui) ask(ctx context.Context, p *agent.Pause) (agent.Decision, error) {
	u.describe(p)
	if isQuestion(p) {
		return u.answer(ctx, p)
	}
	draft := inputOf(p)
	for {
		word, err := u.choose(ctx, p, choicesOf(p))
		if err != nil {
			return agent.Decision{}, err
		}
		d, ok, err := u.chosen(ctx, p, word, &draft)
		if errors.Is(err, errInterrupt) && u.keys.file != nil { // back
			continue
		}
		if err != nil || ok {
			return d, err
		}
	}
}

// chosen completes a decision; ok is false if it isn't one.
func (u *ui) chosen(ctx context.Context, p *agent.Pause, word string, draft *string) (d agent.Decision, ok bool,
	err error) {
	switch word {
	case approve.word:
		return agent.Approve(p.ID), true, nil
	case reject.word:
		why, err := u.line(ctx, "Why? (optional) ", "", nil)
		return agent.Reject(p.ID, why), true, err
	case suggest.word:
		text, err := u.line(ctx, "What should be done instead? ", "", nil)
		return agent.Suggest(p.ID, text), text != "", err
	case tellIt.word:
		text, err := u.line(ctx, "What did it do? ", "", nil)
		return agent.Answer(p.ID, text), text != "", err
	case edit.word:
		return u.edit(ctx, p, draft)
	}
	if len(p.Scopes) < 2 {
		return agent.AllowAlways(p.ID), true, nil
	}
	var texts []string
	for _, s := range p.Scopes {
		texts = append(texts, cmp.Or(s.Text, s.Name))
	}
	u.out.line("Always allow …")
	i, err := u.number(ctx, p, texts)
	if err != nil {
		return d, false, err
	}
	return agent.Approve(p.ID).For(p.Scopes[i].Name), true, nil
}
