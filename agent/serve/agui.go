package serve

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/agui"
	"github.com/pawlkit/pawl/stream/sse"
	"github.com/pawlkit/pawl/tools"
)

func (s *server) addAGUI(add adder) {
	add(http.MethodPost, "/agui", s.agui)
	add(http.MethodPost, "/agui/cancel", s.aguiCancel)
}

// agui answers what a client of AG-UI posts: answers to interrupts, results of the front end's
// tools, a user's message, or none of these, to see what goes on. The thread is the session.
func (s *server) agui(w http.ResponseWriter, r *http.Request, _ string) *problem {
	raw, p := s.read(w, r)
	if p != nil {
		return p
	}
	in, err := agui.ParseRunInput(raw, agui.Limits{Bytes: int(s.cfg.MaxBody)})
	if err != nil {
		return malformed("%v", err)
	}
	last := agui.Message{}
	if n := len(in.Messages); n > 0 {
		last = in.Messages[n-1]
	}
	switch {
	case len(in.Resume) > 0:
		return s.aguiResume(w, r, in)
	case last.Role == agui.RoleTool:
		return s.aguiResults(w, r, in)
	case last.Role == agui.RoleUser:
		return s.aguiMessage(w, r, in, &last)
	}
	g, p := s.allow(r, in.ThreadID, ActionRead)
	if p != nil {
		return p
	}
	return s.aguiNewest(w, r, g, in)
}

// aguiMessage starts a run with a user's message. Open interrupts block it.
func (s *server) aguiMessage(w http.ResponseWriter, r *http.Request, in *agui.RunInput, last *agui.Message) *problem {
	g, p := s.allow(r, in.ThreadID, ActionSend)
	if p != nil {
		return p
	}
	m := message{text: last.Content.Text, key: last.ID}
	var texts []string
	for _, part := range last.Content.Parts {
		switch {
		case part.Type == agui.PartText:
			texts = append(texts, *part.Text)
		case part.Source == nil || part.Source.Type != agui.SourceData:
			return fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid, "a file has to come with the message")
		default:
			data, err := base64.StdEncoding.DecodeString(part.Source.Value)
			if err != nil {
				return malformed("a file isn't base64")
			}
			m.files = append(m.files, file{Type: part.Source.MimeType, Data: data})
		}
	}
	if last.Content.Parts != nil {
		m.text = strings.Join(texts, "\n\n")
	}
	started, p := s.start(r, g, m)
	if p != nil && p.Code == CodeRepeated {
		return s.aguiNewest(w, r, g, in)
	}
	if p != nil {
		return p
	}
	return s.aguiStream(w, r, g, in, started.After, started.Run, nil)
}

// aguiResume takes the answers to all open interrupts. Repeated, it streams again what followed
// them.
func (s *server) aguiResume(w http.ResponseWriter, r *http.Request, in *agui.RunInput) *problem {
	g, p := s.allow(r, in.ThreadID, ActionDecide)
	if p != nil {
		return p
	}
	if p := tooMany(len(in.Resume)); p != nil {
		return p
	}
	pending, err := g.session.Pending(r.Context())
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
	for i := range in.Resume {
		entry := &in.Resume[i]
		pause := open(entry.InterruptID)
		if pause == nil {
			return s.aguiRepeated(w, r, g, in)
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
	facts, err := g.session.Facts(r.Context())
	if err != nil {
		return failed(err)
	}
	if _, p := s.decide(r, g, ds); p != nil {
		if p.Code == CodeUsed { // by the same request, a moment ago
			return s.aguiRepeated(w, r, g, in)
		}
		return p
	}
	after := facts[len(facts)-1].Envelope().Seq // there are facts: something is pending
	return s.aguiStream(w, r, g, in, after, "", restated(facts, after, in))
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

// aguiResults takes the results of the front end's tools that the session waits for. Those of other
// calls are ignored.
func (s *server) aguiResults(w http.ResponseWriter, r *http.Request, in *agui.RunInput) *problem {
	g, p := s.allow(r, in.ThreadID, ActionDecide)
	if p != nil {
		return p
	}
	pending, err := g.session.Pending(r.Context())
	if err != nil {
		return failed(err)
	}
	info, err := g.session.Info(r.Context())
	if err != nil {
		return failed(err)
	}
	var ds []agent.Decision
	for i := len(in.Messages) - 1; i >= 0 && in.Messages[i].Role == agui.RoleTool; i-- {
		m := &in.Messages[i]
		for j := range pending {
			if p := &pending[j]; p.Call.ID == m.ToolCallID && string(p.Kind) == tools.SuspendExternal {
				if m.Error != "" {
					ds = append(ds, agent.Reject(p.ID, m.Error))
				} else {
					ds = append(ds, agent.Answer(p.ID, jsonOrText(m.Content.Text)))
				}
			}
		}
	}
	if len(ds) == 0 {
		return s.aguiNewest(w, r, g, in)
	}
	if p := s.decideOpen(r, g, ds); p != nil {
		return p
	}
	return s.aguiStream(w, r, g, in, info.Facts, "", nil)
}

// jsonOrText returns a text as it is if it is JSON, and else as a JSON string.
func jsonOrText(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, _ := json.Marshal(text)
	return raw
}

// aguiStream streams the events after a fact's number, from the beginning of a run on if it is
// named, until the run has ended or paused. If the client may have some of what follows, messages
// are all that it should have before: it would add a message that is streamed again to the one that
// it has.
func (s *server) aguiStream(w http.ResponseWriter, r *http.Request, g *grant, in *agui.RunInput, after uint64,
	run string, messages []agui.Message) *problem {
	info, err := g.session.Info(r.Context()) // a pause before its newest fact may be over
	if err != nil {
		return failed(err)
	}
	return s.respond(w, r, func(out *response) *problem {
		events := agui.NewWriter(func(data []byte) error { return out.Write(sse.Event{Data: data}) })
		if err := events.Write(agui.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}); err != nil {
			return malformed("%v", err)
		}
		_ = events.Write(agui.StateSnapshot{Snapshot: stateOf(in.ThreadID, "")})
		if messages != nil {
			if err := events.Write(agui.MessagesSnapshot{Messages: messages}); err != nil {
				return malformed("%v", err)
			}
		}
		a := &aguiMap{put: events.Write}
		begun := run == ""
		var refused *agui.GrammarError
		p := s.watch(out, g, after, func(ev agent.Event) error {
			meta := ev.Envelope()
			if meta.Session() != g.session.ID() {
				return nil
			}
			if f, ok := ev.(*agent.RunStarted); ok && f.Run() == run {
				begun = true
			}
			if !begun {
				return nil
			}
			if _, again := ev.(*agent.Reset); again {
				facts, err := g.session.Facts(out.ctx)
				if err != nil {
					return err
				}
				if err := a.drop(machine.Conversation(until(facts, meta.Seq))); err != nil {
					return err
				}
			}
			if err := a.event(ev); err != nil && !errors.As(err, &refused) {
				return err
			}
			if a.ending == nil || meta.Seq < info.Facts {
				return nil
			}
			pending, err := g.session.Pending(out.ctx)
			if err != nil {
				return err
			}
			messages, err := g.session.Messages(out.ctx)
			if err != nil {
				return err
			}
			_ = a.finish(pending, messages)
			return errEnough
		})
		if p != nil {
			_ = events.Write(agui.RunError{Message: "The connection was lost. The work goes on; connect again.",
				Code: CodeUnavailable})
		}
		_ = events.Close()
		return nil
	})
}

// aguiCancel cancels the run of a thread.
func (s *server) aguiCancel(w http.ResponseWriter, r *http.Request, _ string) *problem {
	var body struct {
		Thread string `json:"thread"`
	}
	if p := s.decode(w, r, &body); p != nil {
		return p
	}
	return s.stop(w, r, body.Thread)
}
