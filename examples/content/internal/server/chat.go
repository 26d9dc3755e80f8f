package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
)

// chatPrefix is where package serve is mounted.
const chatPrefix = "/agent"

var errReserved = errors.New("server: the session has the name of somebody else's")

// chatRoutes mount package serve once for each subscription plan, with the allowance that its users
// have for all requests to the agent.
func (s *Server) chatRoutes(mux *http.ServeMux) error {
	byPlan := map[string]http.Handler{}
	for name, allowance := range s.cfg.Limits.requests {
		chat, err := serve.New(s.Hub, serve.Config{
			Authorize: func(r *http.Request, _ string, _ serve.Action) (string, error) {
				u, err := s.userOf(r)
				if err != nil {
					return "", serve.ErrSignIn
				}
				return u.ID, nil
			},
			Input: func(r *http.Request, in *agent.Input) error {
				if s.Reserved(in.User, in.Session) {
					return errReserved
				}
				in.Only, in.Labels = assistant.ChatTools, s.Labels(screenOf(r), in.Prompt)
				in.Supersede = true // a run whose process has died, or what waits for a decision
				return s.Sees(r.Context(), in.User, in.Session, screenOf(r))
			},
			MaxFiles: -1, Allowance: allowance, Title: "Content agent", Logger: s.cfg.Logger,
			Examples: []string{"Give me topic ideas for LinkedIn", "Show my drafts"},
		})
		if err != nil {
			return err
		}
		byPlan[name] = http.StripPrefix(chatPrefix, chat)
	}
	mux.HandleFunc(chatPrefix+"/", func(w http.ResponseWriter, r *http.Request) {
		u, err := s.userOf(r)
		var stop string
		if err == nil && r.Method == http.MethodPost {
			stop, err = s.meant(r, u.ID)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if stop != "" && !strings.HasSuffix(r.URL.Path, "/send") {
			if found, err := s.Stop(r.Context(), u.ID, stop); err != nil {
				s.fail(w, r, err)
				return
			} else if found { // the run ends by itself, and says what is done
				reply(w, http.StatusOK, map[string]any{})
				return
			}
		}
		byPlan[u.Plan].ServeHTTP(w, r)
		if stop != "" { // after the message, which is answered together with what was stopped
			if _, err := s.Stop(r.Context(), u.ID, stop); err != nil {
				s.cfg.Logger.ErrorContext(r.Context(), "stopping has failed", "component", "server", "error", err)
			}
		}
	})
	return nil
}

// screenOf returns what the user who makes a request has in front of them: the header
// X-Content-Screen has the path of the page, or else Referer.
func screenOf(r *http.Request) (v assistant.Screen) {
	path := r.Header.Get("X-Content-Screen")
	if path == "" {
		if _, rest, ok := strings.Cut(r.Referer(), "://"); ok {
			_, path, _ = strings.Cut(rest, "/")
		}
	}
	path = strings.Trim(path, "/")
	switch id, ok := strings.CutPrefix(path, "artifacts/"); {
	case ok && len(id) <= 64:
		v.CurrentPage, v.ArtifactID = "artifact", id
	case path == "portfolio":
		v.CurrentPage = "portfolio"
	default:
		v.CurrentPage = "dashboard"
	}
	return v
}

// meant makes a request to the chat what it is meant to be: a message that answers what the
// conversation asks is a decision. It returns the session whose pipeline is to be stopped.
func (s *Server) meant(r *http.Request, user string) (stop string, err error) {
	path := strings.TrimPrefix(r.URL.Path, chatPrefix+"/sessions/")
	if path != "send" && path != "stop" && path != "cancel" {
		return "", nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, serve.DefaultMaxBody+1))
	if err != nil {
		return "", err
	}
	again := func(body []byte) {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	again(text)
	var in struct{ Session, Text string }
	if json.Unmarshal(text, &in) != nil || in.Session == "" { // package serve says what is wrong
		return "", nil
	}
	if info, err := s.Agent.Session(in.Session).Info(r.Context()); err != nil || info.Owner != user {
		return "", nil //nolint:nilerr // it is new, or somebody else's
	}
	if path != "send" || assistant.IsStop(in.Text) {
		return in.Session, nil
	}
	d, err := s.Decision(r.Context(), user, in.Session, in.Text)
	if d == nil || err != nil {
		return "", err
	}
	decision := map[string]string{"id": d.ID, "decision": "approve"}
	if d.Reason != "" {
		decision = map[string]string{"id": d.ID, "decision": "reject", "reason": d.Reason}
	}
	body, err := json.Marshal(map[string]any{"session": in.Session, "decisions": []any{decision}})
	again(body)
	r.URL.Path = chatPrefix + "/sessions/decide"
	return "", err
}
