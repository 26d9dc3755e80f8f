package server

import (
	"net/http"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
)

// chatRoutes mount package serve once for each subscription plan, with the allowance that its users
// have for all requests to the agent.
func (s *Server) chatRoutes(mux *http.ServeMux) error {
	const prefix = "/agent"
	byPlan := map[string]http.Handler{}
	for name, allowance := range s.cfg.Limits.requests {
		chat, err := serve.New(s.cfg.Hub, serve.Config{
			Authorize: func(r *http.Request, _ string, _ serve.Action) (string, error) {
				u, err := s.userOf(r)
				if err != nil {
					return "", serve.ErrSignIn
				}
				return u.ID, nil
			},
			Input: func(_ *http.Request, in *agent.Input) error {
				in.Only, in.Labels = assistant.Reads, map[string]string{"trace": s.NewTrace()}
				in.Supersede = true // a run whose process has died
				return nil
			},
			MaxFiles: -1, Allowance: allowance, Title: "Content agent", Logger: s.cfg.Logger,
			Examples: []string{"Give me topic ideas for LinkedIn", "Show my drafts"},
		})
		if err != nil {
			return err
		}
		byPlan[name] = http.StripPrefix(prefix, chat)
	}
	mux.HandleFunc(prefix+"/", func(w http.ResponseWriter, r *http.Request) {
		u, err := s.userOf(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		byPlan[u.Plan].ServeHTTP(w, r)
	})
	return nil
}
