package server

import (
	"net/http"
	"strings"

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
	on(s, mux, "POST "+base+"cancel", func(c *call, in struct {
		ArtifactID string `json:"artifactId"`
	}) (any, error) {
		err := s.Cancel(c.Context(), c.user.ID, in.ArtifactID)
		if err != nil {
			return nil, err
		}
		a, err := s.Store.Artifact(c.Context(), c.user.ID, in.ArtifactID)
		return s.show(c, a, err)
	})
	on(s, mux, "POST "+base+"reset", func(c *call, _ none) (any, error) {
		session, err := s.Conversation(c.Context(), c.user.ID, assistant.Main, true)
		return map[string]string{"session": session}, err
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
	if strings.TrimSpace(in.Message) == "" {
		return portfolio.Errorf(portfolio.InvalidInput, "The message is empty.")
	}
	if err := s.cfg.Limits.request(c.w, c.Request, c.user); err != nil {
		return err
	}
	for _, id := range []string{in.Screen.ArtifactID, assistant.Named(in.Message)} {
		if _, err := s.Store.Artifact(c.Context(), c.user.ID, id); id != "" && err != nil {
			return err
		}
	}
	return nil
}
