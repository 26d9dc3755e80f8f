package server_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/observe"
	"github.com/pawlkit/pawl/examples/content/internal/server"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// observed returns a site with an observer that asks these providers in turn.
func observed(t *testing.T, models ...provider.Provider) *site {
	t.Helper()
	return observedWith(t, nil, models...)
}

// observedWith is observed with other limits.
func observedWith(t *testing.T, plans map[string]server.Plan, models ...provider.Provider) *site {
	t.Helper()
	db := filepath.Join(t.TempDir(), "content.db")
	var o *observe.Observer
	s := newSite(t, options{db: db, plans: plans,
		agent: func(c *assistant.Config) {
			var err error
			o, err = observe.New(observe.Config{Salt: "salt", Logger: c.Logger})
			require.NoError(t, err)
			c.Hooks, c.Observe = []agent.Hooks{o.Hooks()}, o.Event
			c.Model, err = assistant.Failover(slog.New(slog.DiscardHandler), o.Calls(), models...)
			require.NoError(t, err)
		},
		config: func(c *server.Config) {
			c.Observer = o
		}})
	return s
}

func TestScenario9AnotherProviderIsAskedAndAnAlertIsShown(t *testing.T) {
	t.Parallel()
	down := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		return nil, fault.New(fault.UserFixable, "down") // it isn't asked again, so the test needn't wait
	})
	s := observed(t, down, standin.Model())
	for range 3 {
		s.say("ann", "", "Give me topic ideas").ok()
	}
	alerts := s.call("eva", "GET", "/api/admin/alerts", nil)
	require.Equal(t, 200, alerts.status, alerts.raw)
	require.Equal(t, "provider errors", alerts.str("alerts", 0, "rule"), alerts.raw)
	require.Equal(t, "critical", alerts.str("alerts", 0, "severity"))
	require.Contains(t, s.log.String(), `"rule":"provider errors"`)
	s.call("ann", "GET", "/api/admin/alerts", nil).refuses(403, "UNAUTHORIZED")
}

func TestRefusedRequestsAreCounted(t *testing.T) {
	t.Parallel()
	s := observedWith(t, server.Plans(), standin.Model())
	s.call("ann", "POST", "/api/content-agent/execute", map[string]any{"message": " "}).refuses(400, "INVALID_INPUT")
	for range 10 {
		s.say("ann", "", "Show my drafts").ok()
	}
	s.say("ann", "", "Show my drafts").refuses(429, "RATE_LIMIT_EXCEEDED")
	text := s.call("eva", "GET", "/metrics", nil).raw
	require.Contains(t, text, `content_events{event="error",what="INVALID_INPUT"} 1`)
	require.Contains(t, text, `content_events{event="error",what="RATE_LIMIT_EXCEEDED"} 1`)
}

func TestOneTraceWithFiveSpans(t *testing.T) {
	t.Parallel()
	s := observed(t, standin.Model())
	answer := s.button("ann", s.draft("ann", "Remote work")).ok()
	spans := s.call("eva", "GET", "/api/admin/traces?traceId="+answer.str("traceId"), nil)
	require.Len(t, spans.at("spans"), 5, spans.raw)
	require.NotContains(t, spans.raw, `"ann"`)
	require.Contains(t, s.call("eva", "GET", "/metrics", nil).raw, `content_events{event="pipeline_started",what=""} 1`)
	s.call("ben", "GET", "/metrics", nil).refuses(403, "UNAUTHORIZED")
}
