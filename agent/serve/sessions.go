package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
)

const (
	defaultPage = 50
	maxPage     = 200
)

func (s *server) addSessions(add adder) {
	add(http.MethodGet, "/sessions", s.list)
	add(http.MethodDelete, "/sessions", s.delete)
	add(http.MethodGet, "/sessions/messages", got(s, "messages", messages))
	add(http.MethodGet, "/sessions/pending", got(s, "pending", (*agent.Session).Pending))
	add(http.MethodGet, "/sessions/rules", got(s, "rules", (*agent.Session).Rules))
	add(http.MethodDelete, "/sessions/rules", s.revoke)
	add(http.MethodPost, "/sessions/send", s.send)
	add(http.MethodPost, "/sessions/decide", s.decideRoute)
	add(http.MethodPost, "/sessions/stop", s.ending((*agent.Session).Stop))
	add(http.MethodPost, "/sessions/cancel", s.ending((*agent.Session).Cancel))
	add(http.MethodPost, "/sessions/pause", s.control(ActionControl,
		func(r *http.Request, g *grant, _ *controlBody) error { return g.session.Pause(r.Context()) }))
	add(http.MethodPost, "/sessions/continue",
		s.control(ActionControl, func(r *http.Request, g *grant, _ *controlBody) error {
			_, err := s.hub.Start(r.Context(), agent.Continue(g.session.ID()))
			return err
		}))
	add(http.MethodPost, "/sessions/mode", s.control(ActionControl,
		func(r *http.Request, g *grant, b *controlBody) error { return g.session.SetMode(r.Context(), b.Mode) }))
	add(http.MethodPost, "/sessions/title", s.control(ActionEdit,
		func(r *http.Request, g *grant, b *controlBody) error { return g.session.SetTitle(r.Context(), b.Title) }))
	add(http.MethodPost, "/sessions/fork", s.fork)
	add(http.MethodGet, "/sessions/undo", s.undoable)
	add(http.MethodPost, "/sessions/undo", s.undo)
}

// A listed is a session in a list.
type listed struct {
	Session string       `json:"session"`
	Title   string       `json:"title,omitempty"`
	Status  agent.Status `json:"status"`
	Updated time.Time    `json:"updated"`
	Pending int          `json:"pending,omitempty"` // how many decisions it waits for
}

// list answers with the sessions of the user.
func (s *server) list(w http.ResponseWriter, r *http.Request, _ string) *problem {
	user, p := s.identify(r, "", ActionList)
	if p != nil {
		return p
	}
	q, p := query(r, "limit", "after")
	if p != nil {
		return p
	}
	limit, p := number(q, "limit", maxPage)
	if p != nil {
		return p
	}
	limit = cmp.Or(limit, defaultPage)
	after, p := parseCursor(q["after"])
	if p != nil {
		return p
	}
	out := struct {
		Sessions []listed `json:"sessions"`
		Next     string   `json:"next,omitempty"` // the parameter "after" for what follows
	}{Sessions: []listed{}}
	filter := agent.SessionFilter{Owner: user, Before: after.updated, After: after.session}
	for info, err := range s.agent.Sessions(r.Context(), filter) {
		if err != nil && info.Session != "" {
			s.log.ErrorContext(r.Context(), "serve: a session can't be listed", "session", info.Session, "error", err)
			continue
		}
		if err != nil {
			return failed(err)
		}
		if len(out.Sessions) == limit {
			last := out.Sessions[limit-1]
			out.Next = cursor{last.Updated, last.Session}.String()
			break
		}
		out.Sessions = append(out.Sessions, listed{info.Session, info.Title, info.Status, info.Updated, info.Pending})
	}
	answer(w, http.StatusOK, out)
	return nil
}

// A cursor is a place in the list of sessions, which has the most recently changed ones first.
type cursor struct {
	updated time.Time
	session string
}

func (c cursor) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(c.updated.Format(time.RFC3339Nano) + " " + c.session))
}

func parseCursor(text string) (c cursor, p *problem) {
	if text == "" {
		return c, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	at, session, ok := strings.Cut(string(raw), " ")
	if err == nil && ok {
		c.updated, err = time.Parse(time.RFC3339Nano, at)
	}
	if err != nil || !ok || c.updated.IsZero() {
		return c, malformed(`"after" has to be the "next" of the page before`)
	}
	c.session = session
	return c, nil
}

// named returns the session of a query, if the request may do that with it.
func (s *server) named(r *http.Request, action Action, others ...string) (*grant, map[string]string, *problem) {
	q, p := query(r, append(others, "session")...)
	if p != nil {
		return nil, nil, p
	}
	g, p := s.allow(r, q["session"], action)
	return g, q, p
}

// got returns a handler that answers with a list of a session under a name.
func got[T any](s *server, name string, of func(*agent.Session, context.Context) ([]T, error)) handler {
	return func(w http.ResponseWriter, r *http.Request, _ string) *problem {
		g, _, p := s.named(r, ActionRead)
		if p != nil {
			return p
		}
		list, err := of(g.session, r.Context())
		if err != nil {
			return failed(err)
		}
		if list == nil {
			list = []T{}
		}
		answer(w, http.StatusOK, map[string]any{name: list})
		return nil
	}
}

// messages returns the conversation, without what only providers understand.
func messages(s *agent.Session, ctx context.Context) ([]provider.Message, error) {
	list, err := s.Messages(ctx)
	return publicMessages(list), err
}

// revoke ends a standing approval.
func (s *server) revoke(w http.ResponseWriter, r *http.Request, _ string) *problem {
	g, q, p := s.named(r, ActionControl, "tool")
	if p != nil {
		return p
	}
	if err := g.session.Revoke(r.Context(), q["tool"], g.user); err != nil {
		return failed(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *server) delete(w http.ResponseWriter, r *http.Request, _ string) *problem {
	g, _, p := s.named(r, ActionDelete)
	if p != nil {
		return p
	}
	if err := g.session.Delete(r.Context()); err != nil {
		return failed(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// A controlBody is the body of the requests that control a run or change a session.
type controlBody struct {
	Session string `json:"session"`
	Mode    string `json:"mode,omitempty"`
	Title   string `json:"title,omitempty"`
	At      uint64 `json:"at,omitempty"`
}

// control returns a handler that does something with a session, and answers with nothing.
func (s *server) control(action Action, f func(*http.Request, *grant, *controlBody) error) handler {
	return func(w http.ResponseWriter, r *http.Request, _ string) *problem {
		var body controlBody
		if p := s.decode(w, r, &body); p != nil {
			return p
		}
		g, p := s.allow(r, body.Session, action)
		if p != nil {
			return p
		}
		if err := f(r, g, &body); err != nil {
			return failed(err)
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// ending returns a handler that has the run of a session stop: see [server.end].
func (s *server) ending(stop func(*agent.Session, context.Context) error) handler {
	return func(w http.ResponseWriter, r *http.Request, _ string) *problem {
		var body controlBody
		if p := s.decode(w, r, &body); p != nil {
			return p
		}
		g, p := s.allow(r, body.Session, ActionControl)
		if p != nil {
			return p
		}
		return s.end(w, r, g, func(ctx context.Context) error { return stop(g.session, ctx) })
	}
}

// fork copies a session, up to a fact if the body says so. The copy belongs to the owner of the
// original, and its name is new.
func (s *server) fork(w http.ResponseWriter, r *http.Request, _ string) *problem {
	var body controlBody
	if p := s.decode(w, r, &body); p != nil {
		return p
	}
	g, p := s.allow(r, body.Session, ActionEdit)
	if p != nil {
		return p
	}
	name := rand.Text()
	if err := g.session.Fork(r.Context(), name, body.At); err != nil {
		return failed(err)
	}
	answer(w, http.StatusCreated, sent{Session: name})
	return nil
}
