package agent_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/openai"
)

// A neverDone server takes an answer in background mode and never finishes it.
type neverDone struct {
	mu       sync.Mutex // guards what follows
	asked    int
	canceled int
}

func (s *neverDone) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/cancel"):
		s.canceled++
	case r.Method == http.MethodPost:
		s.asked++
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(`{"id":"resp_1","status":"in_progress","output":[]}`)), Request: r}, nil
}

// Somebody who cancels a run doesn't pay for an answer that the provider would go on making.
func TestACanceledRunCancelsItsAnswerInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &neverDone{}
		model, err := openai.New(openai.Config{Model: "m", APIKey: "k", BaseURL: "https://example.com/v1",
			API: openai.Responses, HTTPClient: &http.Client{Transport: server}})
		require.NoError(t, err)
		a, err := agent.New(agent.Config{Provider: model, Params: agent.Params{
			Options: map[string]json.RawMessage{"openai": json.RawMessage(`{"background":true}`)}}})
		require.NoError(t, err)
		ended := make(chan error)
		go func() {
			_, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
			ended <- err
		}()
		time.Sleep(time.Minute)
		require.NoError(t, a.Session("s-1").Cancel(t.Context()))
		require.Error(t, <-ended)
		server.mu.Lock()
		defer server.mu.Unlock()
		require.Equal(t, 1, server.asked)
		require.Equal(t, 1, server.canceled)
	})
}
