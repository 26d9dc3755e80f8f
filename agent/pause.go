package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// finishSuspended suspends a call whose tool asks for that. It returns false, and replaces the
// outcome, if what the tool gives is invalid. done is how the work of the call stands; nil for a
// call that owns none.
func (w *workers) finishSuspended(cr *callRun, out *tools.Outcome, done *work.Outcome) bool {
	s := out.Suspend
	if err := checkSuspend(s); err != nil {
		*out = tools.Outcome{Status: tools.Failed, Class: fault.Permanent, Took: out.Took, Err: err,
			Parts: []provider.Part{provider.TextPart(internalError)}}
		return false
	}
	p, expires := Pause{Kind: PauseKind(machine.ValidText(s.Kind)), Title: w.callTitle(cr), Reason: s.Prompt,
		Schema: s.Schema, Again: s.Again, For: s.For}, s.Expires
	if done != nil {
		p.Nested = done.Pending
	}
	state, _ := s.State.(json.RawMessage)
	f := &Suspended{Pause: p, State: state}
	w.agent.redact.Fact(f) // the subagent may have no Redact
	p = f.Pause
	nested := p.Nested
	p.Nested = nil
	w.log.Lock()
	defer w.log.Unlock()
	if cr.over || cr.abandoned {
		return true
	}
	switch {
	case done != nil && (done.Status != work.Waits || len(nested) == 0): // it waits for no decision
		cr.over = true
		w.hold(done)
		return true
	case done != nil:
		p.Kind, p.Nested, expires = machine.PauseAgent, nested, -1 // those expire, not this one
	case s.Secret:
		p.Kind = machine.PauseSecret
	case p.Kind == "" || p.Kind == PauseApproval || p.Kind == PauseInDoubt || p.Kind == PauseCorrection ||
		p.Kind == machine.PauseAgent || p.Kind == machine.PauseSecret:
		p.Kind = "question"
	}
	f.Pause = p
	w.suspendLocked(cr, f, expires)
	return true
}

// checkSuspend returns what is wrong with what a tool suspends its call with.
func checkSuspend(s *tools.Suspend) error {
	if s.Secret && !s.Again {
		return errors.New("agent: Suspend.Secret needs Again: without it the answer is the result, which is recorded")
	}
	if state, ok := s.State.(json.RawMessage); ok && machine.TooDeep(state) {
		return fmt.Errorf("agent: Suspend.State is nested deeper than %d levels", machine.MaxDepth)
	}
	if len(s.Schema) == 0 {
		return nil
	}
	if _, err := schema.Parse(s.Schema); err != nil {
		return fmt.Errorf("agent: Suspend.Schema: %w", err)
	}
	if machine.TooDeep(s.Schema) {
		return fmt.Errorf("agent: Suspend.Schema is nested deeper than %d levels", machine.MaxDepth)
	}
	return nil
}

// suspend appends that a call waits for a decision. With expires 0 it waits as long as
// Config.PauseExpires says, and below 0 for ever.
func (w *workers) suspend(cr *callRun, p Pause, expires time.Duration) {
	p.Reason = w.agent.redact.Text(p.Reason)
	p.Title = tools.CleanTitle(w.agent.redact.Text(w.callTitle(cr)))
	w.log.Lock()
	if w.log.Yields() { // whoever has the session next asks
		cr.over = true
		w.log.Unlock()
		return
	}
	w.suspendLocked(cr, &Suspended{Pause: p}, expires)
	w.log.Unlock()
	w.consumer.flush()
}

// callTitle returns what a call does, in words for people, neither redacted nor cut. The tool's
// function may take its time, so the lock isn't held.
func (w *workers) callTitle(cr *callRun) string {
	if cr.d == noTool {
		return tools.TitleOf(cr.call.Name, cr.stored.Input)
	}
	return cr.d.Title(tools.WithCall(w.log.ctx, &cr.call), cr.stored.Input)
}

// suspendLocked is suspend for a fact that is redacted, and a caller that holds the lock. It shows
// nothing.
func (w *workers) suspendLocked(cr *callRun, f *Suspended, expires time.Duration) {
	p := &f.Pause
	expires = cmp.Or(expires, w.agent.cfg.PauseExpires)
	p.Call = *cr.stored
	p.ID = machine.PauseID(w.log.Name, &p.Call, p.Kind, cr.state.Pauses, p.PreviewHash)
	if cr.d != noTool {
		p.Risk, p.Fingerprint = cr.d.Spec().Risk.String(), cr.d.Fingerprint()
	}
	if isApproval(p.Kind) {
		p.Approvers, p.NotSelf = cr.d.Spec().Approvers, cr.d.Spec().NotSelf
	}
	if expires > 0 {
		p.Expires = time.Now().UTC().Round(0).Add(expires)
	}
	cr.over = true
	f.Meta.Call, f.Spent = cr.call.ID, w.log.place.spending.booked(cr.call.ID)
	_ = w.log.AppendLocked(nil, session.Clean(f))
}

// maxPreview is how many bytes of a preview are kept.
const maxPreview = 64 << 10

// preview returns what a call with an input would change, as it is shown, and the hash of the whole
// preview. It is redacted before that, so that the log has nothing that depends on a secret.
func (w *workers) preview(cr *callRun, input json.RawMessage) (text, hash string, refused *tools.Outcome) {
	text, refused = cr.d.Preview(w.log.ctx, input)
	if refused != nil {
		return "", "", refused
	}
	text = w.agent.redact.Text(text)
	sum := sha256.Sum256([]byte(text))
	return cutPreview(text), hex.EncodeToString(sum[:16]), nil
}

// cutPreview returns the first lines of a long preview, and one that says how much is missing.
func cutPreview(text string) string {
	if len(text) <= maxPreview {
		return text
	}
	shown := cut.Start(text, maxPreview-100) // for the last line
	end := cmp.Or(strings.LastIndexByte(shown, '\n')+1, len(shown))
	shown = shown[:end]
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	return shown + fmt.Sprintf("\\ The preview is cut here: %d more bytes aren't shown.\n", len(text)-end)
}

// asShown reports whether a call that was approved with a preview would still change what was
// shown. If not, a person is asked again; and if that can't be said any more, the call gets that as
// its result. A call whose input was edited runs if the original would still change what was shown.
// Any goroutine may call it.
func (w *workers) asShown(cr *callRun) bool {
	w.log.Lock()
	shown := cr.state.Approved
	w.log.Unlock()
	if shown == nil {
		return true
	}
	text, hash, refused := w.preview(cr, shown.Call.Input)
	if refused == nil && hash == shown.PreviewHash {
		return true
	}
	if string(cr.call.Input) != string(shown.Call.Input) {
		text, hash, refused = w.preview(cr, cr.call.Input)
	}
	if refused != nil {
		cr.finishRefused(refused)
		return false
	}
	p := shown.Successor("what the call would change has changed since then")
	p.Preview, p.PreviewHash, p.Expires = text, hash, time.Time{}
	p.Title = tools.CleanTitle(w.agent.redact.Text(w.callTitle(cr)))
	w.log.Lock()
	defer w.log.Unlock()
	if cr.over || w.log.ended || w.log.ctx.Err() != nil || w.log.Yields() {
		cr.over = true // as in appendStart, or whoever has the session next asks
		return false
	}
	w.suspendLocked(cr, &Suspended{Pause: p}, cr.d.Spec().Expires)
	return false
}

// ruled reports whether a standing approval answers a question about a call. If not, the call is
// suspended. A standing approval answers only for the scope that it was given for, and, of a tool
// with approvers, as long as who gave it is one.
func (w *workers) ruled(cr *callRun, v *tools.Verdict) bool {
	s := cr.d.Spec()
	scope, _ := cr.d.Scope(cr.call.Input)
	// two scopes that are redacted to the same text aren't the same
	always := v.Standing && w.agent.redact.Text(scope) == scope
	applies := func(r Rule) bool {
		return r.Tool == s.Name && r.Fingerprint == cr.d.Fingerprint() && r.Scope == scope &&
			(len(s.Approvers) == 0 || w.mayApprove(s, r.By))
	}
	if always &&
		(slices.ContainsFunc(w.log.State().Rules, applies) || slices.ContainsFunc(w.agent.cfg.Rules, applies)) {
		return true
	}
	p := Pause{Kind: PauseApproval, Reason: v.Reason, Always: always}
	if always {
		p.Scope, p.Scopes = scope, w.scopes(Rule{Tool: s.Name, Scope: scope}, v.Scopes)
	}
	if cr.d.CanPreview() {
		var refused *tools.Outcome
		if p.Preview, p.PreviewHash, refused = w.preview(cr, cr.call.Input); refused != nil {
			return w.refuseWith(cr, refused)
		}
	}
	w.suspend(cr, p, s.Expires)
	return false
}

// scopes returns the scopes that a pause offers: own in the session, and those of the policies. One
// whose name would be redacted couldn't be chosen.
func (w *workers) scopes(own Rule, more []tools.Scope) []tools.Scope {
	all := []tools.Scope{{Name: tools.ScopeSession, Text: own.Text() + ", in this session"}}
	for _, s := range more {
		if w.agent.redact.Text(s.Name) == s.Name {
			all = append(all, tools.Scope{Name: s.Name, Text: tools.CleanTitle(w.agent.redact.Text(s.Text))})
		}
	}
	return all
}

// mayApprove is mayDecide for a call that is about to run without a question, because of what a
// user has given before. What isn't known now doesn't answer: a person is asked.
func (w *workers) mayApprove(spec *tools.Spec, user string) bool {
	w.log.Lock()
	session, self := w.log.State().Outermost(), w.log.State().StartedBy(user)
	w.log.Unlock()
	err := w.agent.mayDecide(w.log.ctx, session, spec, user, self)
	if _, unknown := errors.AsType[*RolesError](err); unknown {
		w.log.warn("agent: an approval that was given before doesn't answer", err, "tool", spec.Name)
	}
	return err == nil
}

// approverLetsRun reports whether who has let a call run may decide on it now. The decision may
// have been recorded when its tool had other approvers, or none, and so may an answer to a question
// of the tool. A call that has begun, and may be repeated, goes on.
func (w *workers) approverLetsRun(cr *callRun) bool {
	s, c := cr.d.Spec(), cr.state
	return len(s.Approvers) == 0 || c.Started && c.Repeat && s.Repeatable() || w.mayApprove(s, c.By)
}

// resolveDoubt handles calls that were started by a process that died. A call that may be repeated
// runs again. For any other, a person decides or the model is informed, as Config.InDoubt says.
func (w *workers) resolveDoubt(indexes []int) {
	for _, c := range w.callStates(indexes) {
		cr := w.newCall(c)
		switch {
		case !c.Repeat || !cr.d.Spec().Repeatable():
			w.inDoubt(cr, "the process that ran it ended")
		case w.readmit(cr):
			w.runTogether([]*callRun{cr})
		}
		if w.consumer.left || w.log.ctx.Err() != nil {
			return
		}
	}
}

// inDoubt asks a person about a call of which it isn't known how it ended, or informs the model, as
// Config.InDoubt says.
func (w *workers) inDoubt(cr *callRun, why string) {
	if w.agent.cfg.InDoubt == TellInDoubt {
		w.finishCall(cr, doubtful(why))
		w.consumer.flush()
		return
	}
	w.suspend(cr, Pause{Kind: PauseInDoubt, IdempotencyKey: cr.call.IdempotencyKey,
		Reason: "the call was started, and it is not known whether it had its effect: " + why}, 0)
}

// doubtful returns the outcome of a call of which it isn't known how it ended.
func doubtful(why string) tools.Outcome {
	return tools.Outcome{Status: tools.InDoubt, Class: fault.Permanent, Parts: []provider.Part{
		provider.TextPart("The call was started, and it is not known whether it had its effect: " + why +
			". Find out before you make it again."),
	}}
}

// AskTool returns a tool with the name ask, with which a model asks the person that it works for:
//
//	{"question": "Which color?", "options": ["red", "blue"]}
//
// The call is suspended as a question (tools.Suspend), so the run pauses, at no cost, until there
// is an answer: a string, which is one of the options if the call has some ([Answer]). It is the
// result that the model reads. Pages and terminals show a button or a number for each option. A
// person who wants none of them rejects the call and says why ([Reject]); the model reads that,
// too. The question expires after [Config].PauseExpires. For other questions write a tool that
// returns tools.Suspend.
func AskTool() tools.Tool {
	type question struct {
		Text    string   `json:"question" pattern:"\\S" description:"with all that is needed to answer it"`
		Options []string `json:"options,omitempty" pattern:"\\S" description:"2 to 6 short answers to choose from"`
	}
	spec := tools.Spec{Name: "ask", ReadOnly: true, NoBreaker: true, Inline: true,
		Description: "Asks the user a question and waits for the answer. Ask only what you can't find out yourself."}
	return tools.New(spec, func(_ context.Context, in question) (string, error) {
		schema, err := machine.Marshal(struct {
			Type    string   `json:"type"`
			Least   int      `json:"minLength"`
			Options []string `json:"enum,omitempty"`
		}{"string", 1, in.Options})
		return "", cmp.Or[error](err, tools.Suspend{Kind: "question", Prompt: in.Text, Schema: schema})
	})
}
