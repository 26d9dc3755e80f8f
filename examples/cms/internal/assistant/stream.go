package assistant

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/stream/sse"
)

// A streamBody is the body of POST stream.
type streamBody struct {
	SessionID string `json:"sessionId"`
	Prompt    string `json:"prompt"`
	Messages  []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Parts   json.RawMessage `json:"parts"`
	} `json:"messages"`
	Mode         string   `json:"mode"`
	System       string   `json:"system"`
	ToolsEnabled []string `json:"toolsEnabled"`
	CMSTarget    any      `json:"cmsTarget"` // there is one site, so it is ignored
}

// prompt returns the text of the newest message.
func (b *streamBody) prompt() string {
	if b.Prompt != "" || len(b.Messages) == 0 {
		return b.Prompt
	}
	last := b.Messages[len(b.Messages)-1]
	if last.Role != "user" {
		return ""
	}
	for _, content := range []json.RawMessage{last.Content, last.Parts} {
		var text string
		if json.Unmarshal(content, &text) == nil {
			return text
		}
		var parts []struct{ Text string }
		if json.Unmarshal(content, &parts) == nil {
			var b strings.Builder
			for _, p := range parts {
				b.WriteString(p.Text)
			}
			return b.String()
		}
	}
	return ""
}

// stream starts a run, and streams its events until it has ended.
func (s *server) stream(w http.ResponseWriter, r *http.Request) error {
	var body streamBody
	if err := decode(r, &body); err != nil {
		return err
	}
	text := body.prompt()
	switch {
	case body.SessionID == "":
		return invalid("sessionId is missing")
	case strings.TrimSpace(text) == "":
		return invalid("there is no message: send prompt, or messages of which the last is the user's")
	case body.System != "":
		return invalid("system can't be set: the instructions are the server's")
	}
	in := agent.Input{Session: body.SessionID, Prompt: text, Mode: body.Mode, Only: body.ToolsEnabled,
		Interactive: true, User: s.User,
		Title: title(text), Trace: r.Header.Get("Traceparent")}
	if _, err := s.session(in.Session).Info(r.Context()); errors.Is(err, agent.ErrNothingOpen) {
		in.Owner = s.User
	}
	started, err := s.Hub.Start(r.Context(), in)
	if err != nil {
		return err
	}
	return s.watch(w, r, body.SessionID, started.After, true)
}

// title returns the beginning of a message.
func title(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > 60 {
		return strings.TrimSpace(string(runes[:59])) + "…"
	}
	return string(runes)
}

// resume continues an interrupted session, and streams its events. A message is added to the run,
// or starts the next one.
func (s *server) resume(w http.ResponseWriter, r *http.Request) error {
	var body struct{ SessionID, UserMessage string }
	if err := decode(r, &body); err != nil {
		return err
	}
	if body.SessionID == "" {
		return invalid("sessionId is missing")
	}
	info, err := s.session(body.SessionID).Info(r.Context())
	if err != nil {
		return err
	}
	if info.Pending > 0 && body.UserMessage == "" {
		return fail(http.StatusConflict, "CONFLICT",
			"the session waits for %d decisions; decide them with /v1/agent/approve, or send a userMessage, which "+
				"rejects them", info.Pending)
	}
	in := agent.Continue(body.SessionID)
	if body.UserMessage != "" && (info.Pending > 0 || info.Status == agent.Completed || info.Status == agent.Failed) {
		in = agent.Input{Session: body.SessionID, Prompt: body.UserMessage, Interactive: true, User: s.User,
			Supersede: true}
		body.UserMessage = ""
	}
	started, err := s.Hub.Start(r.Context(), in)
	switch {
	case errors.Is(err, agent.ErrBusy): // it was resumed already
		started = live.Started{After: info.Facts}
	case err != nil:
		return err
	}
	if body.UserMessage != "" {
		if _, err := s.session(body.SessionID).Steer(r.Context(), body.UserMessage); err != nil {
			return err
		}
	}
	return s.watch(w, r, body.SessionID, started.After, true)
}

// follow streams the events of a session after a fact, as long as the client stays.
func (s *server) follow(w http.ResponseWriter, r *http.Request) error {
	session := r.FormValue("sessionId")
	if session == "" {
		session = r.FormValue("session")
	}
	var after uint64
	for _, id := range []string{r.FormValue("after"), r.Header.Get("Last-Event-ID")} {
		if id == "" {
			continue
		}
		n, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return invalid("the id of an event is a number in digits, not %.40q", id)
		}
		after = n
	}
	info, err := s.session(session).Info(r.Context())
	switch {
	case err != nil:
		return err
	case after > info.Facts:
		return fail(http.StatusNotFound, "NOT_FOUND", "the session has only %d events; begin with the first",
			info.Facts)
	}
	return s.watch(w, r, session, after, false)
}

// watch streams the events of a session. The id of an event is the number of its fact, so that a
// client that was disconnected continues with GET stream. With once, the stream ends with the run;
// while that waits for a decision, it stays open.
func (s *server) watch(w http.ResponseWriter, r *http.Request, session string, after uint64, once bool) error {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.Header().Set("X-Accel-Buffering", "no")
	out := sse.NewWriter(w, sse.WriterConfig{Connection: http.NewResponseController(w)})
	if out.Comment("connected") != nil {
		return nil
	}
	stop := out.Heartbeat(heartbeat)
	defer stop()
	t := newTranslator(session, s.System)
	var next uint64 // the number of the fact that is sent with its last event
	for ev, err := range s.Hub.Watch(r.Context(), session, after) {
		if err != nil {
			if r.Context().Err() == nil { // the client connects again
				_ = out.Write(sse.Event{Type: "hint", Data: []byte(`{"reconnect":true}`), Retry: time.Second})
			}
			return nil
		}
		if ev.Envelope().Session() == session {
			next = ev.Envelope().Seq
		}
		events := t.event(ev)
		for i, e := range events {
			data, err := json.Marshal(e)
			if err != nil {
				s.Logger.WarnContext(r.Context(), "assistant: an event can't be encoded", "type", e["type"],
					"error", err)
				continue
			}
			m := sse.Event{Data: data}
			if i == len(events)-1 && next > 0 {
				m.ID = strconv.FormatUint(next, 10)
			}
			if out.Write(m) != nil {
				return nil
			}
		}
		if end, ok := ev.(*agent.RunEnded); ok && once && end.Session() == session && end.Status != agent.Paused {
			return nil
		}
	}
	return nil
}
