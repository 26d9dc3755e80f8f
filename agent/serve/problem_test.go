package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestARouteOfAHostAnswersAsServeDoes(t *testing.T) {
	for code, c := range map[string]struct {
		err    error
		status int
	}{
		serve.CodeSignIn:      {fmt.Errorf("no cookie: %w", serve.ErrSignIn), 401},
		serve.CodeUsed:        {&agent.DecisionError{ID: "p", Code: machine.DecisionUsed}, 409},
		serve.CodeUnknown:     {approvals.ErrUnknown, 404},
		serve.CodeElsewhere:   {approvals.ErrElsewhere, 422},
		serve.CodeBusy:        {&agent.SessionError{Session: "s", Code: agent.ErrBusy}, 409},
		serve.CodeUnavailable: {live.ErrClosed, 503},
		serve.CodeInternal:    {errors.New("sql: the password is hunter2"), 500},
	} {
		p := serve.Problem(c.err)
		require.Equal(t, code, p.Code)
		require.Equal(t, c.status, p.Status)
		require.Same(t, p, serve.Problem(fmt.Errorf("again: %w", p)))
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("POST", "/own", nil))
		require.Equal(t, c.status, w.Code)
		require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
		require.NotContains(t, w.Body.String(), "hunter2")
		var got problem
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		require.Equal(t, code, got.Code)
		require.Len(t, got.Trace, 32)
		if code == serve.CodeInternal {
			require.ErrorIs(t, p, c.err, "for the log")
		}
	}
}

// Whatever fails within, the server's log says why.
func TestEachAnswerOf500IsLoggedWithItsCause(t *testing.T) {
	var logged bytes.Buffer
	s := newSite(t, serve.Config{Logger: slog.New(slog.NewJSONHandler(&logged, nil)),
		Input: func(r *http.Request, _ *agent.Input) error { panic("hunter2") }}, providertest.Say("Hello."))
	p := s.refused("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"})
	require.Equal(t, 500, p.Status)
	require.Equal(t, serve.CodeInternal, p.Code)
	require.NotContains(t, p.Detail, "hunter2")
	var line struct{ Level, Error, Trace string }
	require.NoError(t, json.Unmarshal(logged.Bytes(), &line))
	require.Equal(t, "ERROR", line.Level)
	require.Contains(t, line.Error, "hunter2")
	require.Equal(t, p.Trace, line.Trace)
}

// A text that a hook refuses is the client's mistake, in each protocol. The answer doesn't say why.
func TestATextThatAHookRefuses(t *testing.T) {
	refuses := agent.Hooks{Name: "screen", BeforeInput: func(context.Context, *agent.IncomingText) error {
		return agent.Deny("it matches the pattern secret-1")
	}}
	s := newSiteOf(t, agent.Config{Provider: providertest.Script(), Journal: &journal.MapStore{},
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
	s := newSiteOf(t, agent.Config{Provider: providertest.Script(), Journal: &journal.MapStore{},
		Hooks: []agent.Hooks{fails}}, serve.Config{})
	status, answer := s.call("ann", "POST", "sessions/send", map[string]any{"session": "s-1", "text": "Hello"})
	require.Equal(t, http.StatusInternalServerError, status, answer)
	require.NotContains(t, answer, "connection")
}
