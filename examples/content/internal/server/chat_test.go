package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

// chat sends a message into the conversation of the pages, with an artifact on the screen, and
// returns what is said when it is answered or asks.
func (s *site) chat(user, artifact, text string) string {
	s.t.Helper()
	session := s.call(user, "GET", "/api/me", nil).ok().str("session")
	before := s.facts(session)
	s.post(user, "send", artifact, map[string]any{"session": session, "text": text})
	return s.said(session, before)
}

// post makes a request to the chat.
func (s *site) post(user, action, artifact string, body map[string]any) {
	s.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(s.t, err)
	req, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+"/agent/sessions/"+action,
		strings.NewReader(string(text)))
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.tokens[user])
	req.Header.Set("X-Content-Screen", "/artifacts/"+artifact)
	a := s.do(req)
	require.Less(s.t, a.status, 300, a.raw)
}

// facts returns the number of the newest fact of a session; 0 if there is none.
func (s *site) facts(session string) uint64 {
	info, err := s.services.Agent.Session(session).Info(s.t.Context())
	if err != nil {
		return 0
	}
	return info.Facts
}

// said waits for the end of a run, and returns its answer, or what it asks.
func (s *site) said(session string, after uint64) string {
	s.t.Helper()
	for ev, err := range s.services.Hub.Watch(s.t.Context(), session, after) {
		require.NoError(s.t, err)
		if _, ended := ev.(*agent.RunEnded); ended {
			break
		}
	}
	res, err := s.services.Agent.Session(session).Result(s.t.Context())
	require.NoError(s.t, err)
	for _, p := range res.Pending {
		return p.Title + ": " + p.Reason
	}
	return res.Text()
}

func TestThePagesHaveOneConversation(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.draft("ann", "Remote work")
	require.Contains(t, s.chat("ann", id, "Research this topic"), "Done: research.")
	require.Contains(t, s.say("ann", "", "What's the status of this?").ok().str("message"), "researched",
		"execute continues it")
	require.Contains(t, s.chat("ann", id, "Continue"), "Done: outline, text, revision and images.")

	require.Equal(t, "Publish “Remote work”: Others can read “Remote work” then.", s.chat("ann", id, "Publish it"))
	require.Equal(t, "All right, nothing was changed.", s.chat("ann", id, "ok, wait, don't do that"))
	require.Equal(t, "ready", s.artifact("ann", id).str("status"))
	s.chat("ann", id, "Publish it")
	require.Equal(t, "“Remote work” is published.", s.chat("ann", id, "ok"))
	require.Equal(t, "published", s.artifact("ann", id).str("status"))

	before := s.call("ann", "GET", "/api/me", nil).str("session")
	fresh := s.call("ann", "POST", "/api/content-agent/reset", nil).ok().str("session")
	require.NotEqual(t, before, fresh)
	require.Equal(t, fresh, s.call("ann", "GET", "/api/me", nil).str("session"))
	require.NotContains(t, fresh, "ann")
}

func TestAStopInThePageStopsThePipelineAndSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	for action, body := range map[string]map[string]any{"cancel": {}, "stop": {}, "send": {"text": "stop"}} {
		s := newSite(t, options{})
		writing := make(chan struct{}, 1)
		s.hook = func(ctx context.Context, kind string) error {
			if kind == "skeleton" {
				writing <- struct{}{}
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		}
		id := s.draft("ann", "Remote work")
		session := s.call("ann", "GET", "/api/me", nil).ok().str("session")
		s.post("ann", "send", id, map[string]any{"session": session,
			"text": "Create content for artifact " + id + ": X"})
		<-writing
		require.Equal(t, "Outline", s.artifact("ann", id).str("pipeline", "progress", "text"))
		body["session"] = session
		s.post("ann", action, id, body)
		require.Equal(t, "Stopped. Research is done; the outline isn't.", s.said(session, 0), action)
		require.Equal(t, "stopped", s.artifact("ann", id).str("pipeline", "state"))
		require.Equal(t, "research", s.artifact("ann", id).str("status"))
	}
}
