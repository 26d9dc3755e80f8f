package api

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider"
)

// A sessionView is a conversation with the agent.
type sessionView struct {
	ID        string        `json:"id"`
	Title     string        `json:"title"`
	Mode      string        `json:"mode,omitempty"`
	Status    string        `json:"status"` // new, running, paused, completed, stopped or failed
	Pending   int           `json:"pending"`
	Approvals []agent.Pause `json:"approvals,omitempty"` // what waits for a decision; not in a list
	Resumable bool          `json:"resumable"`           // it was interrupted, or is paused
	UpdatedAt time.Time     `json:"updatedAt"`
}

// A messageView is a message of a conversation.
type messageView struct {
	ID    string          `json:"id"` // its number in the conversation, from 1
	Role  provider.Role   `json:"role"`
	Text  string          `json:"text"`
	Parts []provider.Part `json:"parts"`
}

type (
	sessionBody struct {
		Title string `json:"title,omitempty"`
		Mode  string `json:"mode,omitempty"`
	}
	sessionChange struct {
		Title *string `json:"title,omitempty"`
		Mode  *string `json:"mode,omitempty"` // from the next message on
	}
	messageBody struct {
		Content string `json:"content"`
		Mode    string `json:"mode,omitempty"`
		Key     string `json:"key,omitempty"` // makes a repeated request harmless
	}
	sentMessage struct {
		SessionID string `json:"sessionId"`
		RunID     string `json:"runId,omitempty"` // of the run that was started
		Steered   bool   `json:"steered"`         // the message went to the run in progress
	}
	removedMessage struct {
		// SessionID is the session to continue: another one, without the last turn, if the
		// message belonged to that.
		SessionID string `json:"sessionId"`
	}
)

// sessionRoutes are the routes of conversations. What they show comes from the agent's journal.
func (s *server) sessionRoutes() []route {
	const session = "/v1/sessions/{session}"
	return []route{
		on(get, "/v1/sessions", "The sessions.", s.listSessions),
		made("/v1/sessions", "The session was created.", s.createSession),
		on(get, session, "The session.", s.session),
		on(patch, session, "The session was changed.", s.changeSession),
		on(del, session, "The session was deleted.", s.deleteSession),
		on(get, session+"/messages", "The messages.", s.messages),
		made(session+"/messages", "The message was sent.", s.send),
		on(del, session+"/messages/{message}", "The message was removed.", s.removeMessage),
	}
}

func (s *server) createSession(c *call, in sessionBody) (*sessionView, error) {
	id := "s-" + strings.ToLower(rand.Text()[:16])
	if err := s.checkMode(in.Mode); err != nil {
		return nil, err
	}
	if err := s.Site.PutSession(c.Context(), site.Session{ID: id, Title: in.Title, Mode: in.Mode}); err != nil {
		return nil, err
	}
	return s.view(c, id)
}

func (s *server) deleteSession(c *call, in none) (*sessionView, error) {
	v, err := s.session(c, in)
	if err != nil {
		return nil, err
	}
	if err := s.hub.Agent().Session(v.ID).Delete(c.Context()); err != nil {
		return nil, err
	}
	return v, s.Site.DeleteSession(c.Context(), v.ID)
}

func (s *server) checkMode(mode string) error {
	if modes := s.hub.Agent().Modes(); mode != "" && !slices.Contains(modes, mode) {
		return refuse(http.StatusBadRequest, "VALIDATION_ERROR", "the mode %q is unknown; use one of %s", mode,
			strings.Join(modes, ", "))
	}
	return nil
}

func (s *server) listSessions(c *call, _ none) ([]sessionView, error) {
	list, known := []sessionView{}, map[string]bool{}
	for info, err := range s.hub.Agent().Sessions(c.Context(), agent.SessionFilter{Limit: 200}) {
		if err != nil && info.Session == "" {
			return nil, err
		}
		known[info.Session] = true
		if err != nil {
			list = append(list, sessionView{ID: info.Session, Status: "unreadable"})
			continue
		}
		list = append(list, viewOf(info))
	}
	made, err := s.Site.Sessions(c.Context())
	if err != nil {
		return nil, err
	}
	for _, m := range made {
		if !known[m.ID] {
			list = append(list,
				sessionView{ID: m.ID, Title: m.Title, Mode: m.Mode, Status: "new", UpdatedAt: m.CreatedAt})
		}
	}
	slices.SortStableFunc(list, func(a, b sessionView) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return list, nil
}

func viewOf(info agent.SessionInfo) sessionView {
	return sessionView{ID: info.Session, Title: info.Title, Status: string(info.Status), Pending: info.Pending,
		Resumable: info.Status == machine.Running || info.Status == machine.Paused, UpdatedAt: info.Updated}
}

func (s *server) session(c *call, _ none) (*sessionView, error) {
	return s.view(c, c.PathValue("session"))
}

// view returns a session, which may have no run yet.
func (s *server) view(c *call, id string) (*sessionView, error) {
	made, _, err := s.Site.GetSession(c.Context(), id)
	if err != nil {
		return nil, err
	}
	handle := s.hub.Agent().Session(id)
	info, err := handle.Info(c.Context())
	switch {
	case errors.Is(err, agent.ErrNothingOpen) && !made.CreatedAt.IsZero():
		return &sessionView{ID: id, Title: made.Title, Mode: made.Mode, Status: "new", UpdatedAt: made.CreatedAt}, nil
	case err != nil:
		return nil, err
	}
	v := viewOf(info)
	v.Mode = made.Mode
	if v.Mode == "" {
		if r, err := handle.Result(c.Context()); err == nil {
			v.Mode = r.Mode
		}
	}
	v.Approvals, err = handle.Pending(c.Context())
	return &v, err
}

func (s *server) changeSession(c *call, in sessionChange) (*sessionView, error) {
	v, err := s.session(c, none{})
	if err != nil {
		return nil, err
	}
	if in.Title == nil && in.Mode == nil {
		return nil, refuse(http.StatusBadRequest, "VALIDATION_ERROR", "nothing to change; give title or mode")
	}
	handle := s.hub.Agent().Session(v.ID)
	if in.Title != nil {
		if v.Title = *in.Title; v.Status != "new" {
			if err := handle.SetTitle(c.Context(), v.Title); err != nil {
				return nil, err
			}
		}
	}
	if in.Mode != nil {
		v.Mode = *in.Mode
		if err := s.checkMode(v.Mode); err != nil {
			return nil, err
		}
		if err := handle.SetMode(c.Context(), v.Mode); v.Status == string(machine.Running) && err != nil &&
			!errors.Is(err, agent.ErrNothingOpen) {
			return nil, err
		}
	}
	if err := s.Site.PutSession(c.Context(), site.Session{ID: v.ID, Title: v.Title, Mode: v.Mode}); err != nil {
		return nil, err
	}
	return s.session(c, none{})
}

func (s *server) messages(c *call, in none) ([]messageView, error) {
	v, err := s.session(c, in)
	if err != nil {
		return nil, err
	}
	_, hidden, err := s.Site.GetSession(c.Context(), v.ID)
	if err != nil {
		return nil, err
	}
	list := []messageView{}
	all, err := s.hub.Agent().Session(v.ID).Messages(c.Context())
	for i, m := range all {
		if !hidden[i+1] {
			list = append(list, messageView{ID: strconv.Itoa(i + 1), Role: m.Role, Text: m.Text(), Parts: m.Parts})
		}
	}
	return list, err
}

// send starts a run with a message, or steers the one in progress.
func (s *server) send(c *call, in messageBody) (*sentMessage, error) {
	v, err := s.session(c, none{})
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Content) == "" {
		return nil, refuse(http.StatusBadRequest, "VALIDATION_ERROR", "the message is empty; give content")
	}
	if err := s.checkMode(in.Mode); err != nil {
		return nil, err
	}
	started, err := s.hub.Start(c.Context(), agent.Input{Session: v.ID, Prompt: in.Content,
		Mode: cmp.Or(in.Mode, v.Mode), Title: v.Title, Key: in.Key, Interactive: true})
	if errors.Is(err, agent.ErrBusy) {
		if _, failed := s.hub.Agent().Session(v.ID).Steer(c.Context(), in.Content, in.Key); failed != nil {
			return nil, err
		}
		return &sentMessage{SessionID: v.ID, Steered: true}, nil
	}
	if err != nil {
		return nil, err
	}
	return &sentMessage{SessionID: v.ID, RunID: started.Run}, nil
}

// removeMessage hides a message. If it belongs to the last turn, the conversation goes on in a copy
// that ends before it, because the agent would still read it in this one.
func (s *server) removeMessage(c *call, _ none) (out removedMessage, err error) {
	v, err := s.session(c, none{})
	if err != nil {
		return out, err
	}
	handle := s.hub.Agent().Session(v.ID)
	all, err := handle.Messages(c.Context())
	if err != nil {
		return out, err
	}
	n, err := strconv.Atoi(c.PathValue("message"))
	if err != nil || n < 1 || n > len(all) {
		return out, refuse(http.StatusNotFound, "NOT_FOUND", "the session has no message %s; list its messages",
			c.PathValue("message"))
	}
	last := 0 // the number of the message that began the last turn
	for i, m := range all {
		if m.Role == provider.RoleUser {
			last = i + 1
		}
	}
	if n < last {
		return removedMessage{v.ID}, s.Site.HideMessage(c.Context(), v.ID, n)
	}
	facts, err := handle.Facts(c.Context())
	if err != nil {
		return out, err
	}
	begun := uint64(0)
	for _, f := range facts {
		if _, ok := f.(*machine.RunStarted); ok {
			begun = f.Envelope().Seq
		}
	}
	copied := fmt.Sprintf("s-%s", strings.ToLower(rand.Text()[:16]))
	if err := s.Site.PutSession(c.Context(), site.Session{ID: copied, Title: v.Title, Mode: v.Mode}); err != nil {
		return out, err
	}
	if begun > 1 {
		if err := handle.Fork(c.Context(), copied, begun-1); err != nil {
			return out, errors.Join(err, s.Site.DeleteSession(c.Context(), copied))
		}
	}
	return removedMessage{copied}, nil
}
