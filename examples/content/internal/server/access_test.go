package server_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/server"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// manyUsers opens a file and adds users to it, each with a plan.
func (s *site) manyUsers(n int, plan string) (ids []string) {
	s.t.Helper()
	for i := range n {
		id := fmt.Sprintf("user%02d", i)
		require.NoError(s.t, s.services.Store.AddUser(s.t.Context(),
			portfolio.User{ID: id, Name: id, Email: id + "@example.com", Plan: plan}))
		s.tokens[id] = s.call("", "POST", "/api/login", map[string]any{"user": id}).ok().str("token")
		ids = append(ids, id)
	}
	return ids
}

var atOnce = flag.Int("at-once", 3, "how many users come at once; a fifth of them start pipelines")

// Many users at once: each gets exactly what the plan allows.
func TestManyUsersAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{plans: server.Plans()})
	users := s.manyUsers(*atOnce, "pro")
	granted := make([]atomic.Int64, len(users))
	var all sync.WaitGroup
	for i, user := range users {
		for n := range 13 {
			message := "skeleton" // asks back
			if n == 0 {
				message = "help me with something" // a turn of the model
			}
			all.Go(func() {
				a := s.call(user, "POST", "/api/content-agent/execute",
					map[string]any{"message": message, "sessionId": fmt.Sprint(user, "/", n)})
				switch a.status {
				case http.StatusOK:
					granted[i].Add(1)
				default:
					a.refuses(http.StatusTooManyRequests, portfolio.RateLimitExceeded)
				}
			})
		}
	}
	all.Wait()
	for i := range users {
		require.EqualValues(t, 10, granted[i].Load(), users[i])
	}
}

// Two pipelines of each of many users are in progress at once; a third one of each is refused.
// Each text belongs to its user.
func TestTwoPipelinesOfEachUserAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{plans: server.Plans()})
	users := s.manyUsers(max((*atOnce+4)/5, 2), "pro")
	begun, release := s.waiting()
	defer release()
	owner := map[string]string{}
	var all sync.WaitGroup
	for _, user := range users {
		for i := range 2 {
			id := s.draft(user, fmt.Sprintf("The secret of %s %d", user, i))
			owner[id] = user
			all.Go(func() { s.aside(user, id).ok() })
		}
	}
	for range 2 * len(users) {
		<-begun
	}
	for _, user := range users {
		s.aside(user, s.draft(user, "One too many")).refuses(http.StatusTooManyRequests, portfolio.RateLimitExceeded)
	}
	release()
	all.Wait()
	for id, user := range owner {
		require.Equal(t, "ready", s.artifact(user, id).str("status"))
		other := users[rand.IntN(len(users))]
		for other == user {
			other = users[rand.IntN(len(users))]
		}
		s.call(other, "GET", "/api/artifacts/"+id, nil).refuses(http.StatusNotFound, portfolio.ArtifactNotFound)
		require.NotContains(t, s.call(other, "GET", "/api/artifacts", nil).ok().raw, id)
		for mine, whose := range owner {
			if whose != user {
				require.NotContains(t, s.artifact(whose, mine).raw, "The secret of "+user)
			}
		}
	}
}

// Every path with an id answers 404 for the artifact of somebody else, and changes nothing.
func TestEveryPathChecksTheOwner(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.ready("ann")
	before := s.artifact("ann", id)
	for _, path := range []string{"GET ", "PATCH ", "DELETE ", "POST /publish", "POST /archive", "POST /edit",
		"GET /research", "GET /history", "GET /versions", "GET /versions/1", "POST /versions/1/restore"} {
		method, rest, _ := strings.Cut(path, " ")
		a := s.call("ben", method, "/api/artifacts/"+id+rest, map[string]any{})
		a.refuses(http.StatusNotFound, portfolio.ArtifactNotFound)
		require.NotContains(t, a.raw, "Remote work", path)
		a = s.call("ben", method, "/api/artifacts/"+strings.Replace(id, id[:4], "0000", 1)+rest, map[string]any{})
		a.refuses(http.StatusNotFound, portfolio.ArtifactNotFound) // a guessed id
	}
	for _, message := range []string{"What's the status?", "Humanize this", "Try again", "Skip the visuals"} {
		for _, c := range []answer{s.say("ben", id, message), s.say("ben", "", message+" (artifact "+id+")")} {
			c.refuses(http.StatusNotFound, portfolio.ArtifactNotFound)
			require.NotContains(t, c.raw, "Remote work")
		}
	}
	require.Equal(t, before.raw, s.artifact("ann", id).raw)
}

// A model that asks for the artifact of somebody else gets what it would get for an unknown one.
func TestAModelThatNamesTheArtifactOfSomebodyElse(t *testing.T) {
	t.Parallel()
	var id atomic.Value
	var results []string
	inner := standin.Model()
	model := providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		theirs, _ := id.Load().(string)
		if theirs == "" {
			return provider.Generate(ctx, inner, req)
		}
		last := req.Messages[len(req.Messages)-1]
		for _, p := range last.Parts {
			if p.Result != nil {
				results = append(results, p.Result.Text())
			}
		}
		if len(results) == 0 {
			in := map[string]any{"artifactId": theirs}
			return providertest.Calls(providertest.CallSpec{Tool: "fetchArtifact", Input: in},
				providertest.CallSpec{Tool: "fetchResearch", Input: in}).Response(), nil
		}
		return providertest.Call("structuredResponse", map[string]any{"message": "I have nothing."}).Response(), nil
	})
	s := newSite(t, options{agent: func(c *assistant.Config) { c.Model, c.Real = model, true }})
	theirs := s.ready("ann")
	id.Store(theirs)
	a := s.say("ben", "", "help me with something").ok()
	require.NotContains(t, a.raw, "Remote work")
	require.Len(t, results, 2)
	for _, r := range results {
		require.Contains(t, r, "ARTIFACT_NOT_FOUND")
		require.NotContains(t, r, "Remote work")
	}
}

// The chat of package serve has owners, and changes nothing.
func TestTheChatHasOwners(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.draft("ann", "Remote work")
	sent := s.call("ann", "POST", "/agent/sessions/send", map[string]any{"session": "s-1", "text": "Show my drafts"})
	require.Equal(t, http.StatusAccepted, sent.status, sent.raw)
	require.Equal(t, http.StatusNotFound, s.call("ben", "GET", "/agent/sessions/messages?session=s-1", nil).status)
	require.NotContains(t, s.call("ben", "GET", "/agent/sessions", nil).raw, "s-1")
	require.Equal(t, http.StatusNotFound,
		s.call("ben", "GET", "/agent/sessions/messages?session=content%2F"+id+"%2F1", nil).status)
	require.Empty(t, s.statuses("ann", id))
}

// Somebody who begins the session of another user would keep that user out of the chat.
func TestNobodyBeginsAConversationOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.draft("ann", "Remote work")
	for _, session := range []string{s.call("ann", "GET", "/api/me", nil).ok().str("session"), "content/" + id + "/1"} {
		a := s.call("ben", "POST", "/agent/sessions/send", map[string]any{"session": session, "text": "Show my drafts"})
		require.Equal(t, http.StatusForbidden, a.status, a.raw)
	}
	require.Equal(t, "nosniff", s.call("ann", "GET", "/api/artifacts", nil).header.Get("X-Content-Type-Options"))
	require.Contains(t, s.chat("ann", id, "Show my drafts"), "These are your drafts (1).")
}

// A model of the chat that calls the tool of a step changes nothing: that is for pipelines.
func TestTheModelOfTheChatCantRunAStepAlone(t *testing.T) {
	t.Parallel()
	var id atomic.Value
	ended := make(chan struct{})
	inner := standin.Model()
	model := providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		if req.Labels.Kind == "insights" {
			return provider.Generate(ctx, inner, req)
		}
		if len(req.Messages) == 1 {
			return providertest.Call("topicResearch",
				map[string]any{"artifactId": id.Load(), "topic": "Remote work", "artifactType": "blog"}).Response(), nil
		}
		close(ended)
		return providertest.Say("I can't.").Response(), nil
	})
	s := newSite(t, options{agent: func(c *assistant.Config) { c.Model, c.Real = model, true }})
	mine := s.draft("ann", "Remote work")
	id.Store(mine)
	sent := s.call("ann", "POST", "/agent/sessions/send", map[string]any{"session": "s-1",
		"text": "help me with something"})
	require.Equal(t, http.StatusAccepted, sent.status, sent.raw)
	<-ended
	require.Equal(t, "draft", s.artifact("ann", mine).str("status"))
	require.Empty(t, s.statuses("ann", mine))
}
