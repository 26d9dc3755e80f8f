package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// steering runs an agent whose first call sends messages, and returns what the model was sent after
// it.
func steering(t *testing.T, cfg agent.Config, send func(ctx context.Context, s *agent.Session)) (said []string) {
	t.Helper()
	var a *agent.Agent
	cfg.Tools = []tools.Tool{tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
		send(ctx, a.Session("s"))
		return "done", nil
	})}
	a, model := scripted(t, cfg, call("work", 1), say("Done."))
	require.Equal(t, "Done.", run(t, a).Text())
	for _, m := range model.Requests()[1].Messages {
		if m.Role == provider.RoleUser && m.Text() != "go" {
			said = append(said, m.Text())
		}
	}
	return said
}

func TestMessagesThatWaitAreBoundedTogether(t *testing.T) {
	const size = 100_000
	for name, c := range map[string]struct {
		limits agent.Limits
		text   string
		wait   int
		says   string
	}{
		"their bytes": {agent.Limits{}, strings.Repeat("x", size), 41, "this message of 100000 bytes isn't sent: the " +
			"run hasn't read 41 of the messages before it, which have 4100861 bytes. At most 200 may wait, with 4194304 " +
			"bytes in all. Send it again"},
		"bytes of the host's choice": {agent.Limits{PromptBytes: 250_000}, strings.Repeat("x", size), 2,
			"200042 bytes"},
		"their number": {agent.Limits{}, "hurry", 200, "hasn't read 200 of"},
		"their number alone": {agent.Limits{PromptBytes: -1}, "hurry", 200,
			"200 may wait. Send"},
	} {
		t.Run(name, func(t *testing.T) {
			said := steering(t, agent.Config{Limits: c.limits}, func(ctx context.Context, s *agent.Session) {
				for range c.wait {
					_, err := s.Steer(ctx, c.text)
					require.NoError(t, err)
				}
				_, err := s.Steer(ctx, c.text)
				require.ErrorIs(t, err, agent.ErrUnread)
				require.ErrorContains(t, err, c.says)
				require.Equal(t, fault.Transient, fault.Of(err))
				require.NoError(t, s.SetTitle(ctx, "others can be sent"))
			})
			require.Len(t, said, c.wait)
		})
	}
}

func TestMessagesThatAreSentAtTheSameTimeAreBoundedTogether(t *testing.T) {
	said := steering(t, agent.Config{Limits: agent.Limits{PromptBytes: 4_100}},
		func(ctx context.Context, s *agent.Session) {
			var sent sync.WaitGroup
			for range 50 {
				sent.Go(func() { _, _ = s.Steer(ctx, strings.Repeat("x", 1_000)) })
			}
			sent.Wait()
		})
	require.Len(t, said, 4)
}

func TestAMessageThatWaitsIsntRefusedWhenItIsSentAgain(t *testing.T) {
	said := steering(t, agent.Config{Limits: agent.Limits{PromptBytes: 10}},
		func(ctx context.Context, s *agent.Session) {
			for range 2 {
				_, err := s.Steer(ctx, "ten bytes.", "key")
				require.NoError(t, err)
			}
			_, err := s.Steer(ctx, "more", "another")
			require.ErrorIs(t, err, agent.ErrUnread)
		})
	require.Equal(t, []string{"ten bytes."}, said)
}

func TestMessagesOfAnotherProcessAreBoundedUntilTheRunHasReadThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res, _, model := elsewhere(t, agent.Config{}, func(b *agent.Agent) {
			s := b.Session("s")
			var last *agent.Receipt
			for i := range 200 {
				var err error
				last, err = s.Steer(t.Context(), fmt.Sprint(i))
				require.NoError(t, err)
			}
			_, err := s.Steer(t.Context(), "too many")
			require.ErrorIs(t, err, agent.ErrUnread)
			_, err = last.Wait(t.Context())
			require.NoError(t, err)
			_, err = s.Steer(t.Context(), "now")
			require.NoError(t, err)
		}, call("slow", 10), call("slow", 10), say("Done."))
		require.Equal(t, "Done.", res.Text())
		require.Equal(t, "now", model.Requests()[2].LastUserText())
	})
}
