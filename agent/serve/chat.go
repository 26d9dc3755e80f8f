package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/request"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/stream/uimessage"
)

func (s *server) addChat(add adder) {
	s.people = append(s.people, "/chat")
	add(http.MethodPost, "/chat", s.chat)
	add(http.MethodGet, "/chat/{session}/stream", s.chatResume)
	add(http.MethodPost, "/chat/{session}/stop", s.stop)
	add(http.MethodGet, "/chat/{session}/messages", s.chatMessages)
}

// chat answers what useChat posts: a user's message, or the last message of the agent with
// decisions and results in it.
func (s *server) chat(w http.ResponseWriter, r *http.Request, _ string) *problem {
	raw, p := s.read(w, r)
	if p != nil {
		return p
	}
	req, err := uimessage.ParseRequest(raw)
	if err != nil {
		return malformed("%v", err)
	}
	switch req.Last.Role {
	case "user":
		return s.chatMessage(w, r, req)
	case "assistant":
		return s.chatAnswer(w, r, req)
	}
	return malformed("the last message has to be that of a user, or of the assistant with decisions")
}

// chatAnswer takes the decisions and results in the agent's last message, and streams how the run
// goes on. Only what the session waits for counts; all else in the message is what the client was
// shown, or what somebody has made of it.
func (s *server) chatAnswer(w http.ResponseWriter, r *http.Request, req *uimessage.Request) *problem {
	g, p := s.allow(r, req.ID, ActionDecide)
	if p != nil {
		return p
	}
	leave, p := s.readers.enter(g.user)
	if p != nil {
		return p
	}
	defer leave()
	if s.forward(w, r, g, (*response).chatAway) {
		return nil
	}
	pending, err := g.session.Pending(r.Context())
	if err != nil {
		return failed(err)
	}
	ds, p := chatDecisions(req, pending)
	if p != nil {
		return p
	}
	if len(ds) > 0 {
		if p := s.decideOpen(r, g, ds); p != nil {
			return p
		}
	}
	t, p := g.newestTurn(r, req.Last.ID)
	if p != nil {
		return p
	}
	return s.chatStream(w, r, g, chatReply{turn: t, client: req.Last})
}

// chatDecisions returns the decisions in a request: those in the key "decisions" of its body, for
// what useChat has no words for, and else those in the parts of the message.
func chatDecisions(req *uimessage.Request, pending []agent.Pause) (ds []agent.Decision, p *problem) {
	var own struct {
		Decisions []request.Decision `json:"decisions"`
	}
	if raw, ok := req.Extra["decisions"]; ok {
		if err := request.Decode(slices.Concat([]byte(`{"decisions":`), raw, []byte("}")), &own); err != nil {
			return nil, malformed("the body: %v", err)
		}
	}
	given, p := parse(own.Decisions)
	if p != nil {
		return nil, p
	}
	taken := make(map[string]bool)
	add := func(d agent.Decision) {
		if !taken[d.ID] {
			taken[d.ID] = true
			ds = append(ds, d)
		}
	}
	for _, d := range given {
		add(d)
	}
	for _, d := range req.Last.Decisions() {
		if d.Approved {
			add(agent.Approve(d.ApprovalID))
		} else {
			add(agent.Reject(d.ApprovalID, d.Reason))
		}
	}
	for _, res := range req.Last.Results() {
		for i := range pending {
			if p := &pending[i]; p.Call.ID == res.ToolCallID && !byApproval(p.Kind) {
				switch {
				case res.ErrorText != "":
					add(agent.Reject(p.ID, res.ErrorText))
				case p.Kind == machine.PauseSecret:
					return nil, malformed(`a secret is answered with "decisions", so that the conversation doesn't keep it`)
				default:
					add(agent.Answer(p.ID, res.Output))
				}
			}
		}
	}
	return ds, tooMany(len(ds))
}

// stop stops the run in progress, if there is one.
func (s *server) stop(w http.ResponseWriter, r *http.Request, session string) *problem {
	g, p := s.allow(r, session, ActionControl)
	if p != nil {
		return p
	}
	return s.end(w, r, g, g.session.Cancel)
}

// stopTime is how long a request that cancels a run waits for its end.
const stopTime = time.Second

// end has a run stop, and answers 204 if it has or if none was in progress, and 202 if it is about
// to: it stops at its next safe point, or in another process.
func (s *server) end(w http.ResponseWriter, r *http.Request, g *grant, stop func(context.Context) error) *problem {
	err := stop(r.Context())
	if err != nil && !errors.Is(err, agent.ErrNothingOpen) {
		return failed(err)
	}
	late := time.Now().Add(stopTime)
	for wait := pollStop; err == nil; wait = min(2*wait, stopTime/10) {
		info, unread := g.session.Info(r.Context())
		if unread == nil && info.Status != agent.Running {
			break
		}
		if unread != nil || time.Now().After(late) {
			answer(w, http.StatusAccepted, map[string]bool{"stopping": true})
			return nil
		}
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// chatMessages answers with the conversation as useChat keeps it. The message of a run in progress
// is left out: the client gets it when it resumes.
func (s *server) chatMessages(w http.ResponseWriter, r *http.Request, session string) *problem {
	g, p := s.allow(r, session, ActionRead)
	if p != nil {
		return p
	}
	facts, err := g.session.Facts(r.Context())
	if err != nil {
		return failed(err)
	}
	messages := chatHistory(facts)
	if n := len(messages) - 1; n >= 0 && messages[n].Role == "assistant" && (g.running || s.interrupted(r, g)) {
		messages = messages[:n]
	}
	answer(w, http.StatusOK, map[string]any{"messages": messages})
	return nil
}
