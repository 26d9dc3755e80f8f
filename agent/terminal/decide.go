package terminal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// decide gets a decision on the next pause, and resumes the run with it. Pauses that only others
// decide on (tools.Suspend.For) end the conversation.
func (u *ui) decide(ctx context.Context) error {
	p := u.next()
	if p == nil {
		return errQuit
	}
	d, ok := u.hosts(p)
	if !ok && u.cfg.Once {
		return errQuit
	}
	if !ok {
		u.describe(p)
		u.stands(ctx)
		chosen, err := u.ask(ctx, p)
		if err != nil || chosen.ID == "" {
			return err
		}
		d = chosen.By(u.cfg.Input.User)
		u.keys.ready()
	}
	return u.settle(ctx, d)
}

// next returns the pause that a person decides on next, or nil.
func (u *ui) next() *agent.Pause {
	i := slices.IndexFunc(u.pending, func(p agent.Pause) bool { return p.For == "" })
	if i < 0 {
		return nil
	}
	return &u.pending[i]
}

// hosts returns the decision of Config.Decide, if there is one.
func (u *ui) hosts(p *agent.Pause) (d agent.Decision, ok bool) {
	if u.cfg.Decide != nil {
		d, ok = u.cfg.Decide(*p)
	}
	return d, ok
}

// paused finds out what the session waits for. If a line has been begun, the question is shown
// above it; it is asked when that line is written.
func (u *ui) paused(ctx context.Context) error {
	if err := u.look(ctx); err != nil || !u.drafting {
		return err
	}
	p := u.next()
	if p == nil || p.ID == u.asked {
		return nil
	}
	if d, ok := u.hosts(p); ok {
		return u.settle(ctx, d)
	}
	u.describe(p)
	u.out.line("%s", u.out.paint(bold, "A decision waits. Your line is kept, and Enter doesn't decide."))
	return nil
}

// settle resumes the run with a decision.
func (u *ui) settle(ctx context.Context, d agent.Decision) error {
	begun, err := u.hub.Decide(ctx, u.cfg.Session, d)
	if err = u.began(ctx, begun, err); err == nil {
		if begun.Run == "" { // it is stored for the process that has the session, which may be dead
			return u.refused(ctx, u.goOn(ctx))
		}
		return nil
	}
	u.cfg.Decide = nil
	refused, ok := errors.AsType[*agent.DecisionError](err)
	switch {
	case !ok:
		err = u.refused(ctx, err)
	case refused.Code == machine.DecisionExpired:
		u.out.note("Too late: the approval has expired.")
		return u.refused(ctx, u.start(ctx, agent.Continue(u.cfg.Session)))
	default:
		u.out.line("%s", u.out.paint(red, "Not accepted: "+short(refused.Problem, 1000)))
		if err = u.look(ctx); err == nil && u.running { // the process that decided may have died
			return u.refused(ctx, u.goOn(ctx))
		}
		return err
	}
	return cmp.Or(err, u.look(ctx))
}

// describe prints a pause, unless it was the last one that was described.
func (u *ui) describe(p *agent.Pause) {
	if u.asked != p.ID {
		u.asked, u.draft = p.ID, inputOf(p)
		u.cut = u.out.describe(p, u.keys.file == nil)
	}
}

// isQuestion reports whether a tool asks, and not the agent.
func isQuestion(p *agent.Pause) bool {
	return p.Kind != agent.PauseApproval && p.Kind != agent.PauseInDoubt && p.Kind != agent.PauseCorrection
}

// inputOf returns the input of a pause's call as a person edits it.
func inputOf(p *agent.Pause) string {
	var b bytes.Buffer
	_ = json.Indent(&b, p.Call.Input, "", "  ") // of what isn't JSON, nothing is written
	return cmp.Or(p.Call.Invalid, b.String(), string(p.Call.Input))
}

// ask asks the person for a decision. What they choose may turn out to be none; it has no ID then.
func (u *ui) ask(ctx context.Context, p *agent.Pause) (none agent.Decision, err error) {
	if isQuestion(p) {
		return u.answer(ctx, p)
	}
	all, always := []choice{approve, reject, suggest, change}, always
	if len(p.Scopes) == 1 {
		always.help = "runs the call, and from now on without asking " + clean(cmp.Or(p.Scopes[0].Text, p.Scopes[0].Name))
	}
	switch {
	case u.cfg.Plain && p.Kind == agent.PauseApproval:
		all = all[:3]
	case p.Kind == agent.PauseInDoubt:
		all = []choice{again, leaveIt, tellIt}
	case p.Kind == agent.PauseCorrection:
		all = []choice{change, reject, suggest}
	case p.Always:
		all = append(all, always)
	}
	if u.cut {
		all = append(all, details)
	}
	i, text, err := u.choose(ctx, append(all, slash), insteadOfCall)
	switch {
	case err != nil:
		return none, err
	case i < 0:
		return agent.Suggest(p.ID, text), nil
	}
	switch all[i] {
	case approve, again:
		return agent.Approve(p.ID), nil
	case reject, leaveIt:
		text, err = u.line(ctx, "Why? (optional) ", &asking{leaves: true})
		return agent.Reject(p.ID, text), err
	case suggest:
		if text, err = u.line(ctx, "What should be done instead? ", &asking{leaves: true}); text != "" {
			return agent.Suggest(p.ID, text), err
		}
	case tellIt:
		if text, err = u.line(ctx, "What did it do? ", &asking{leaves: true}); text != "" {
			return agent.Answer(p.ID, text), err
		}
	case change:
		return u.edit(ctx, p)
	case details:
		u.out.describe(p, true)
	case always:
		if len(p.Scopes) < 2 {
			return agent.AllowAlways(p.ID), nil
		}
		var scopes []any
		for _, s := range p.Scopes {
			scopes = append(scopes, cmp.Or(s.Text, s.Name))
		}
		u.out.line("Always allow …")
		i, _, err = u.number(ctx, scopes, "")
		return agent.Approve(p.ID).For(p.Scopes[i].Name), err
	}
	return none, err
}

// edit lets the person change the input of a call: in an editor, or where lines are read in one
// line. The decision has no ID if nothing was changed. The draft is kept.
func (u *ui) edit(ctx context.Context, p *agent.Pause) (none agent.Decision, err error) {
	if u.keys.file == nil {
		if u.draft, err = u.line(ctx, "New input, as JSON in one line: ", nil); err != nil {
			return none, err
		}
	} else if err := u.editor(ctx); err != nil {
		u.out.line("The editor failed: %s", short(err.Error(), 300))
		return none, nil
	}
	switch {
	case u.draft == inputOf(p):
		u.out.line("Nothing was changed.")
	case !json.Valid([]byte(u.draft)):
		u.out.line("Not accepted: it isn't valid JSON.")
	default:
		return agent.Edit(p.ID, json.RawMessage(u.draft)), nil
	}
	return none, nil
}

// editor opens the draft in the editor of the environment, which has the terminal meanwhile.
func (u *ui) editor(ctx context.Context) error {
	file, err := os.CreateTemp("", "input-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(u.draft + "\n")
	if err = cmp.Or(err, file.Close()); err != nil {
		return err
	}
	words := append(strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")), file.Name())
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = u.keys.file, u.cfg.Out, u.cfg.Out
	u.out.raw(false)
	err = cmp.Or(u.keys.release(), cmd.Run(), u.keys.hold()) // arguments are evaluated in order
	u.out.raw(true)
	for len(u.signals) > 0 { // a Ctrl-C was the editor's
		<-u.signals
	}
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(file.Name())
	u.draft = strings.TrimSpace(string(raw))
	return err
}
