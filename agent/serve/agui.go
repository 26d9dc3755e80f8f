package serve

import (
	"cmp"
	"encoding/base64"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/agui"
	"github.com/pawlkit/pawl/stream/sse"
)

func (s *server) addAGUI(add adder) {
	add(http.MethodPost, "/agui", s.aguiRun)
	add(http.MethodPost, "/agui/connect", s.aguiConnect)
	add(http.MethodGet, "/agui/messages", s.aguiMessages)
	add(http.MethodPost, "/agui/cancel", s.aguiCancel)
}

// aguiRun answers what a client of AG-UI posts: answers to interrupts, results of the front end's
// tools, a user's message, or none of these, to see what goes on. The thread is the session.
func (s *server) aguiRun(w http.ResponseWriter, r *http.Request, _ string) *problem {
	in, p := s.aguiInput(w, r)
	if p != nil {
		return p
	}
	action := ActionDecide
	var last *agui.Message // what the user says
	switch n := len(in.Messages); {
	case n > 0 && in.Messages[n-1].Role == agui.RoleUser:
		last, action = &in.Messages[n-1], ActionSend
	case len(in.Resume) == 0 && !hasResults(in.Messages):
		action = ActionRead
	}
	g, p := s.allow(r, in.ThreadID, action)
	if p == nil && action == ActionSend && len(in.Resume) > 0 {
		_, p = s.allow(r, in.ThreadID, ActionDecide)
	}
	if p != nil {
		return p
	}
	if s.forward(w, r, g) {
		return nil
	}
	leave, p := s.readers.enter(g.user)
	if p != nil {
		return s.aguiProblem(w, r, p)
	}
	defer leave()
	run := &aguiPost{server: s, in: in, grant: g}
	if g.exists {
		if p := run.load(r); p != nil {
			return p
		}
	}
	switch {
	case len(in.Resume) > 0:
		p = run.resume(w, r, last)
	case last != nil:
		if _, p = s.closes(r, g); p == nil {
			p = run.message(w, r, last)
		}
	default:
		p = run.results(w, r)
	}
	return s.aguiProblem(w, r, p)
}

// aguiConnect streams how a thread goes on, after what there is. It changes nothing.
func (s *server) aguiConnect(w http.ResponseWriter, r *http.Request, _ string) *problem {
	in, p := s.aguiInput(w, r)
	if p != nil {
		return p
	}
	g, p := s.allow(r, in.ThreadID, ActionRead)
	if p != nil && p.Status == http.StatusNotFound { // clients connect before the first message, too
		return s.aguiEmpty(w, r, in)
	}
	if p != nil {
		return p
	}
	if s.forward(w, r, g) {
		return nil
	}
	leave, p := s.readers.enter(g.user)
	if p != nil {
		return s.aguiProblem(w, r, p)
	}
	defer leave()
	run := &aguiPost{server: s, in: in, grant: g}
	return s.aguiProblem(w, r, run.stream(w, r, streamFrom{snapshot: true}))
}

// aguiEmpty answers with a thread that has no message yet.
func (s *server) aguiEmpty(w http.ResponseWriter, r *http.Request, in *agui.RunInput) *problem {
	return s.respond(w, r, func(out *response) *problem {
		events := agui.NewWriter(func(data []byte) error { return out.Write(sse.Event{Data: data}) })
		if in.ProtocolVersion == "" {
			events.Before10()
		}
		if err := events.Write(agui.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}); err != nil {
			return malformed("%v", err)
		}
		defer events.Close()
		_ = events.Write(agui.StateSnapshot{Snapshot: stateOf(in.ThreadID, "")})
		_ = events.Write(agui.MessagesSnapshot{Messages: []agui.Message{}})
		_ = events.Write(agui.RunFinished{})
		return nil
	})
}

func (s *server) aguiInput(w http.ResponseWriter, r *http.Request) (*agui.RunInput, *problem) {
	raw, p := s.read(w, r)
	if p != nil {
		return nil, p
	}
	in, err := agui.ParseRunInput(raw)
	if err != nil {
		return nil, malformed("%v", err)
	}
	return in, nil
}

// aguiProblem answers a client that reads events with an error of AG-UI, whose text is for people:
// it would show them the body of any other answer. Whoever has to sign in, isn't permitted, or has
// made a request of the wrong form gets a problem.
func (s *server) aguiProblem(w http.ResponseWriter, r *http.Request, p *problem) *problem {
	if p == nil || p.Status < http.StatusConflict && p.Status != http.StatusForbidden ||
		!strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return p
	}
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "serve: a run of AG-UI was refused", slog.String("path", r.URL.Path),
		slog.String("code", p.Code), slog.String("detail", p.Detail), slog.String("trace", traceOf(r)),
		slog.Any("error", p.cause))
	return s.respond(w, r, func(out *response) *problem {
		events := agui.NewWriter(func(data []byte) error { return out.Write(sse.Event{Data: data}) })
		_ = events.Write(agui.RunError{Message: p.sentence(), Code: p.Code})
		return nil
	})
}

// An aguiPost is a request of a client of AG-UI that was admitted.
type aguiPost struct {
	*server
	in    *agui.RunInput
	grant *grant
	facts []agent.Fact // of a session that exists
	turns []aguiTurn   // of them
	// pruned says that of the first turns only messages are left.
	pruned bool
}

// load reads the session.
func (a *aguiPost) load(r *http.Request) *problem {
	facts, err := a.grant.session.Facts(r.Context())
	if err != nil {
		return failed(err)
	}
	a.facts = facts
	a.turns, a.pruned = aguiTurns(facts)
	return nil
}

// message starts a run with a user's message, or sends it to the run in progress. The message
// replaces what the session has after the message that it follows. The same request again changes
// nothing.
func (a *aguiPost) message(w http.ResponseWriter, r *http.Request, last *agui.Message) *problem {
	m, p := aguiMessageOf(last)
	if p != nil {
		return p
	}
	m.key = cmp.Or(m.key, a.in.RunID) // some clients give messages no ids
	// the same message is sent again to replace what followed it
	m.version, m.supersede = shortKey(a.in.RunID)[2:18], true
	if slices.ContainsFunc(a.facts, func(f agent.Fact) bool { u, _ := inputOf(f); return u.key == m.inputKey() }) {
		return a.stream(w, r, streamFrom{snapshot: true})
	}
	at := placeIn(a.turns, a.in.Messages)
	if at.begins && a.pruned {
		return fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid,
			"the conversation can't go back to this message; send a new one")
	}
	if later := a.turns[at.after+1:]; len(later) > 0 {
		if a.grant.running && len(later) == 1 && later[0].has(last) && later[0].inputs[0].message.Text() == m.text {
			return a.stream(w, r, streamFrom{snapshot: true}) // the run is the answer to it
		}
		if a.grant.running {
			if p := a.stopRun(r.Context(), a.grant); p != nil {
				return p
			}
		}
		m.replaces = later[0].start
	}
	sent, p := a.deliver(r, a.grant, m)
	switch {
	case p != nil && p.Code == codeRepeated:
		return a.stream(w, r, streamFrom{snapshot: true})
	case p != nil:
		return p
	case sent.Steered:
		return a.stream(w, r, streamFrom{snapshot: true, unread: &unread{message: m, shown: last}})
	case at.stale || lacks(a.in.Messages, a.turns[:at.after+1]):
		return a.stream(w, r, streamFrom{snapshot: true})
	case m.replaces > 0:
		return a.stream(w, r, streamFrom{after: sent.After})
	}
	return a.stream(w, r, streamFrom{after: a.newest()}) // with what became of the calls that waited
}

// aguiMessageOf returns a user's message.
func aguiMessageOf(last *agui.Message) (m message, p *problem) {
	m = message{text: last.Content.Text, key: last.ID}
	var texts []string
	for _, part := range last.Content.Parts {
		switch {
		case part.Type == agui.PartText:
			texts = append(texts, part.Text)
		case part.Source == nil || part.Source.Type != agui.SourceData:
			return m, fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid,
				"a file has to come with the message")
		default:
			data, err := base64.StdEncoding.DecodeString(part.Source.Value)
			if err != nil {
				return m, malformed("a file isn't base64")
			}
			m.files = append(m.files, file{Type: part.Source.MimeType, Data: data})
		}
	}
	if last.Content.Parts != nil {
		m.text = strings.Join(texts, "\n\n")
	}
	return m, nil
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
