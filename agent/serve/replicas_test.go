package serve_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/sse"
)

// replica returns one of several servers over a store. Its hub has the server's address, or that
// one.
func replica(t *testing.T, store journal.Store, model provider.Provider, address string) *site {
	t.Helper()
	s := &site{t: t, store: &telling{Store: store, changed: make(chan struct{}), posts: make(map[string]int)}}
	var err error
	s.agent, err = agent.New(agent.Config{Provider: model, Journal: s.store})
	require.NoError(t, err)
	s.http = httptest.NewUnstartedServer(nil)
	if address == "" {
		address = "http://" + s.http.Listener.Addr().String()
	}
	s.hub, err = live.New(live.Config{Agent: s.agent, Recover: -1, Drain: 5 * time.Second, Address: address})
	require.NoError(t, err)
	h, err := serve.New(s.hub, serve.Config{Authorize: byHeader, Logger: slog.New(slog.DiscardHandler),
		Origins: []string{"https://app.example.org"}})
	require.NoError(t, err)
	s.http.Config.Handler = http.StripPrefix("/agent", h)
	s.http.Start()
	t.Cleanup(func() {
		_ = s.hub.Close()
		s.http.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// has returns a function that reports whether an event has a text.
func has(text string) func(sse.Event) bool {
	return func(ev sse.Event) bool { return bytes.Contains(ev.Data, []byte(text)) }
}

func TestTextComesFromTheReplicaThatDrivesTheRun(t *testing.T) {
	store := &journal.MapStore{}
	model, g := held(1)
	one, two := replica(t, store, model, ""), replica(t, store, model, "")
	one.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	for _, path := range []string{"events?session=s-1", "view?session=s-1", "chat/s-1/stream"} {
		res := two.request("ann", "GET", path, nil, "Origin", "https://app.example.org")
		require.Equal(t, 200, res.StatusCode)
		require.Len(t, res.Header.Values("Access-Control-Allow-Origin"), 1)
		require.Len(t, res.Header.Values("Cache-Control"), 1)
		all := events(t, res, has("Working"))
		require.Contains(t, string(all[len(all)-1].Data), "Working", path)
	}
	connect := two.request("ann", "POST", "agui/connect", obj{"threadId": "s-1", "runId": "r", "messages": []any{},
		"tools": []any{}, "context": []any{}}, "Accept", "text/event-stream")
	all := events(t, connect, has("Working"))
	require.Contains(t, string(all[len(all)-1].Data), "Working")

	// Nobody else learns anything by that.
	require.Equal(t, 404, two.refused("bob", "GET", "events?session=s-1", nil).Status)

	// Stop reaches the run.
	status, _ := two.call("ann", "POST", "chat/s-1/stop", nil)
	require.Equal(t, 204, status)
	one.wait("s-1")
	res, err := one.agent.Session("s-1").Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, machine.CodeCanceled, res.Code)
}

func TestAReaderIsSentToTheReplicaThatBeginsARun(t *testing.T) {
	store := &journal.MapStore{}
	model, g := held(2)
	one, two := replica(t, store, model, ""), replica(t, store, model, "")
	g.open <- struct{}{}
	one.send("ann", "s-1", "x")
	res := two.request("ann", "GET", "events?session=s-1", nil) // two reads the journal
	one.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "y"}, nil)
	all := events(t, res, nil)
	require.Equal(t, "hint", all[len(all)-1].Type, "it gets the text when it connects again")
	g.open <- struct{}{}
	one.wait("s-1")
}

func TestWhatStopsLaterIsToldSo(t *testing.T) {
	store := &journal.MapStore{}
	model, g := held(1)
	one, two := replica(t, store, model, ""), replica(t, store, model, "")
	one.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	for _, s := range []*site{one, two} { // it stops after the answer in progress, whoever asks
		status, body := s.call("ann", "POST", "sessions/stop", obj{"session": "s-1"})
		require.Equal(t, 202, status)
		require.JSONEq(t, `{"stopping": true}`, body)
	}
	g.open <- struct{}{}
	one.wait("s-1")
	for _, path := range []string{"sessions/stop", "sessions/cancel"} { // nothing is open
		status, _ := two.call("ann", "POST", path, obj{"session": "s-1"})
		require.Equal(t, 204, status)
	}
}

func TestAReplicaThatIsGoneHoldsNobodyUp(t *testing.T) {
	store := &journal.MapStore{}
	model, g := held(1)
	one, two := replica(t, store, model, "http://127.0.0.1:1"), replica(t, store, model, "")
	one.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	res := two.request("ann", "GET", "events?session=s-1", nil, "Origin", "https://app.example.org")
	require.Equal(t, 200, res.StatusCode)
	require.Len(t, res.Header.Values("Access-Control-Allow-Origin"), 1)
	g.open <- struct{}{}
	all := events(t, res, ended)
	require.True(t, ended(all[len(all)-1]), "the facts come from the journal")
}

// While a replica goes away, its run is still in progress, and others answer for it.
func TestAReplicaThatGoesAwayHoldsNobodyUp(t *testing.T) {
	store := &journal.MapStore{}
	model, g := held(1)
	one, two := replica(t, store, model, ""), replica(t, store, model, "")
	one.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	before := two.request("ann", "GET", "events?session=s-1", nil) // is passed on
	closed := make(chan error, 1)
	go func() { closed <- one.hub.Close() }()
	<-one.hub.Closing()
	all := events(t, before, nil)
	require.Equal(t, "hint", all[len(all)-1].Type)
	res := two.request("ann", "GET", "events?session=s-1", nil)
	require.Equal(t, 200, res.StatusCode)
	g.open <- struct{}{}
	all = events(t, res, func(ev sse.Event) bool { return has("Working done.")(ev) })
	require.Contains(t, string(all[len(all)-1].Data), "Working done.")
	require.NoError(t, <-closed)
}

// A server at an address that isn't one of this package gets a request, and its answer isn't shown.
func TestAnAnswerOfAnotherServiceIsNotPassedOn(t *testing.T) {
	store := &journal.MapStore{}
	model, g := held(1)
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "other"})
		_, _ = w.Write([]byte("<h1>Another service</h1>"))
	}))
	defer other.Close()
	one, two := replica(t, store, model, other.URL), replica(t, store, model, "")
	one.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	hop := two.request("ann", "GET", "events?session=s-1", nil, "Pawl-Forwarded", "1")
	require.NoError(t, hop.Body.Close())
	require.Zero(t, asked.Load(), "a request isn't passed on twice")
	res := two.request("ann", "GET", "events?session=s-1", nil)
	require.EqualValues(t, 1, asked.Load())
	require.Equal(t, "text/event-stream", strings.Split(res.Header.Get("Content-Type"), ";")[0])
	require.Empty(t, res.Cookies())
	g.open <- struct{}{}
	all := events(t, res, ended)
	require.True(t, ended(all[len(all)-1]))
}
