package site

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A journal in which one session can't be read, and no list while err is set.
type torn struct {
	journal.Store
	session string
	err     error
}

func (s *torn) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	if session == s.session {
		return func(yield func(journal.Record, error) bool) { yield(journal.Record{}, errors.New("it is torn")) }
	}
	return s.Store.Read(ctx, session, after)
}

func (s *torn) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	if s.err != nil {
		return func(yield func(journal.Head, error) bool) { yield(journal.Head{}, s.err) }
	}
	return s.Store.Heads(ctx, f)
}

// What is wrong with one session keeps no other waiting, and is said once.
func TestASessionThatFailsKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	store := &torn{Store: &journal.MapStore{}}
	publish := tools.Func[map[string]string, string]{
		Spec: tools.Spec{Name: "publish", Description: "Publishes."},
		Ask:  func(context.Context, map[string]string) (string, error) { return "others see it", nil },
		Run:  func(context.Context, map[string]string) (string, error) { return "done", nil }}
	configured := func() *agent.Agent {
		a, err := agent.New(agent.Config{Journal: store, Tools: []tools.Tool{publish},
			Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
				return providertest.Call("publish", map[string]string{}).Response(), nil
			})})
		require.NoError(t, err)
		return a
	}
	a := configured()
	names := []string{prefix + "a", prefix + "b", prefix + "c"}
	for _, name := range names {
		res, err := a.Run(t.Context(), agent.Input{Session: name, Prompt: "Publish"})
		require.Equal(t, agent.Paused, res.Status, "%v", err)
	}
	store.session = names[1]
	var log bytes.Buffer
	woken, failed := map[string]bool{}, map[string]string{}
	cfg := Config{Agent: configured(), Logger: slog.New(slog.NewTextHandler(&log, nil)), // it has read nothing yet
		Wake: func(session string) { woken[session] = true }}
	for range 3 {
		require.NoError(t, cfg.decide(t.Context(), 0, failed))
	}
	require.Equal(t, map[string]bool{names[0]: true, names[2]: true}, woken)
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), "session="+names[1])

	store.err = errors.New("connection refused")
	require.ErrorIs(t, cfg.decide(t.Context(), 0, failed), store.err)
	store.err, store.session = nil, ""
	require.NoError(t, cfg.decide(t.Context(), 0, failed))
	require.True(t, woken[names[1]])
}
