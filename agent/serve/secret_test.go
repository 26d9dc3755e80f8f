package serve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestASecretAnswerPassesThroughToItsCallAndIsShownToNobody(t *testing.T) {
	const password = "correct horse 7"
	got := ""
	login := tools.New(tools.Spec{Name: "login"}, func(ctx context.Context, _ struct{}) (string, error) {
		r, ok := tools.Resumed(ctx)
		if !ok {
			return "", tools.Suspend{Again: true, Secret: true, Schema: json.RawMessage(`{"type":"string"}`)}
		}
		return "logged in", r.Decode(nil, &got)
	})
	s := newSiteOf(t, agent.Config{Tools: []tools.Tool{login},
		Provider: providertest.Script(providertest.Call("login", struct{}{}), providertest.Say("Done."))},
		serve.Config{})
	s.send("ann", "s-1", "log in")
	s.wait("s-1")
	var out struct{ Pending []agent.Pause }
	s.must("ann", "GET", "sessions/pending?session=s-1", nil, &out)
	require.Equal(t, machine.PauseSecret, out.Pending[0].Kind)
	s.must("ann", "POST", "sessions/decide", map[string]any{"session": "s-1", "decisions": []any{
		map[string]any{"id": out.Pending[0].ID, "decision": "answer", "value": password}}}, nil)
	require.Equal(t, agent.Completed, s.wait("s-1").Status)
	require.Equal(t, password, got)
	for _, ev := range events(t, s.request("ann", "GET", "events?session=s-1&after=0", nil), ended) {
		require.NotContains(t, string(ev.Data), password)
	}
	for _, path := range []string{"sessions/messages?session=s-1", "chat/s-1/messages"} {
		_, text := s.call("ann", "GET", path, nil)
		require.NotContains(t, text, password, path)
	}
	facts, err := s.agent.Session("s-1").Facts(t.Context())
	require.NoError(t, err)
	text, err := json.Marshal(facts)
	require.NoError(t, err)
	require.NotContains(t, string(text), password)
	require.Equal(t, 1, strings.Count(string(text), `"given"`))
	p := s.refused("ann", http.MethodPost, "sessions/decide", map[string]any{"session": "s-1", "decisions": []any{
		map[string]any{"id": out.Pending[0].ID, "decision": "answer", "value": password}}})
	require.NotContains(t, p.Detail, password)
}
