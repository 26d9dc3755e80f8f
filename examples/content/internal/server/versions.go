package server

import (
	"net/http"
	"strconv"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// at adds a path of an artifact of the user, below /api/artifacts/{id}.
func at[In any](s *Server, mux *http.ServeMux, method, path string,
	fn func(c *call, a portfolio.Artifact, in In) (any, error)) {
	on(s, mux, method+" /api/artifacts/{id}"+path, func(c *call, in In) (any, error) {
		a, err := s.Store.Artifact(c.Context(), c.user.ID, c.PathValue("id"))
		if err != nil {
			return nil, err
		}
		return fn(c, a, in)
	})
}

// versionRoutes are the routes of versions and proposals.
func (s *Server) versionRoutes(mux *http.ServeMux) {
	st := s.Store
	at(s, mux, "GET", "/versions", func(c *call, a portfolio.Artifact, _ none) (any, error) {
		all, err := st.Versions(c.Context(), a.User, a.ID)
		return map[string]any{"versions": all}, err
	})
	at(s, mux, "GET", "/versions/{number}", func(c *call, a portfolio.Artifact, _ none) (any, error) {
		number, err := c.number()
		if err != nil {
			return nil, err
		}
		return st.Version(c.Context(), a.User, a.ID, number)
	})
	at(s, mux, "POST", "/versions/{number}/restore", func(c *call, a portfolio.Artifact, _ none) (any, error) {
		number, err := c.number()
		if err == nil {
			a, err = st.Restore(c.Context(), a.User, a.ID, number)
		}
		return s.show(c, a, err)
	})
	at(s, mux, "POST", "/proposals", s.propose)
	for decision, accept := range map[string]bool{"accept": true, "reject": false} {
		on(s, mux, "POST /api/proposals/{id}/"+decision, func(c *call, _ none) (any, error) {
			a, err := st.Decide(c.Context(), c.user.ID, c.PathValue("id"), accept)
			return s.show(c, a, err)
		})
	}
}

// propose calls the tool that the chat proposes changes with, and answers with the artifact.
func (s *Server) propose(c *call, a portfolio.Artifact, edit contenttools.Edit) (any, error) {
	if err := s.cfg.Limits.request(c.w, c.Request, c.user); err != nil {
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

// number returns the number of the version that a request names.
func (c *call) number() (int, error) {
	number, err := strconv.Atoi(c.PathValue("number"))
	if err != nil {
		err = portfolio.Errorf(portfolio.InvalidInput, "A version is a number, such as 3.")
	}
	return number, err
}
