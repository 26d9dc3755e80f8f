package server

import (
	"net/http"
	"strconv"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// versionRoutes are the routes of versions and proposals.
func (s *Server) versionRoutes(mux *http.ServeMux) {
	st := s.Store
	on(s, mux, "GET /api/artifacts/{id}/versions", func(c *call, _ none) (any, error) {
		a, err := s.owned(c.Context(), c.user.ID, c.PathValue("id"))
		if err != nil {
			return nil, err
		}
		all, err := st.Versions(c.Context(), c.user.ID, a.ID)
		return map[string]any{"versions": all}, err
	})
	on(s, mux, "GET /api/artifacts/{id}/versions/{number}", func(c *call, _ none) (any, error) {
		a, number, err := s.versionOf(c)
		if err != nil {
			return nil, err
		}
		return st.Version(c.Context(), c.user.ID, a.ID, number)
	})
	on(s, mux, "POST /api/artifacts/{id}/versions/{number}/restore", func(c *call, _ none) (any, error) {
		a, number, err := s.versionOf(c)
		if err != nil {
			return nil, err
		}
		a, err = st.Restore(c.Context(), c.user.ID, a.ID, number)
		return s.show(c, a, err)
	})
	on(s, mux, "POST /api/artifacts/{id}/proposals", s.propose)
	for decision, accept := range map[string]bool{"accept": true, "reject": false} {
		on(s, mux, "POST /api/proposals/{id}/"+decision, func(c *call, _ none) (any, error) {
			a, err := st.Decide(c.Context(), c.user.ID, c.PathValue("id"), accept)
			return s.show(c, a, err)
		})
	}
}

// propose calls the tool that the chat proposes changes with, and answers with the artifact.
func (s *Server) propose(c *call, edit contenttools.Edit) (any, error) {
	a, err := s.owned(c.Context(), c.user.ID, c.PathValue("id"))
	if err == nil {
		err = s.cfg.Limits.request(c.w, c.Request, c.user)
	}
	if err != nil {
		return nil, err
	}
	edit.ArtifactID = a.ID
	in := agent.CallTool("", contenttools.ProposeEdit, edit)
	in.User, in.Interactive, in.Labels = c.user.ID, true, map[string]string{"trace": s.NewTrace()}
	res, err := s.Agent.Run(c.Context(), in)
	if err != nil {
		return nil, err
	}
	if p, failed := contenttools.ReadFailure(res.Called.Text()); failed {
		err = &portfolio.Error{Category: p.Category, Message: p.Message}
	}
	return s.show(c, a, err)
}

// versionOf returns the artifact and the number of the version that a request names.
func (s *Server) versionOf(c *call) (portfolio.Artifact, int, error) {
	number, err := strconv.Atoi(c.PathValue("number"))
	if err != nil {
		return portfolio.Artifact{}, 0, portfolio.Errorf(portfolio.InvalidInput, "A version is a number, such as 3.")
	}
	a, err := s.owned(c.Context(), c.user.ID, c.PathValue("id"))
	return a, number, err
}
