package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// chatMessage takes a user's message. It starts a run, which goes back in the session if the
// message was edited or is to be answered anew: see [placeOf]. A message that follows the answer in
// progress is sent to its run. Decisions that the session waits for count as rejected, unless
// Config.KeepApprovals refuses the message.
func (s *server) chatMessage(w http.ResponseWriter, r *http.Request, req *uimessage.Request) *problem {
	g, p := s.allow(r, req.ID, ActionSend)
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
	m, p := chatInput(req)
	if p != nil {
		return p
	}
	at, p := s.place(r, g, req)
	switch {
	case p != nil:
		return p
	case at.answered:
		return s.chatStream(w, r, g, chatReply{turn: at.answer})
	}
	if m.replaces, m.version = at.replaces, at.content; m.replaces > 0 && g.running {
		if p := s.stopRun(r.Context(), g); p != nil {
			return p
		}
	}
	reply, p := s.chatRun(r, g, m)
	if p != nil {
		return p
	}
	return s.chatStream(w, r, g, reply)
}

// place returns the place of a message in the session. For a message that follows the newest run,
// the log isn't read for that.
func (s *server) place(r *http.Request, g *grant, req *uimessage.Request) (place, *problem) {
	if !g.exists {
		return placeOf(req, nil)
	}
	if n := len(req.Before); n > 0 && req.Before[n-1].Role == "assistant" {
		if t, ok := g.isNewest(r, req.Before[n-1].ID); ok {
			return placeOf(req, []turn{t})
		}
	}
	turns, p := g.turns(r)
	if p != nil {
		return place{}, p
	}
	return placeOf(req, turns)
}

// chatInput returns the message of a user that a client has posted.
func chatInput(req *uimessage.Request) (message, *problem) {
	m := message{text: req.Last.Text(), key: req.Last.ID, supersede: true}
	files, err := req.Last.Files()
	if err != nil {
		return m, malformed("%v", err)
	}
	for _, f := range files {
		if f.URL != "" {
			return m, fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid,
				"a file has to come with the message, as a data URL")
		}
		m.files = append(m.files, file{Name: f.Filename, Type: f.MediaType, Data: f.Data})
	}
	return m, nil
}

// chatRun starts a run with a message, or sends it to the run in progress, and returns what answers
// it. If the session had the same message before, that is what answered it then.
func (s *server) chatRun(r *http.Request, g *grant, m message) (chatReply, *problem) {
	closed, p := s.closes(r, g)
	if p != nil {
		return chatReply{}, p
	}
	sent, p := s.deliver(r, g, m)
	switch {
	case p == nil && sent.Steered:
		return chatReply{sent: &m, turn: turn{from: g.facts + 1}}, nil
	case p == nil:
		return chatReply{closed: closed,
			turn: turn{id: sent.Run, run: sent.Run, from: sent.After + 1, runs: true}}, nil
	case p.Code != codeRepeated:
		return chatReply{}, p
	}
	run := p.Run
	turns, p := g.turns(r)
	if p != nil {
		return chatReply{}, p
	}
	i := slices.IndexFunc(turns, func(t turn) bool { return t.key == m.inputKey() })
	if i < 0 { // it had the key in another place
		i = slices.IndexFunc(turns, func(t turn) bool { return t.id == run })
	}
	if i < 0 { // the run in progress hasn't read it yet
		return chatReply{sent: &m, turn: turn{from: g.facts + 1}}, nil
	}
	return chatReply{turn: turns[i]}, nil
}

// closes returns the ids of the pauses that a new message supersedes. With Config.KeepApprovals
// there must be none.
func (s *server) closes(r *http.Request, g *grant) (ids []string, p *problem) {
	if !g.exists {
		return nil, nil
	}
	pending, err := g.session.Pending(r.Context())
	if err != nil {
		return nil, failed(err)
	}
	for i := range pending {
		for _, p := range pending[i].Flat() {
			ids = append(ids, p.ID)
		}
	}
	if s.cfg.KeepApprovals && slices.ContainsFunc(pending, func(p agent.Pause) bool { return byApproval(p.Kind) }) {
		return nil, waitsForDecision(len(pending))
	}
	return ids, nil
}

// waitsForDecision refuses a message because of Config.KeepApprovals.
func waitsForDecision(n int) *problem {
	return fail(http.StatusConflict, CodePaused, fault.Invalid,
		"the session waits for %d decisions, and the server is configured to keep them; decide first", n)
}

// chatRead waits until a run reads a message that was sent to it, and returns what follows it. If
// the run ends before that, the message starts the next one.
func (s *server) chatRead(r *http.Request, out *response, g *grant, reply chatReply) (chatReply, *problem) {
	key, after, ended := reply.sent.inputKey(), reply.turn.from-1, false
	p := s.watch(out, g, after, func(ev agent.Event) error {
		switch f := ev.(type) {
		case *agent.RunStarted:
			if f.Key == key {
				reply.turn = turn{id: f.Run(), run: f.Run(), from: f.Seq, runs: true}
				return errEnough
			}
		case *machine.Steered:
			if f.Key == key {
				reply.turn = turn{id: steeredID(f), run: f.Run(), from: f.Seq}
				return errEnough
			}
		case *agent.RunEnded:
			// after one that has completed, the hub starts the next one
			if f.Status != agent.Completed && f.Code != machine.CodeContextReset && !machine.GoesOn(f.Code) {
				ended = true
				return errEnough
			}
		}
		return nil
	})
	if p != nil || !ended {
		return reply, p
	}
	g.running = false
	return s.chatRun(r, g, *reply.sent)
}

// A message that replaces the answer in progress waits for its end, for maxStop at most, and looks
// at intervals of pollStop.
const (
	maxStop  = 10 * time.Second
	pollStop = 5 * time.Millisecond
)

// stopRun stops the run in progress and waits for its end.
func (s *server) stopRun(ctx context.Context, g *grant) *problem {
	if err := g.session.Cancel(ctx); err != nil && !errors.Is(err, agent.ErrNothingOpen) {
		return failed(err)
	}
	ctx, cancel := context.WithTimeout(ctx, maxStop)
	defer cancel()
	for {
		info, err := g.session.Info(ctx)
		if err != nil {
			return failed(err)
		}
		if info.Status != agent.Running {
			g.running = false
			return nil
		}
		select {
		case <-ctx.Done():
			return fail(http.StatusConflict, codeBusy, fault.Transient, "the answer in progress doesn't stop")
		case <-time.After(pollStop):
		}
	}
}
