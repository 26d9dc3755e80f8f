package serve

import (
	"encoding/json"
	"net/http"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/stream/sse"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// A chatReply is a message of the agent that is streamed.
type chatReply struct {
	turn   turn
	client *uimessage.Message // what the client has of it already; nil: nothing
	closed []string           // ids of pauses that its input has superseded
	sent   *message           // its input, if the run in progress was sent that; of the turn, only from is known then
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
	if !g.running && !s.interrupted(r, g) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	leave, p := s.readers.enter(g.user)
	if p != nil {
		return p
	}
	defer leave()
	if s.forward(w, r, g, (*response).chatAway) {
		return nil
	}
	t, p := g.newestTurn(r, "")
	if p != nil {
		return p
	}
	return s.chatStream(w, r, g, chatReply{turn: t})
}

// interrupted reports whether the newest run goes on by itself, in another process or after a
// restart.
func (s *server) interrupted(r *http.Request, g *grant) bool {
	res, err := g.session.Result(r.Context())
	return err == nil && res.Status == agent.Paused && machine.GoesOn(res.Code)
}

// chatStream streams a message.
func (s *server) chatStream(w http.ResponseWriter, r *http.Request, g *grant, reply chatReply) *problem {
	return s.chatRespond(w, r, func(out *response) *problem {
		for reply.sent != nil {
			sent := reply.sent
			var p *problem
			if reply, p = s.chatRead(r, out, g, reply); p != nil {
				if out.away {
					out.chatAway()
					return nil
				}
				return p
			}
			if reply.sent == sent { // it was read
				reply.sent = nil
			}
		}
		return s.chatWrite(out, g, reply)
	})
}

// chatRespond answers with a stream of chunks. A problem after its beginning is a chunk, too.
func (s *server) chatRespond(w http.ResponseWriter, r *http.Request, f func(*response) *problem) *problem {
	w.Header().Set(uimessage.Header, uimessage.HeaderValue)
	p := s.respond(w, r, func(out *response) *problem {
		p := f(out)
		if p != nil && out.begun.yes {
			data, _ := uimessage.Marshal(uimessage.Error{ErrorText: p.sentence()})
			_ = out.Write(sse.Event{Data: data})
		}
		return p
	})
	if p != nil {
		w.Header().Del(uimessage.Header)
	}
	return p
}

// chatWrite writes a message to its end.
func (s *server) chatWrite(out *response, g *grant, reply chatReply) *problem {
	info, err := g.session.Info(out.ctx) // a pause before its newest fact may be over
	if err != nil {
		return failed(err)
	}
	chunks := uimessage.NewWriter(func(data []byte) error { return out.Write(sse.Event{Data: data}) }, s.cfg.ChatLevel)
	c := newChatMap(chunks.Write)
	if reply.client != nil {
		chunks.Continue(reply.client)
		k := &continuation{client: reply.client, write: chunks.Write}
		c.put = k.put
	}
	c.follow(reply.turn)
	p := s.watch(out, g, reply.turn.from-min(reply.turn.from, 1), func(ev agent.Event) error {
		meta := ev.Envelope()
		if meta.Session() != g.session.ID() {
			return nil
		}
		if f, ok := ev.(*agent.RunStarted); ok && c.run == "" && reply.turn.run != "" && f.Run() != reply.turn.run {
			return nil // its input has ended another run first
		}
		if err := c.event(ev); err != nil && !ungrammatical(err) {
			return err
		}
		if len(reply.closed) > 0 && c.run != "" {
			if err := c.transient("superseded", map[string][]string{"approvals": reply.closed}); err != nil {
				return err
			}
			reply.closed = nil
		}
		if c.left || c.over() && meta.Seq >= info.Facts {
			_ = c.finish()
			return errEnough
		}
		return nil
	})
	switch {
	case out.away: // a Finish would end calls whose inputs aren't complete
		out.chatAway()
		return nil
	case p != nil && c.run == "": // nothing was written
		return p
	case p != nil:
		_ = chunks.Write(
			uimessage.Error{ErrorText: "The connection was lost. The work goes on; load the page again."})
	}
	_ = chunks.Close()
	_ = out.Write(sse.Event{Data: []byte(uimessage.Done)})
	return nil
}

// chatAway tells a client to connect again soon. The stream has no end then, which clients don't
// show as an error.
func (out *response) chatAway() {
	data, _ := uimessage.Marshal(uimessage.Data{Name: "reconnect", Data: json.RawMessage(`{}`), Transient: true})
	_ = out.Write(sse.Event{Data: data})
}

// A continuation leaves out of a message what the client has already: its steps, except for the
// results, approvals and changed inputs of their calls.
type continuation struct {
	client *uimessage.Message
	write  func(uimessage.Chunk) error
	known  int // the client's steps; 0 until the message has begun
	step   int
	inputs map[string]bool // the calls whose inputs have come
}

func (k *continuation) put(c uimessage.Chunk) error {
	switch c := c.(type) {
	case uimessage.Start:
		k.inputs = make(map[string]bool)
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
		again := k.inputs[c.ToolCallID]
		k.inputs[c.ToolCallID] = true
		if again || !k.client.Has(c.ToolCallID) {
			return k.write(c)
		}
	}
	return nil
}
