package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/server"
)

// Scenario 11.
func TestElevenMessagesInAMinute(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{plans: server.Plans()})
	for left := 9; left >= 0; left-- {
		a := s.say("ann", "", "What can you do?").ok()
		require.Equal(t, strconv.Itoa(left), a.header.Get("X-RateLimit-Remaining"))
		require.NotEmpty(t, a.header.Get("X-RateLimit-Reset"))
	}
	a := s.say("ann", "", "What can you do?").refuses(http.StatusTooManyRequests, portfolio.RateLimitExceeded)
	require.Equal(t, "0", a.header.Get("X-RateLimit-Remaining"))
	require.Positive(t, a.at("error", "retryAfter"))
	require.Equal(t, a.header.Get("Retry-After"), a.str("error", "retryAfter"))
	require.Equal(t, http.StatusTooManyRequests, s.call("ann", "POST", "/agent/sessions/send",
		map[string]any{"session": "s-1", "text": "hello"}).status, "the chat counts, too")
	s.say("ben", "", "What can you do?").ok()
	me := s.call("ann", "GET", "/api/me", nil).ok()
	require.Equal(t, 0.0, me.at("limits", 0, "remaining"))
}

// waiting makes writers wait until release is called. begun gets a value for each.
func (s *site) waiting() (begun chan struct{}, release func()) {
	begun, free := make(chan struct{}, 100), make(chan struct{})
	s.hook = func(ctx context.Context, kind string) error {
		if kind == "insights" {
			begun <- struct{}{}
			select {
			case <-free:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	}
	return begun, sync.OnceFunc(func() { close(free) })
}

func TestAThirdPipelineAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{plans: server.Plans()})
	begun, release := s.waiting()
	defer release()
	var running sync.WaitGroup
	for i := range 2 {
		id := s.draft("ann", fmt.Sprint("Remote work ", i))
		running.Go(func() { s.aside("ann", id).ok() })
		<-begun
	}
	third := s.draft("ann", "Remote work 3")
	s.aside("ann", third).refuses(http.StatusTooManyRequests, portfolio.RateLimitExceeded)
	require.Equal(t, "draft", s.artifact("ann", third).str("status"))
	require.Nil(t, s.artifact("ann", third).at("pipeline"))
	s.say("ann", third, "What's the status?").ok()
	release()
	running.Wait()
	s.button("ann", third).ok()
}

func TestTheTokensOfAMonth(t *testing.T) {
	t.Parallel()
	db := t.TempDir() + "/content.db"
	plans := server.Plans()
	free := plans["free"]
	free.Tokens = 30_100 // one pipeline, and not another one
	plans["free"] = free
	var used float64
	t.Run("this process", func(t *testing.T) {
		s := newSite(t, options{plans: plans, db: db})
		id := s.draft("ben", "Remote work")
		s.button("ben", id).ok()
		used = s.call("ben", "GET", "/api/me", nil).ok().at("tokens", "used").(float64)
		require.Positive(t, used)
		t.Logf("a pipeline with the stand-in model: %v tokens", used)
	})
	s := newSite(t, options{plans: plans, db: db})
	require.Equal(t, used, s.call("ben", "GET", "/api/me", nil).ok().at("tokens", "used"),
		"the next process knows what was used")
	id := s.draft("ben", "Remote work again")
	a := s.button("ben", id).refuses(http.StatusTooManyRequests, portfolio.RateLimitExceeded)
	require.Contains(t, a.str("error", "message"), "Upgrade")
	require.Equal(t, "draft", s.artifact("ben", id).str("status"))
	s.button("ann", s.draft("ann", "Remote work")).ok() // another plan
}

func TestAUserWithoutTokens(t *testing.T) {
	t.Parallel()
	plans := server.Plans()
	free := plans["free"]
	free.Tokens = 10
	plans["free"] = free
	s := newSite(t, options{plans: plans})
	a := s.say("ben", "", "Give me topic ideas for LinkedIn").refuses(http.StatusTooManyRequests,
		portfolio.RateLimitExceeded)
	require.Contains(t, a.str("error", "message"), "Monthly token limit reached")
	require.Zero(t, s.calls("step"))
}

func TestCanceling(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	writing := make(chan struct{}, 1)
	s.hook = func(ctx context.Context, kind string) error {
		if kind == "writer" {
			writing <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return nil
	}
	id := s.draft("ann", "Remote work")
	var running sync.WaitGroup
	var said answer
	running.Go(func() { said = s.button("ann", id).ok() })
	<-writing
	require.Equal(t, "writing", s.artifact("ann", id).str("status"))
	s.call("ben", "POST", "/api/content-agent/cancel", map[string]any{"artifactId": id}).refuses(http.StatusNotFound,
		portfolio.ArtifactNotFound)
	a := s.call("ann", "POST", "/api/content-agent/cancel", map[string]any{"artifactId": id}).ok()
	running.Wait()
	require.Equal(t, "skeleton", a.str("status"), "the tool in progress is undone, and what was finished stays")
	require.Equal(t, "stopped", a.str("pipeline", "state"))
	require.Equal(t, "Stopped. Research and outline are done; the text isn't.", said.str("message"))
	require.Equal(t, "Continue with the text", said.str("options", 0, "label"))
	s.hook = nil
	require.NoError(t, s.services.Recover(t.Context()))
	require.Equal(t, "stopped", s.artifact("ann", id).str("pipeline", "state"), "it stays stopped")
	s.say("ann", id, said.str("options", 0, "message")).ok()
	require.Equal(t, "ready", s.artifact("ann", id).str("status"))
	require.Equal(t, 1, s.calls("skeleton"), "what was finished isn't done again")
}

func TestTwoMessagesOfOneConversationAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	begun, free := make(chan struct{}, 1), make(chan struct{})
	s.hook = func(_ context.Context, kind string) error {
		begun <- struct{}{}
		<-free
		return nil
	}
	var first sync.WaitGroup
	first.Go(func() { s.say("ann", "", "Give me topic ideas").ok() })
	<-begun
	s.say("ann", "", "What can you do?").refuses(http.StatusConflict, portfolio.Conflict)
	close(free)
	first.Wait()
}

func TestALimitSaysWhichItIs(t *testing.T) {
	t.Parallel()
	p := server.Plan{PerMinute: 10, PerHour: 3, PipelinesPerDay: 20, Pipelines: 2, Tokens: 100_000}
	s := newSite(t, options{plans: map[string]server.Plan{"free": p, "pro": p, "enterprise": p}})
	s.say("ann", "", "What can you do?").ok()
	me := s.call("ann", "GET", "/api/me", nil).ok()
	got := map[float64]float64{}
	for i := range 2 { // the tightest comes first
		got[me.at("limits", i, "seconds").(float64)] = me.at("limits", i, "remaining").(float64)
	}
	require.Equal(t, map[float64]float64{60: 9, 3600: 2}, got, me.raw)
	require.Equal(t, "0", me.str("limits", 2, "seconds"), me.raw)
}
