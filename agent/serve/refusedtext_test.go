package serve_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A text that a hook refuses is the client's mistake, in each protocol. The answer doesn't say why.
func TestATextThatAHookRefuses(t *testing.T) {
	refuses := agent.Hooks{Name: "screen", BeforeInput: func(context.Context, *agent.IncomingText) error {
		return agent.Deny("it matches the pattern secret-1")
	}}
	s := newSiteOf(t, agent.Config{Provider: providertest.Script(), Journal: journal.NewMemory(),
		Hooks: []agent.Hooks{refuses}}, serve.Config{})
	for path, body := range map[string]any{
		"sessions/send": map[string]any{"session": "s-1", "text": "Hello"},
		"chat": map[string]any{"id": "s-2",
			"messages": []any{map[string]any{"id": "m", "role": "user",
				"parts": []any{map[string]any{"type": "text", "text": "Hello"}}}}},
	} {
		status, answer := s.call("ann", "POST", path, body)
		require.Equal(t, http.StatusUnprocessableEntity, status, answer)
		require.Contains(t, answer, "put it in other words")
		require.NotContains(t, answer, "secret-1")
	}
}

func TestAHookThatFails(t *testing.T) {
	fails := agent.Hooks{Name: "screen", BeforeInput: func(context.Context, *agent.IncomingText) error {
		return errors.New("no connection")
	}}
	s := newSiteOf(t, agent.Config{Provider: providertest.Script(), Journal: journal.NewMemory(),
		Hooks: []agent.Hooks{fails}}, serve.Config{})
	status, answer := s.call("ann", "POST", "sessions/send", map[string]any{"session": "s-1", "text": "Hello"})
	require.Equal(t, http.StatusInternalServerError, status, answer)
	require.NotContains(t, answer, "connection")
}
