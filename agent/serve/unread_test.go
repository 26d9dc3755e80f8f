package serve_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestMessagesThatWaitForARunAreBounded(t *testing.T) {
	began, answer := make(chan struct{}), make(chan struct{})
	model := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		began <- struct{}{}
		<-answer
		return provider.TextResponse("Done."), nil
	})
	s := newSiteOf(t, agent.Config{Provider: model, NoGuard: true, Limits: agent.Limits{PromptBytes: 1_000}},
		serve.Config{})
	send := func(text string) {
		s.must("ann", "POST", "sessions/send", obj{"session": "s", "text": text}, nil)
	}
	send("go")
	<-began
	send(strings.Repeat("x", 999))
	res := s.request("ann", "POST", "sessions/send", obj{"session": "s", "text": "yes"})
	require.NoError(t, res.Body.Close())
	require.Equal(t, "1", res.Header.Get("Retry-After"))
	p := s.refused("ann", "POST", "sessions/send", obj{"session": "s", "text": "yes"})
	require.Equal(t, []any{429, serve.CodeUnread}, []any{p.Status, p.Code})
	require.Contains(t, p.Detail, "hasn't read 1 of the messages before it, which have 1020 bytes")
	answer <- struct{}{}
	<-began
	send("yes") // the others were read
	answer <- struct{}{}
	<-began
	answer <- struct{}{}
}
