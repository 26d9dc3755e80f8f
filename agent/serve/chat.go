package serve

import (
	"errors"
	"net/http"
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/request"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/sse"
	"github.com/pawlkit/pawl/stream/uimessage"
)

func (s *server) addChat(add adder) {
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
	req, err := uimessage.ParseRequest(raw, uimessage.Limits{})
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

// chatMessage starts a run with a user's message. Decisions that the session waits for count as
// rejected.
func (s *server) chatMessage(w http.ResponseWriter, r *http.Request, req *uimessage.Request) *problem {
	g, p := s.allow(r, req.ID, ActionSend)
	if p != nil {
		return p
	}
	m := message{text: req.Last.Text(), key: req.Last.ID, supersede: true}
	if req.Trigger == "regenerate-message" {
		m.key = "" // the same message, asked again
	}
	files, err := req.Last.Files()
	if err != nil {
		return malformed("%v", err)
	}
	for _, f := range files {
		if f.URL != "" {
			return fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid,
				"a file has to come with the message, as a data URL")
		}
		m.files = append(m.files, file{Name: f.Filename, Type: f.MediaType, Data: f.Data})
	}
	started, p := s.start(r, g, m)
	if p != nil && p.Code != CodeRepeated {
		return p
	}
	if p == nil {
		return s.chatStream(w, r, g, started.After, started.Run, nil)
	}
	return s.chatNewest(w, r, g, nil)
}

// chatAnswer takes the decisions and results in the agent's last message, and streams how the run
// goes on. Only what the session waits for counts; all else in the message is what the client was
// shown, or what somebody has made of it.
func (s *server) chatAnswer(w http.ResponseWriter, r *http.Request, req *uimessage.Request) *problem {
	g, p := s.allow(r, req.ID, ActionDecide)
	if p != nil {
		return p
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
	return s.chatNewest(w, r, g, req.Last)
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
				if res.ErrorText != "" {
					add(agent.Reject(p.ID, res.ErrorText))
				} else {
					add(agent.Answer(p.ID, res.Output))
				}
			}
		}
	}
	return ds, tooMany(len(ds))
}

// chatNewest streams the message of the session's newest run. client is what the client has of it
// already; nil: nothing.
func (s *server) chatNewest(w http.ResponseWriter, r *http.Request, g *grant, client *uimessage.Message) *problem {
	res, err := g.session.Result(r.Context())
	if err != nil {
		return failed(err)
	}
	return s.chatStream(w, r, g, res.Start-min(res.Start, 1), "", client)
}

// chatResume streams the message in progress from its beginning.
func (s *server) chatResume(w http.ResponseWriter, r *http.Request, session string) *problem {
	g, p := s.allow(r, session, ActionRead)
	if p != nil && p.Status == http.StatusNotFound { // clients ask before the first message, too
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if p != nil {
		return p
	}
	info, err := g.session.Info(r.Context())
	if err != nil {
		return failed(err)
	}
	if info.Status != agent.Running {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return s.chatNewest(w, r, g, nil)
}

// stop stops the run in progress, if there is one.
func (s *server) stop(w http.ResponseWriter, r *http.Request, session string) *problem {
	g, p := s.allow(r, session, ActionControl)
	if p != nil {
		return p
	}
	if err := g.session.Cancel(r.Context()); err != nil && !errors.Is(err, agent.ErrNothingOpen) {
		return failed(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// chatStream streams a message: the events after a fact's number, from the beginning of a run on,
// or from that of the first run if it names none.
func (s *server) chatStream(w http.ResponseWriter, r *http.Request, g *grant, after uint64, run string,
	client *uimessage.Message) *problem {
	info, err := g.session.Info(r.Context()) // a pause before its newest fact may be over
	if err != nil {
		return failed(err)
	}
	w.Header().Set(uimessage.Header, uimessage.HeaderValue)
	return s.respond(w, r, func(out *response) *problem {
		chunks := uimessage.NewWriter(func(data []byte) error {
			return out.Write(sse.Event{Data: data})
		}, s.cfg.ChatLevel)
		c := newChatMap(chunks.Write)
		if client != nil {
			chunks.Continue(client)
			k := &continuation{client: client, write: chunks.Write}
			c.put = k.put
		}
		p := s.watch(out, g, after, func(ev agent.Event) error {
			meta := ev.Envelope()
			if f, ok := ev.(*agent.RunStarted); meta.Session() != g.session.ID() || ok && run != "" && c.run == "" &&
				f.Run() != run {
				return nil
			}
			if err := c.event(ev); err != nil && !ungrammatical(err) {
				return err
			}
			if c.over() && meta.Seq >= info.Facts {
				_ = c.finish()
				return errEnough
			}
			return nil
		})
		if p != nil && c.run == "" { // nothing was written
			return p
		}
		if p != nil {
			_ = chunks.Write(
				uimessage.Error{ErrorText: "The connection was lost. The work goes on; load the page again."})
		}
		_ = chunks.Close()
		_ = out.Write(sse.Event{Data: []byte(uimessage.Done)})
		return nil
	})
}

// A continuation leaves out of a message what the client has already: its steps, except for the
// results and approvals of their calls.
type continuation struct {
	client *uimessage.Message
	write  func(uimessage.Chunk) error
	known  int // the client's steps; 0 until the message has begun
	step   int
}

func (k *continuation) put(c uimessage.Chunk) error {
	switch c := c.(type) {
	case uimessage.Start:
		if c.MessageID == k.client.ID {
			k.known = k.client.Steps()
		}
		return k.write(c)
	case uimessage.StartStep:
		k.step++
	}
	if k.step > k.known {
		return k.write(c)
	}
	switch c := c.(type) {
	case uimessage.Finish, uimessage.Error, uimessage.Data, uimessage.ToolApprovalRequest,
		uimessage.ToolApprovalResponse,
		// the writer refuses what the client has
		uimessage.ToolOutputAvailable, uimessage.ToolOutputError, uimessage.ToolOutputDenied:
		return k.write(c)
	case uimessage.ToolInputAvailable:
		if !k.client.Has(c.ToolCallID) {
			return k.write(c)
		}
	}
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
	if info, err := g.session.Info(r.Context()); err == nil && info.Status == agent.Running && len(messages) > 0 &&
		messages[len(messages)-1].Role == "assistant" {
		messages = messages[:len(messages)-1]
	}
	answer(w, http.StatusOK, map[string]any{"messages": messages})
	return nil
}
