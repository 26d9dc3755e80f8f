package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/sse"
)

func TestEventsHaveTheNumbersOfTheirFacts(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("look", Page{"home"}), providertest.Say("Done."))
	s.send("ann", "s-1", "x")
	facts, err := s.agent.Session("s-1").Facts(t.Context())
	require.NoError(t, err)
	res := s.request("ann", "GET", "events?session=s-1", nil)
	require.Equal(t, "no", res.Header.Get("X-Accel-Buffering"))
	all := events(t, res, ended)
	for i, ev := range all {
		require.Equal(t, strconv.Itoa(i+1), ev.ID)
	}
	third := events(t, s.request("ann", "GET", "events?session=s-1", nil, "Last-Event-ID", "3"), ended)
	require.Equal(t, all[3:], third)
	require.Equal(t, all[5:], events(t, s.request("ann", "GET", "events?session=s-1&after=5", nil), ended))
	require.GreaterOrEqual(t, len(facts), len(all))
	for _, bad := range []string{"x", "-1", "1e3", "99999999999999999999"} {
		require.Equal(t, serve.CodeMalformed,
			s.refused("ann", "GET", "events?session=s-1", nil, "Last-Event-ID", bad).Code)
	}
	for _, path := range []string{"events", "view"} {
		beyond := s.refused("ann", "GET", path+"?session=s-1&after=1000", nil)
		require.Equal(t, 400, beyond.Status)
		require.Equal(t, serve.CodeMalformed, beyond.Code)
		require.Contains(t, beyond.Detail, fmt.Sprintf("newest fact has the number %d", len(all)))
	}
}

// cutting cuts the body of each answer after a random number of bytes.
type cutting struct{ cuts int }

func (c *cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		c.cuts++
		body := res.Body
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(body, rand.Int64N(4000)), body}
	}
	return res, err
}

// The connection of a client is lost again and again, before a run, and while it is in progress.
func TestAClientThatConnectsAgainMissesAndRepeatsNoFact(t *testing.T) {
	var steps []providertest.Step
	for range 20 {
		steps = append(steps, providertest.Call("look", Page{"home"}), providertest.Say("Done."))
	}
	s := newSite(t, serve.Config{}, steps...)
	s.send("ann", "s-1", "x")
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.http.URL+"/agent/events?session=s-1", nil)
	require.NoError(t, err)
	req.Header.Set("User", "ann")
	network := &cutting{}
	last, runs := uint64(0), 0
	for ev, err := range sse.Connect(t.Context(), &http.Client{Transport: network}, req,
		sse.Config{Attempts: -1, MinWait: time.Microsecond, MaxWait: time.Millisecond}) {
		require.NoError(t, err)
		var fact struct{ Seq uint64 }
		require.NoError(t, json.Unmarshal(ev.Data, &fact))
		if fact.Seq == 0 {
			continue // a note
		}
		require.Equal(t, last+1, fact.Seq)
		if last = fact.Seq; ended(ev) {
			if runs++; runs == 20 {
				break
			}
			s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
		}
	}
	require.Greater(t, network.cuts, 20)
}

func TestEventsDoNotShowWhatIsTheServers(t *testing.T) {
	script := providertest.Script(providertest.Call("look", Page{"home"}), providertest.Say("Done."))
	s := newSiteOf(t,
		agent.Config{Provider: script, Instructions: "The password is swordfish.",
			Compose: func(context.Context, agent.ComposeInput) (string, error) {
				return "Say swordfish.", nil
			}}, serve.Config{})
	s.send("ann", "s-1", "x")
	for _, ev := range events(t, s.request("ann", "GET", "events?session=s-1", nil), ended) {
		require.NotContains(t, string(ev.Data), "swordfish")
		require.NotContains(t, string(ev.Data), `"schema"`)
	}
}

func TestAClosingServerEndsItsStreams(t *testing.T) {
	model, g := held(1)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	chat := s.request("ann", "GET", "chat/s-1/stream", nil)
	res := s.request("ann", "GET", "events?session=s-1", nil)
	closed := make(chan error)
	go func() { closed <- s.hub.Close() }()
	all := events(t, res, nil)
	last := all[len(all)-1]
	require.Equal(t, "hint", last.Type)
	require.Equal(t, time.Second, last.Retry)
	chunks := events(t, chat, nil)
	require.JSONEq(t, `{"type":"data-reconnect","data":{},"transient":true}`, string(chunks[len(chunks)-1].Data))
	for _, ev := range chunks {
		require.Empty(t, ev.Type, "readers of the chunks don't know other events")
	}
	res = s.request("ann", "GET", "sessions", nil)
	res.Body.Close()
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	require.Equal(t, "1", res.Header.Get("Retry-After"))
	g.open <- struct{}{}
	require.NoError(t, <-closed)
}

func TestAReaderThatLeavesDoesNotStopTheRun(t *testing.T) {
	model, g := held(1)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	for range 50 { // a storm of connections that end at once
		events(t, s.request("ann", "GET", "events?session=s-1", nil), func(sse.Event) bool { return true })
	}
	g.open <- struct{}{}
	require.Equal(t, agent.Completed, s.wait("s-1").Status)
}

func TestAnotherUsersEventsCannotBeReplayed(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("secret"), providertest.Say("mine"))
	s.send("ann", "s-1", "x")
	s.send("bob", "s-2", "x")
	for id := range 10 {
		require.Equal(t, 404,
			s.refused("bob", "GET", "events?session=s-1", nil, "Last-Event-ID", fmt.Sprint(id)).Status)
	}
	for _, ev := range events(t, s.request("bob", "GET", "events?session=s-2", nil), ended) {
		require.False(t, strings.Contains(string(ev.Data), "secret"))
	}
}

// Why a run failed may name what only the host knows.
func TestEventsDoNotSayWhyARunFailed(t *testing.T) {
	s := newSite(t, serve.Config{},
		providertest.FailWith(errors.New("https://internal.example: swordfish isn't a key")))
	s.send("ann", "s-1", "x")
	require.Equal(t, agent.Failed, s.wait("s-1").Status)
	all := events(t, s.request("ann", "GET", "events?session=s-1", nil), ended)
	for _, ev := range all {
		require.NotContains(t, string(ev.Data), "swordfish")
	}
	require.Contains(t, string(all[len(all)-1].Data), `"status":"failed"`)
}

func TestTheEndOfARunIsASentence(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.7: connection refused")
	for want, cfg := range map[string]agent.Config{
		"The model couldn't be reached, or couldn't answer.": {
			Provider: providertest.Script(providertest.FailWith(secret))},
		"The work reached the limit of model calls for one request. Write “go on” to continue, or have the limit " +
			"raised.": {Limits: agent.Limits{Steps: 1},
			Provider: providertest.Script(providertest.Call("look", Page{"home"}),
				providertest.Unfit(providertest.Call("look", Page{"home"})))},
	} {
		s := newSiteOf(t, cfg, serve.Config{})
		s.send("ann", "s-1", "x")
		all := events(t, s.request("ann", "GET", "events?session=s-1", nil), ended)
		var end struct{ Data struct{ Reason string } }
		require.NoError(t, json.Unmarshal(all[len(all)-1].Data, &end))
		require.Equal(t, want, end.Data.Reason)
	}
}

func TestClientsOfOtherSitesCanReadTheCodeOfAnError(t *testing.T) {
	s := newSite(t, serve.Config{Origins: []string{"https://app.example.org"}})
	res := s.request("ann", "GET", "chat/none/messages", nil, "Origin", "https://app.example.org")
	defer res.Body.Close()
	require.NotEmpty(t, res.Header.Get("Pawl-Code"))
	require.Contains(t, res.Header.Get("Access-Control-Expose-Headers"), "Pawl-Code")
}
