package serve_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit"
)

// routes are requests for one session.
func routes(session, pause string) [][3]any {
	return [][3]any{
		{"GET", "sessions/messages?session=" + session, nil}, {"GET", "sessions/pending?session=" + session, nil},
		{"GET", "sessions/rules?session=" + session, nil},
		{"GET", "view/older?session=" + session + "&before=9", nil},
		{"GET", "events?session=" + session, nil}, {"GET", "events?session=" + session + "&after=1", nil},
		{"POST", "sessions/decide", obj{"session": session, "decisions": []obj{{"id": pause, "decision": "approve"}}}},
		{"POST", "sessions/stop", obj{"session": session}}, {"POST", "sessions/cancel", obj{"session": session}},
		{"POST", "sessions/pause", obj{"session": session}},
		{"POST", "sessions/continue", obj{"session": session}},
		{"POST", "sessions/mode", obj{"session": session, "mode": "x"}},
		{"POST", "sessions/title", obj{"session": session, "title": "mine"}},
		{"POST", "sessions/fork", obj{"session": session}},
		{"GET", "sessions/undo?session=" + session, nil},
		{"POST", "sessions/undo", obj{"session": session}},
		{"DELETE", "sessions?session=" + session, nil},
		{"DELETE", "sessions/rules?session=" + session + "&tool=delete", nil},
	}
}

func TestASessionOfSomebodyElseIsLikeOneThatDoesNotExist(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"home"}))
	s.send("ann", "s-1", "Delete it.")
	pause := s.pending("ann", "s-1")[0]
	theirs, none := routes("s-1", pause), routes("s-9", pause)
	for i := range theirs {
		a := s.refused("bob", theirs[i][0].(string), theirs[i][1].(string), theirs[i][2])
		b := s.refused("bob", none[i][0].(string), none[i][1].(string), none[i][2])
		a.Trace, b.Trace = "", ""
		require.Equal(t, http.StatusNotFound, a.Status, theirs[i][1])
		require.Equal(t, b, a)
	}
	require.Equal(t, http.StatusNotFound,
		s.refused("bob", "POST", "sessions/send", obj{"session": "s-1", "text": "mine"}).Status)
	for _, name := range []string{"call/x", "unnamed/x", ""} {
		require.Equal(t, http.StatusNotFound,
			s.refused("bob", "POST", "sessions/send", obj{"session": name, "text": "mine"}).Status)
	}
	require.Empty(t, s.did())
	require.Equal(t, []string{pause}, s.pending("ann", "s-1"), "nothing has changed")
}

func TestNobodyIsServedWithoutAName(t *testing.T) {
	s := newSite(t, serve.Config{})
	for _, route := range routes("s-1", "p") {
		require.Equal(t, serve.CodeSignIn, s.refused("", route[0].(string), route[1].(string), route[2]).Code)
	}
	require.Equal(t, http.StatusUnauthorized, s.refused("", "GET", "sessions", nil).Status)
}

func TestTheHostMayRefuseAndWiden(t *testing.T) {
	var asked []serve.Access
	s := newSite(t, serve.Config{
		Authorize: func(r *http.Request, session string, action serve.Action) (string, error) {
			switch who := r.Header.Get("User"); {
			case who == "panic":
				panic("oops")
			case who == "broken":
				return "", (*provider.Error)(nil) // its methods panic
			case who == "nameless":
				return "", nil
			case who == "reader" && action != serve.ActionRead:
				return "", errors.New("secret reason")
			default:
				return who, nil
			}
		},
		Widen: func(_ *http.Request, a serve.Access) error {
			asked = append(asked, a)
			if a.User == "admin" {
				return nil
			}
			if a.User == "frantic" {
				panic("oops")
			}
			if a.User == "careless" {
				return (*provider.Error)(nil)
			}
			return errors.New("no")
		},
	}, providertest.Say("a"), providertest.Say("b"))
	s.send("ann", "s-1", "x")
	s.send("admin", "s-1", "y")
	require.Equal(t, serve.Access{Session: "s-1", Owner: "ann", User: "admin", Action: serve.ActionSend}, asked[0])
	info, err := s.agent.Session("s-1").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ann", info.Owner, "who is admitted doesn't become the owner")
	for who, want := range map[string]int{"reader": 403, "panic": 403, "broken": 403, "nameless": 500, "bob": 404,
		"frantic": 404, "careless": 404} {
		p := s.refused(who, "POST", "sessions/title", obj{"session": "s-1", "title": "t"})
		require.Equal(t, want, p.Status, who)
		require.NotContains(t, p.Detail, "secret")
	}
	require.Equal(t, 404, s.refused("reader", "GET", "sessions/messages?session=s-1", nil).Status)
}

func TestASessionOfTheHostBelongsToNobody(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("a"))
	_, err := s.agent.Run(t.Context(), agent.Input{Session: "job", Prompt: "x"})
	require.NoError(t, err)
	require.Equal(t, 404, s.refused("ann", "GET", "sessions/messages?session=job", nil).Status)
	require.Equal(t, 404, s.refused("ann", "POST", "sessions/send", obj{"session": "job", "text": "x"}).Status)
}

// brokenHead is a store that can't read the head of one session.
type brokenHead struct {
	*journal.MapStore
	session string
}

func (b *brokenHead) Head(ctx context.Context, session string) (journal.Head, error) {
	if session == b.session {
		return journal.Head{}, errors.New("broken")
	}
	return b.MapStore.Head(ctx, session)
}

func TestASessionThatCannotBeReadIsNotSaidToBeMissing(t *testing.T) {
	s := newSiteOf(t, agent.Config{Provider: providertest.Script(), Journal: &brokenHead{&journal.MapStore{}, "s-1"}},
		serve.Config{})
	for _, r := range routes("s-1", "p") {
		p := s.refused("bob", r[0].(string), r[1].(string), r[2])
		require.Equal(t, 500, p.Status, r[1])
		require.Equal(t, "internal", p.Code, r[1])
		require.NotContains(t, p.Detail, "broken", r[1])
	}
}

func TestAnEmptyConfigIsRefused(t *testing.T) {
	var bad *agent.ArgError
	_, err := serve.New(nil, serve.Config{Authorize: byHeader})
	require.ErrorAs(t, err, &bad)
	s := newSite(t, serve.Config{})
	_, err = serve.New(s.hub, serve.Config{})
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "Config.Authorize", bad.Field)
	_, err = serve.New(s.hub, serve.Config{Authorize: byHeader, Origins: []string{"example.org"}})
	require.ErrorAs(t, err, &bad)
	_, err = serve.New(s.hub, serve.Config{Authorize: byHeader, MaxBody: -1})
	require.ErrorAs(t, err, &bad)
}

func TestAUserStartsAsManyRunsAsAreAllowed(t *testing.T) {
	model, g := held(1)
	store := &allowances{states: make(map[string]ratelimit.AllowanceState), stored: make(chan string, 100)}
	s := newSiteOf(t, agent.Config{Provider: model},
		serve.Config{Allowance: ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 2, Per: time.Hour}}, Concurrent: 1, Store: store,
		})})
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	require.Equal(t, serve.CodeAllowance,
		s.refused("ann", "POST", "sessions/send", obj{"session": "s-2", "text": "x"}).Code, "one at a time")
	s.send("bob", "s-3", "x")
	g.open <- struct{}{}
	s.wait("s-1")
	for ann := 0; ann < 2; { // the run of s-1 is taken and released
		if <-store.stored == "ann" {
			ann++
		}
	}
	s.must("ann", "POST", "sessions/send", obj{"session": "s-2", "text": "x"}, nil)
	s.wait("s-2")
	res := s.request("ann", "POST", "sessions/send", obj{"session": "s-4", "text": "x"})
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	require.Equal(t, 429, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	require.Equal(t, "2", res.Header.Get("RateLimit-Limit"))
}

// allowances is a store in memory that sends the key of each state that it stores.
type allowances struct {
	mu     sync.Mutex
	states map[string]ratelimit.AllowanceState
	stored chan string
}

func (s *allowances) Update(_ context.Context, key string, change ratelimit.AllowanceChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, err := change(s.states[key], time.Now())
	if err == nil {
		s.states[key] = state
		s.stored <- key
	}
	return err
}
