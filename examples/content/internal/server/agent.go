package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

func (s *Server) agentRoutes(mux *http.ServeMux) {
	const base = "/api/content-agent/"
	on(s, mux, "POST "+base+"execute", func(c *call, in assistant.Request) (any, error) {
		if err := s.admit(c, &in); err != nil {
			return nil, err
		}
		ctx, end := s.detached(c.Request)
		defer end()
		a := s.Execute(ctx, in)
		if a.Error != nil {
			retryAfter(c.w, a.Error.RetryAfter)
			reply(c.w, statusOf(a.Error.Category), a)
			return answered, nil
		}
		return a, nil
	})
	on(s, mux, "POST "+base+"stream", s.stream)
	on(s, mux, "POST "+base+"cancel", func(c *call, in struct {
		ArtifactID string `json:"artifactId"`
	}) (any, error) {
		a, err := s.owned(c.Context(), c.user.ID, in.ArtifactID)
		if err == nil {
			err = s.Cancel(c.Context(), c.user.ID, a.ID)
		}
		if err == nil {
			a, err = s.Store.Artifact(c.Context(), c.user.ID, a.ID)
		}
		return s.show(c, a, err)
	})
	on(s, mux, "GET "+base+"sessions/{id}", func(c *call, _ none) (any, error) {
		if err := ownSession(c.user, c.PathValue("id")); err != nil {
			return nil, err
		}
		return s.Session(c.Context(), c.PathValue("id"), c.user.ID)
	})
	on(s, mux, "POST "+base+"sessions/{id}/reset", func(c *call, _ none) (any, error) {
		if err := ownSession(c.user, c.PathValue("id")); err != nil {
			return nil, err
		}
		return s.ResetSession(c.Context(), c.PathValue("id"), c.user.ID)
	})
}

// admit checks a request to the agent.
func (s *Server) admit(c *call, in *assistant.Request) (err error) {
	defer func() {
		if err != nil {
			s.Refused(err)
		}
	}()
	in.User = c.user.ID
	if err := ownSession(c.user, in.Session); in.Session != "" && err != nil {
		return err
	}
	if pages := []string{"", "portfolio", "artifact", "dashboard", "chat"}; !slices.Contains(pages,
		in.Screen.CurrentPage) {
		return portfolio.Errorf(portfolio.InvalidInput, "There is no page %q; there are%s.", in.Screen.CurrentPage,
			strings.Join(pages, " "))
	}
	if strings.TrimSpace(in.Message) == "" {
		return portfolio.Errorf(portfolio.InvalidInput, "The message is empty.")
	}
	if err := s.cfg.Limits.request(c.w, c.Request, c.user); err != nil {
		return err
	}
	for _, id := range []string{in.Screen.ArtifactID, assistant.Named(in.Message)} {
		if id == "" {
			continue
		}
		if _, err := s.owned(c.Context(), c.user.ID, id); err != nil {
			return err
		}
	}
	return nil
}

// ownSession returns an error if a session isn't the user's: it has the name user/name.
func ownSession(u portfolio.User, id string) error {
	name, ok := strings.CutPrefix(id, u.ID+"/")
	if !ok || name == "" || len(id) > 100 ||
		strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '/' || r > '~' }) {
		return portfolio.Errorf(portfolio.Unauthorized, "You do not have access to this session. Yours begin with %s/.",
			u.ID)
	}
	return nil
}

// stream executes a request and reports what happens as server-sent events.
func (s *Server) stream(c *call, in assistant.Request) (any, error) {
	if err := s.admit(c, &in); err != nil {
		return nil, err
	}
	ctx, end := s.detached(c.Request)
	defer end()
	out := newEvents(c.w)
	in.Detected = func(v intent.Verdict) {
		out.send("intent", map[string]any{"intent": v.Intent, "confidence": v.Confidence})
	}
	in.Progress = func(p assistant.Step) {
		out.send("tool", p)
		if a, err := s.Store.Artifact(ctx, c.user.ID, p.Artifact); err == nil {
			out.send("status", map[string]any{"artifactId": a.ID, "status": a.Status})
		}
	}
	a := s.Execute(ctx, in)
	if a.Error != nil {
		out.send("error", a.Error)
	} else {
		out.send("text", map[string]any{"text": a.Message})
		out.send("structured",
			map[string]any{"data": a.Data, "options": a.Options, "clarificationNeeded": a.ClarificationNeeded})
	}
	out.send("done", a)
	return answered, nil
}

// events writes server-sent events. A client that doesn't read loses the rest.
type events struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	gone bool
}

func newEvents(w http.ResponseWriter) *events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	return &events{w: w, ctl: http.NewResponseController(w)}
}

func (e *events) send(name string, v any) {
	data, err := json.Marshal(v)
	if e.gone || err != nil {
		return
	}
	_ = e.ctl.SetWriteDeadline(time.Now().Add(10 * time.Second)) // a test's writer has none
	_, err = fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, data)
	e.gone = cmp.Or(err, e.ctl.Flush()) != nil
}
