package serve

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/agui"
	"github.com/pawlkit/pawl/tools"
)

// resume takes the answers to all open interrupts, and the results of the front end's tools beside
// them. Repeated, it changes nothing. If the user says something else beside them, that comes after
// them; if all are cancelled, it supersedes them.
func (a *aguiPost) resume(w http.ResponseWriter, r *http.Request, last *agui.Message) *problem {
	if p := tooMany(len(a.in.Resume)); p != nil {
		return p
	}
	pending, err := a.grant.session.Pending(r.Context())
	if err != nil {
		return failed(err)
	}
	open := func(id string) *agent.Pause {
		if i := slices.IndexFunc(pending, func(p agent.Pause) bool { return p.ID == id }); i >= 0 {
			return &pending[i]
		}
		return nil
	}
	var ds []agent.Decision
	answered := false
	for i := range a.in.Resume {
		entry := &a.in.Resume[i]
		answered = answered || entry.Status != agui.Cancelled
		pause := open(entry.InterruptID)
		if pause == nil {
			return a.repeated(w, r)
		}
		d, p := resumeDecision(pause, entry)
		if p != nil {
			return p
		}
		ds = append(ds, d)
	}
	for i := range pending {
		if !slices.ContainsFunc(ds, func(d agent.Decision) bool { return d.ID == pending[i].ID }) &&
			string(pending[i].Kind) != tools.SuspendExternal && pending[i].For == "" {
			return fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid,
				"the interrupt %q isn't answered; answer all that are open", pending[i].ID)
		}
	}
	if last != nil && !answered {
		return a.message(w, r, last)
	}
	for _, d := range resultsFor(a.in.Messages, pending) {
		if !slices.ContainsFunc(ds, func(other agent.Decision) bool { return other.ID == d.ID }) {
			ds = append(ds, d)
		}
	}
	if _, p := a.decide(r, a.grant, ds); p != nil {
		if p.Code == codeUsed { // by the same request, a moment ago
			return a.repeated(w, r)
		}
		return p
	}
	if last != nil {
		return a.message(w, r, last)
	}
	return a.stream(w, r, streamFrom{after: a.newest()})
}

// newest returns the number of the newest fact.
func (a *aguiPost) newest() uint64 {
	if len(a.facts) == 0 {
		return 0
	}
	return a.facts[len(a.facts)-1].Envelope().Seq
}

// resumeDecision returns the decision on a pause that an entry of a resume makes.
func resumeDecision(p *agent.Pause, entry *agui.ResumeEntry) (agent.Decision, *problem) {
	var answer struct {
		Approved    *bool           `json:"approved"`
		EditedArgs  json.RawMessage `json:"editedArgs"`
		Reason      string          `json:"reason"`
		Alternative string          `json:"alternative"`
		Always      bool            `json:"always"`
		Scope       string          `json:"scope"`
	}
	if len(entry.Payload) > 0 && (byApproval(p.Kind) || entry.Status == agui.Cancelled) {
		if err := json.Unmarshal(entry.Payload, &answer); err != nil {
			return agent.Decision{},
				malformed("the payload for %q isn't of the form that its schema asks for", entry.InterruptID)
		}
	}
	switch {
	case entry.Status == agui.Cancelled:
		return agent.Reject(p.ID, answer.Reason), nil
	case !byApproval(p.Kind):
		if len(entry.Payload) == 0 {
			return agent.Decision{}, malformed("the payload for %q is missing; it is the answer", entry.InterruptID)
		}
		return agent.Answer(p.ID, entry.Payload), nil
	case answer.Approved == nil:
		return agent.Decision{}, malformed(`the payload for %q needs "approved"`, entry.InterruptID)
	case !*answer.Approved && answer.Alternative != "":
		return agent.Suggest(p.ID, answer.Alternative), nil
	case !*answer.Approved:
		return agent.Reject(p.ID, answer.Reason), nil
	case answer.EditedArgs != nil:
		return agent.Edit(p.ID, answer.EditedArgs), nil
	case answer.Always:
		return agent.AllowAlways(p.ID).For(answer.Scope), nil
	}
	return agent.Approve(p.ID), nil
}

// repeated streams how the session goes on after answers that were taken before. It is an error if
// one of them was never asked for, or was answered otherwise.
func (a *aguiPost) repeated(w http.ResponseWriter, r *http.Request) *problem {
	if p := a.load(r); p != nil { // a moment ago, answers may have been taken
		return p
	}
	asked, err := a.hub.Asked(r.Context(), a.grant.session.ID())
	if err != nil {
		return failed(err)
	}
	for i := range a.in.Resume {
		was := asked[a.in.Resume[i].InterruptID]
		if was.Decided == nil || was.Pause.Kind == "" {
			return fail(http.StatusNotFound, CodeUnknown, fault.NotFound,
				"the session has no such interrupt, or not all that are open are answered")
		}
		d, p := resumeDecision(&was.Pause, &a.in.Resume[i])
		if p != nil {
			return p
		}
		made := &was.Decided.Decision
		if d.Kind != made.Kind || string(d.Input) != string(made.Input) ||
			!made.Secret && string(d.Value) != string(made.Value) {
			return fail(http.StatusConflict, codeUsed, fault.Invalid, "the interrupt was answered otherwise before")
		}
	}
	return a.stream(w, r, streamFrom{snapshot: true})
}

// hasResults reports whether messages have results of tools.
func hasResults(messages []agui.Message) bool {
	return slices.ContainsFunc(messages, func(m agui.Message) bool { return m.Role == agui.RoleTool })
}

// results takes the results of the front end's tools that the session waits for, and streams how it
// goes on. Those of other calls are ignored.
func (a *aguiPost) results(w http.ResponseWriter, r *http.Request) *problem {
	pending, err := a.grant.session.Pending(r.Context())
	if err != nil {
		return failed(err)
	}
	ds := resultsFor(a.in.Messages, pending)
	if len(ds) == 0 {
		return a.stream(w, r, streamFrom{snapshot: true})
	}
	if p := a.decideOpen(r, a.grant, ds); p != nil {
		return p
	}
	return a.stream(w, r, streamFrom{after: a.newest()})
}

// resultsFor returns the results of the front end's tools among a client's messages that a session
// waits for. A client adds a result to its call, so that it needn't be the last message.
func resultsFor(messages []agui.Message, pending []agent.Pause) (ds []agent.Decision) {
	for i := range pending {
		p := &pending[i]
		if string(p.Kind) != tools.SuspendExternal {
			continue
		}
		for j := range messages {
			m := &messages[j]
			if m.Role != agui.RoleTool || m.ToolCallID != p.Call.ID {
				continue
			}
			if m.Error != "" {
				ds = append(ds, agent.Reject(p.ID, m.Error))
			} else {
				ds = append(ds, agent.Answer(p.ID, jsonOrText(m.Content.Text)))
			}
			break
		}
	}
	return ds
}

// jsonOrText returns a text as it is if it is JSON, and else as a JSON string.
func jsonOrText(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, _ := json.Marshal(text)
	return raw
}
