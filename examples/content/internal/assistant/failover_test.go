package assistant

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A provider that fails is asked again, then the next one is; one that keeps failing isn't asked
// any more.
func TestAProviderThatFailsIsSwitched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		down := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			asked++
			return nil, fault.New(fault.Degraded, "it is down")
		})
		up := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return providertest.Say("from the second").Response(), nil
		})
		var log strings.Builder
		p, err := Failover(slog.New(slog.NewTextHandler(&log, nil)), nil, down, up)
		require.NoError(t, err)
		for _, want := range []int{1, 2, 3} { // the next one is asked before it is tried again
			res, err := provider.Generate(t.Context(), p,
				&provider.Request{Messages: []provider.Message{provider.User("x")}})
			require.NoError(t, err)
			require.Equal(t, "from the second", res.Text())
			require.Equal(t, want, asked)
		}
		require.Equal(t, 3, strings.Count(log.String(), "the next one is asked"))
	})
	_, err := Failover(slog.New(slog.DiscardHandler), nil)
	require.Error(t, err)
	_, err = Failover(slog.New(slog.DiscardHandler), nil, nil)
	require.Error(t, err)
}

// A rate limit is a reason to switch while the next one is free; else the call waits.
func TestARateLimitIsWaitedForIfNoOtherIsFree(t *testing.T) {
	t.Parallel()
	for name, others := range map[string][]provider.Provider{
		"alone": nil,
		"beside": {providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return providertest.Say("from the second").Response(), nil
		})},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			limited := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
				if asked++; asked == 1 {
					return nil, fault.New(fault.RateLimited, "too many")
				}
				return providertest.Say("from the first").Response(), nil
			})
			p, err := Failover(slog.New(slog.DiscardHandler), nil, append([]provider.Provider{limited}, others...)...)
			require.NoError(t, err)
			began := time.Now()
			res, err := provider.Generate(t.Context(), p,
				&provider.Request{Messages: []provider.Message{provider.User("x")}})
			require.NoError(t, err)
			if name == "alone" {
				require.Equal(t, "from the first", res.Text())
				require.Equal(t, 2, asked)
				return
			}
			require.Equal(t, "from the second", res.Text())
			require.Equal(t, 1, asked)
			require.LessOrEqual(t, time.Since(began), 2*time.Second)
		})
	}
}

func TestWhatAUserCanDoAboutAnError(t *testing.T) {
	t.Parallel()
	for category, want := range map[portfolio.Category]string{
		portfolio.ToolExecutionFailed: "", portfolio.AIContentFilter: "What can you change?",
		portfolio.ArtifactNotFound: "Show my drafts", portfolio.ResearchNotFound: "Research this topic",
		portfolio.InvalidStatus:  "What's the status of this?, Continue",
		portfolio.MissingContext: "Show my drafts", portfolio.InvalidInput: "What can you do?",
		portfolio.UnclearIntent: "What can you do?", portfolio.Conflict: "What's the status of this?",
		portfolio.Unauthorized: "", portfolio.RateLimitExceeded: "",
	} {
		var messages []string
		for _, o := range Recoveries(&contenttools.Problem{Category: category}) {
			require.NotEmpty(t, o.Label)
			messages = append(messages, o.Message)
		}
		require.Equal(t, want, strings.Join(messages, ", "), category)
	}
}
