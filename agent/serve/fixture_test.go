package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/sse"
	"github.com/pawlkit/pawl/tools"
)

// A site is a server with an agent.
type site struct {
	t     testing.TB
	agent *agent.Agent
	store *telling
	hub   *live.Hub
	http  *httptest.Server

	mu      sync.Mutex
	deleted []string // what tools did
}

// Page is the input of the tools of these tests.
type Page struct {
	Page string `json:"page"`
}

// byHeader takes the user from a header.
func byHeader(r *http.Request, _ string, _ serve.Action) (string, error) {
	if who := r.Header.Get("User"); who != "" {
		return who, nil
	}
	return "", serve.ErrSignIn
}

// newSite returns a server whose agent has a tool that asks and one that doesn't.
func newSite(t testing.TB, cfg serve.Config, steps ...providertest.Step) *site {
	return newSiteOf(t, agent.Config{Provider: providertest.Script(steps...), Journal: &journal.MapStore{}}, cfg)
}

func newSiteOf(t testing.TB, ac agent.Config, cfg serve.Config) *site {
	t.Helper()
	if ac.Journal == nil {
		ac.Journal = &journal.MapStore{}
	}
	s := &site{t: t, store: &telling{Store: ac.Journal, changed: make(chan struct{}), posts: make(map[string]int)}}
	ac.Journal = s.store
	do := func(_ context.Context, p Page) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deleted = append(s.deleted, p.Page)
		return "deleted " + p.Page, nil
	}
	ac.Tools = append(ac.Tools,
		tools.New(tools.Spec{Name: "delete", Description: "Delete a page.", Risk: tools.High}, do),
		tools.New(tools.Spec{Name: "look", Description: "Look at a page.", ReadOnly: true},
			func(_ context.Context, p Page) (string, error) { return "saw " + p.Page, nil }))
	var err error
	s.agent, err = agent.New(ac)
	require.NoError(t, err)
	s.hub, err = live.New(live.Config{Agent: s.agent, Recover: -1, Drain: 5 * time.Second})
	require.NoError(t, err)
	if cfg.Authorize == nil {
		cfg.Authorize = byHeader
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	h, err := serve.New(s.hub, cfg)
	require.NoError(t, err)
	s.http = httptest.NewServer(http.StripPrefix("/agent", h))
	t.Cleanup(func() {
		_ = s.hub.Close()
		s.http.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// did returns what the tool that asks has done.
func (s *site) did() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.deleted...)
}

// request makes a request as a user; body is JSON, text, or nil.
func (s *site) request(who, method, path string, body any, header ...string) *http.Response {
	s.t.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	case io.Reader:
		r = b
	default:
		raw, err := json.Marshal(b)
		require.NoError(s.t, err)
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.http.URL+"/agent/"+path, r)
	require.NoError(s.t, err)
	if r != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if who != "" {
		req.Header.Set("User", who)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	return res
}

// call makes a request, and returns the status and the body.
func (s *site) call(who, method, path string, body any, header ...string) (int, string) {
	s.t.Helper()
	res := s.request(who, method, path, body, header...)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return res.StatusCode, string(raw)
}

// must makes a request that must succeed, and decodes the answer.
func (s *site) must(who, method, path string, body, into any) {
	s.t.Helper()
	status, text := s.call(who, method, path, body)
	require.Less(s.t, status, 300, "%s %s: %s", method, path, text)
	if into != nil {
		require.NoError(s.t, json.Unmarshal([]byte(text), into), text)
	}
}

type obj = map[string]any

// send starts a run, and waits until it has ended or paused.
func (s *site) send(who, session, text string) {
	s.t.Helper()
	s.must(who, "POST", "sessions/send", obj{"session": session, "text": text}, nil)
	s.wait(session)
}

// wait waits until no run of the session is in progress and nobody holds its lease.
func (s *site) wait(session string) (info agent.SessionInfo) {
	s.t.Helper()
	s.until(func() bool {
		var err error
		if info, err = s.agent.Session(session).Info(context.Background()); err != nil || info.Status == agent.Running {
			return false
		}
		head, err := s.store.Head(context.Background(), session)
		return err == nil && head.Owner == ""
	})
	return info
}

// until waits until something holds that a change of the journal brings about.
func (s *site) until(holds func() bool) {
	for changed := s.store.next(); !holds(); changed = s.store.next() {
		<-changed
	}
}

// A telling store tells whoever waits for it that a session has changed.
type telling struct {
	journal.Store
	mu      sync.Mutex
	changed chan struct{} // closed by the next change
	posts   map[string]int
}

// posted reports whether something was posted to a session.
func (s *telling) posted(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posts[session] > 0
}

func (s *telling) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *telling) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *telling) Append(ctx context.Context, a journal.Append) error {
	defer s.tell()
	return s.Store.Append(ctx, a)
}

func (s *telling) Post(ctx context.Context, session string, it journal.Item) error {
	defer s.tell()
	err := s.Store.Post(ctx, session, it)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts[session]++
	return err
}

func (s *telling) Release(ctx context.Context, l journal.Lease) error {
	defer s.tell()
	return s.Store.Release(ctx, l)
}

// pending returns the ids of the pauses of a session.
func (s *site) pending(who, session string) (ids []string) {
	s.t.Helper()
	var out struct{ Pending []agent.Pause }
	s.must(who, "GET", "sessions/pending?session="+session, nil, &out)
	for _, p := range out.Pending {
		ids = append(ids, p.ID)
	}
	return ids
}

// problem is an error as a client reads it.
type problem struct {
	Title, Detail, Code, Class, Trace string
	Status                            int
	NewID                             string `json:"new_id"`
}

// refused makes a request that must be refused, and returns how.
func (s *site) refused(who, method, path string, body any, header ...string) problem {
	s.t.Helper()
	res := s.request(who, method, path, body, header...)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	var p problem
	if strings.HasPrefix(path, "chat") { // a sentence for people
		require.Equal(s.t, "text/plain; charset=utf-8", res.Header.Get("Content-Type"), "%d %s", res.StatusCode, raw)
		require.Regexp(s.t, `^[A-Z][^{}]*\.$`, string(raw))
		return problem{Status: res.StatusCode, Detail: string(raw), Code: res.Header.Get("Pawl-Code"),
			Trace: res.Header.Get("Pawl-Trace")}
	}
	require.Equal(s.t, "application/problem+json", res.Header.Get("Content-Type"), "%d %s", res.StatusCode, raw)
	require.NoError(s.t, json.Unmarshal(raw, &p))
	require.Equal(s.t, res.StatusCode, p.Status)
	require.NotContains(s.t, string(raw), "goroutine")
	require.Len(s.t, p.Trace, 32)
	return p
}

// events reads server-sent events until one satisfies until, or the stream ends.
func events(t testing.TB, res *http.Response, until func(sse.Event) bool) (all []sse.Event) {
	t.Helper()
	defer res.Body.Close()
	r := sse.NewReader(res.Body, 0)
	for {
		ev, err := r.Next()
		if err != nil {
			return all
		}
		ev.Data = bytes.Clone(ev.Data)
		all = append(all, ev)
		if until != nil && until(ev) {
			return all
		}
	}
}

// ended reports the end of a run.
func ended(ev sse.Event) bool { return bytes.Contains(ev.Data, []byte(`"kind":"run_ended"`)) }
