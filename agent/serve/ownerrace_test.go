package serve_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/serve"
)

// Somebody sends to a session that doesn't exist yet, and while that is checked, somebody else
// begins it. The late one neither steers nor reads it.
func TestOfTwoWhoBeginASessionOneGetsIt(t *testing.T) {
	for _, path := range []string{"sessions/send", "chat"} {
		for _, ended := range []bool{false, true} {
			checked, goOn := make(chan struct{}), make(chan struct{})
			model, gate := held(1)
			s := newSiteOf(t, agent.Config{Provider: model, Journal: journal.NewMemory()},
				serve.Config{Input: func(r *http.Request, _ *agent.Input) error {
					if r.Header.Get("User") == "bob" {
						close(checked)
						<-goOn
					}
					return nil
				}})
			body := obj{"session": "s-1", "text": "mine", "key": "u-1"}
			if path == "chat" {
				body = obj{"id": "s-1",
					"messages": []obj{{"id": "u-1", "role": "user", "parts": []obj{{"type": "text", "text": "mine"}}}}}
			}
			answered := make(chan problem)
			go func() { answered <- s.refused("bob", "POST", path, body) }()
			<-checked
			s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "secret", "key": "u-1"}, nil)
			<-gate.called
			if ended {
				gate.open <- struct{}{}
				s.wait("s-1")
			}
			close(goOn)
			require.Equal(t, serve.CodeUnknown, (<-answered).Code, "%s, ended: %t", path, ended)
			if !ended {
				gate.open <- struct{}{}
			}
			messages, err := s.agent.Session("s-1").Messages(t.Context())
			require.NoError(t, err)
			for i := range messages {
				require.NotContains(t, messages[i].Text(), "mine")
			}
			s.wait("s-1")
		}
	}
}
