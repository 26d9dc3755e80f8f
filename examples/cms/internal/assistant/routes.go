package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/stream/sse"
)

// A body is what the paths take; each has its own part of it.
type body struct {
	SessionID string `json:"sessionId"`
	Prompt    string `json:"prompt"`
	Messages  []struct {
		Role    string                  `json:"role"`
		Content string                  `json:"content"`
		Parts   []struct{ Text string } `json:"parts"`
	} `json:"messages"`
	Mode         string   `json:"mode"` // its name or its title
	System       string   `json:"system"`
	ToolsEnabled []string `json:"toolsEnabled"`
	CMSTarget    string   `json:"cmsTarget"` // what is on the screen: see Screen
	ApprovalID   string   `json:"approvalId"`
	Decision     string   `json:"decision"`
	Message      string   `json:"message"`
	UserMessage  string   `json:"userMessage"`
}

// read reads the body of a request about a session.
func (s *server) read(r *http.Request) (*body, *agent.Session, error) {
	var b body
	if err := decode(r, &b); err != nil {
		return nil, nil, err
	}
	if b.SessionID == "" {
		return nil, nil, invalid("sessionId is missing")
	}
	return &b, s.Hub.Agent().Session(b.SessionID), nil
}

// prompt returns the text of the newest message.
func (b *body) prompt() string {
	text := b.Prompt
	if n := len(b.Messages); text == "" && n > 0 && b.Messages[n-1].Role == "user" {
		text = b.Messages[n-1].Content
		for _, p := range b.Messages[n-1].Parts {
			text += p.Text
		}
	}
	return text
}

// stream starts a run, and streams its events until it has ended.
func (s *server) stream(w http.ResponseWriter, r *http.Request) error {
	b, session, err := s.read(r)
	if err != nil {
		return err
	}
	text := b.prompt()
	switch {
	case strings.TrimSpace(text) == "":
		return invalid("there is no message: send prompt, or messages of which the last is the user's")
	case b.System != "":
		return invalid("system can't be set: the instructions are the server's")
	}
	if m, ok := cmstools.ModeNamed(b.Mode); ok {
		b.Mode = m.Name
	}
	in := agent.Input{Session: b.SessionID, Prompt: text, Mode: b.Mode, Only: b.ToolsEnabled, Interactive: true,
		User: s.User, Title: fmt.Sprintf("%.60s", text), Trace: r.Header.Get("Traceparent"),
		Labels: Screen(b.CMSTarget)}
	if _, err := session.Info(r.Context()); errors.Is(err, agent.ErrNothingOpen) {
		in.Owner = s.User
	}
	started, err := s.Hub.Start(r.Context(), in)
	if err != nil {
		return err
	}
	return s.watch(w, r, b.SessionID, started.After, untilEnd)
}

// resume continues an interrupted session, and streams its events. A message is added to the run,
// or starts the next one.
func (s *server) resume(w http.ResponseWriter, r *http.Request) error {
	b, session, err := s.read(r)
	if err != nil {
		return err
	}
	info, err := session.Info(r.Context())
	switch {
	case err != nil:
		return err
	case info.Pending > 0 && b.UserMessage == "":
		return fail(http.StatusConflict,
			"the session waits for %d decisions; decide them with /v1/agent/approve, or send a userMessage, which "+
				"rejects them", info.Pending)
	}
	var work agent.Work = agent.Continue(b.SessionID)
	if b.UserMessage != "" && (info.Pending > 0 || info.Status == agent.Completed || info.Status == agent.Failed) {
		work = agent.Input{Session: b.SessionID, Prompt: b.UserMessage, Interactive: true, User: s.User,
			Supersede: true}
		b.UserMessage = ""
	}
	started, err := s.Hub.Start(r.Context(), work)
	switch {
	case errors.Is(err, agent.ErrBusy): // it was resumed already
		started = live.Started{After: info.Facts}
	case err != nil:
		return err
	}
	if b.UserMessage != "" {
		if _, err := session.Steer(r.Context(), b.UserMessage); err != nil {
			return err
		}
	}
	return s.watch(w, r, b.SessionID, started.After, untilEnd)
}

// approve takes a decision, and resumes the run.
func (s *server) approve(w http.ResponseWriter, r *http.Request) error {
	b, _, err := s.read(r)
	if err != nil {
		return err
	}
	if b.ApprovalID == "" {
		return invalid("approvalId is missing")
	}
	var d agent.Decision
	switch b.Decision {
	case "approve":
		d = agent.Approve(b.ApprovalID)
	case "reject":
		d = agent.Reject(b.ApprovalID, b.Message)
	case "alternative":
		d = agent.Suggest(b.ApprovalID, cmp.Or(strings.TrimSpace(b.Message), "Suggest another approach."))
	case "answer":
		d = agent.Answer(b.ApprovalID, b.Message)
	default:
		return invalid("decision is %q; it should be approve, reject, alternative or answer", b.Decision)
	}
	// a client that leaves has decided nevertheless
	_, err = s.Hub.Decide(context.WithoutCancel(r.Context()), b.SessionID, d.By(s.User))
	return succeeded(w, err)
}

func (s *server) cancel(w http.ResponseWriter, r *http.Request) error {
	b, _, err := s.read(r)
	if err != nil {
		return err
	}
	return succeeded(w, s.Hub.Cancel(r.Context(), b.SessionID))
}

// message sends a message to the run in progress, and answers when the run has read it.
func (s *server) message(w http.ResponseWriter, r *http.Request) error {
	b, session, err := s.read(r)
	if err != nil {
		return err
	}
	if strings.TrimSpace(b.Message) == "" {
		return invalid("message is empty")
	}
	if b.CMSTarget != "" {
		if err := sees(r.Context(), session, b.CMSTarget); err != nil {
			return err
		}
	}
	receipt, err := session.Steer(r.Context(), b.Message)
	if err != nil {
		return err
	}
	if _, err := receipt.Wait(r.Context()); err != nil {
		return fail(http.StatusConflict, "the run ended before it could read the message; start a new one")
	}
	return succeeded(w, nil)
}

func succeeded(w http.ResponseWriter, err error) error {
	if err == nil {
		answer(w, http.StatusOK, map[string]bool{"success": true})
	}
	return err
}

// traces answers with the events of a trace, of the newest 200 sessions unless one is named.
func (s *server) traces(w http.ResponseWriter, r *http.Request) error {
	trace, sessions := r.FormValue("traceId"), []string{r.FormValue("sessionId")}
	if trace == "" {
		return invalid("traceId is missing")
	}
	if sessions[0] == "" {
		sessions = nil
		for info, err := range s.Hub.Agent().Sessions(r.Context(), agent.SessionFilter{Limit: 200}) {
			if err != nil {
				return err
			}
			sessions = append(sessions, info.Session)
		}
	}
	for _, id := range sessions {
		facts, err := s.Hub.Agent().Session(id).Facts(r.Context())
		if err != nil {
			return err
		}
		events, t := []Event{}, s.translator(id)
		for _, f := range facts {
			for _, e := range t.event(f) {
				if e["traceId"] == trace {
					events = append(events, e)
				}
			}
		}
		if len(events) > 0 {
			answer(w, http.StatusOK,
				map[string]any{"data": map[string]any{"sessionId": id, "traceId": trace, "events": events},
					"message": "OK", "statusCode": http.StatusOK})
			return nil
		}
	}
	return fail(http.StatusNotFound, "no session has the trace %s", trace)
}

// The kinds of streams: to the end of a run, as long as the client stays, and that without noise.
const (
	untilEnd = iota
	forever
	forLog
)

func (s *server) follow(w http.ResponseWriter, r *http.Request) error { return s.from(w, r, forever) }
func (s *server) log(w http.ResponseWriter, r *http.Request) error    { return s.from(w, r, forLog) }

// from streams the events of a session after a fact.
func (s *server) from(w http.ResponseWriter, r *http.Request, kind int) error {
	session := cmp.Or(r.FormValue("sessionId"), r.FormValue("session"))
	id := cmp.Or(r.Header.Get("Last-Event-ID"), r.FormValue("after"), "0")
	after, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return invalid("the id of an event is a number in digits, not %.40q", id)
	}
	info, err := s.Hub.Agent().Session(session).Info(r.Context())
	switch {
	case err != nil:
		return err
	case after > info.Facts:
		return fail(http.StatusNotFound, "the session has only %d events; begin with the first", info.Facts)
	}
	return s.watch(w, r, session, after, kind)
}

// watch streams the events of a session. The id of an event is the number of its fact, so that a
// client that was disconnected continues with GET stream. While a run waits for a decision, the
// stream stays open.
func (s *server) watch(w http.ResponseWriter, r *http.Request, session string, after uint64, kind int) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("X-Accel-Buffering", "no")
	out := sse.NewWriter(w)
	if out.Comment("connected") != nil {
		return nil
	}
	defer out.Heartbeat(15 * time.Second)()
	t := s.translator(session)
	if after > 0 { // what came before counts, too
		if facts, err := s.Hub.Agent().Session(session).Facts(r.Context()); err == nil {
			for _, f := range facts {
				if f.Envelope().Seq <= after {
					t.event(f)
				}
			}
		}
	}
	for ev, err := range s.Hub.Watch(r.Context(), session, after) {
		if err != nil {
			if r.Context().Err() == nil { // the client connects again
				_ = out.Write(sse.Event{Type: "hint", Data: []byte(`{"reconnect":true}`), Retry: time.Second})
			}
			return nil
		}
		events := t.event(ev)
		for i, e := range events {
			if kind == forLog && (t.seq == 0 || noise[e["type"].(string)]) {
				continue
			}
			data, err := json.Marshal(e)
			if err != nil {
				s.Logger.WarnContext(r.Context(), "assistant: an event can't be encoded", "error", err)
				continue
			}
			m := sse.Event{Data: data}
			if i == len(events)-1 && t.next > 0 {
				m.ID = strconv.FormatUint(t.next, 10)
			}
			if out.Write(m) != nil {
				return nil
			}
		}
		if end, ok := ev.(*agent.RunEnded); ok && kind == untilEnd && end.Session() == session &&
			end.Status != agent.Paused {
			return nil
		}
	}
	return nil
}
