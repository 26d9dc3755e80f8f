package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

// A target is the input of the tools of these tests.
type target struct {
	Page string `json:"page"`
}

// A site is a server of an agent with the pages of stock clients. Its tool "look" runs at once,
// "delete" needs approval, and "choose" is one of the front end.
type site struct {
	t     *testing.T
	hub   *live.Hub
	http  *httptest.Server
	posts atomic.Int32 // how often clients have posted to the chat
	views atomic.Int32 // streams of pages that are open
	slow  atomic.Bool  // answers come in small pieces
	loses atomic.Bool  // the answer to the next message is lost

	mu      sync.Mutex
	deleted []string
}

// newAgent returns the agent of a site. did is called with what "delete" deletes.
func newAgent(cfg agent.Config, did func(page string)) (*agent.Agent, error) {
	cfg.Tools = append(cfg.Tools,
		tools.New(tools.Spec{Name: "delete", Description: "Delete a page.", Risk: tools.High},
			func(_ context.Context, in target) (string, error) {
				did(in.Page)
				return "deleted " + in.Page, nil
			}),
		tools.New(tools.Spec{Name: "look", Description: "Look at a page.", ReadOnly: true},
			func(_ context.Context, in target) (string, error) { return "saw " + in.Page, nil }),
		tools.External(tools.Spec{Name: "choose", Description: "Let the user choose a color."}))
	return agent.New(cfg)
}

// routes returns what a site serves: the agent below /agent, and the pages.
func routes(hub *live.Hub, level uimessage.Level) (http.Handler, error) {
	h, err := serve.New(hub, serve.Config{ChatLevel: level, Preview: shownDraft,
		Authorize: func(*http.Request, string, serve.Action) (string, error) { return "ann", nil }})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/agent/", http.StripPrefix("/agent", h))
	mux.Handle("/out/", http.StripPrefix("/out", http.FileServer(http.Dir(out))))
	mux.HandleFunc("/draft", serveDraft)
	mux.HandleFunc("/{version}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w,
			`<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>Chat</title><div id="root"></div><script type="module" src="/out/chat%s.js"></script>`, url.PathEscape(r.PathValue("version")))
	})
	return mux, nil
}

// newSite starts a site whose clients understand a level.
func newSite(t *testing.T, level uimessage.Level, cfg agent.Config) *site {
	t.Helper()
	s := &site{t: t}
	a, err := newAgent(cfg, func(page string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deleted = append(s.deleted, page)
	})
	require.NoError(t, err)
	s.hub, err = live.New(live.Config{Agent: a, Recover: 100 * time.Millisecond, Drain: 5 * time.Second})
	require.NoError(t, err)
	h, err := routes(s.hub, level)
	require.NoError(t, err)
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/agent/chat" {
			s.posts.Add(1)
		}
		if r.URL.Path == "/agent/view" {
			s.views.Add(1)
			defer s.views.Add(-1)
		}
		if s.slow.Load() && strings.HasPrefix(r.URL.Path, "/agent/") {
			w = pieces{w}
		}
		if r.URL.Path == "/agent/sessions/send" && s.loses.Swap(false) {
			h.ServeHTTP(httptest.NewRecorder(), r)
			http.Error(w, "the proxy has lost it", http.StatusBadGateway)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		_ = s.hub.Close()
		s.http.Close()
	})
	return s
}

// A pieces is a slow connection: what is written goes out in pieces of 100 bytes, one each
// millisecond.
type pieces struct{ http.ResponseWriter }

func (p pieces) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p pieces) Write(data []byte) (n int, err error) {
	for piece := range slices.Chunk(data, 100) {
		m, err := p.ResponseWriter.Write(piece)
		if n += m; err != nil {
			return n, err
		}
		if err := http.NewResponseController(p.ResponseWriter).Flush(); err != nil {
			return n, err
		}
		<-time.After(time.Millisecond)
	}
	return n, nil
}

// completed waits until a run of a session has completed. A pause ends with a RunEnded, too.
func completed(t *testing.T, s *agent.Session) {
	t.Helper()
	for ev, err := range s.Watch(t.Context(), 0) {
		require.NoError(t, err)
		if end, ok := ev.(*agent.RunEnded); ok && end.Status == agent.Completed {
			return
		}
	}
}

// posted waits until messages, or other requests, wait for the run of a session.
func (s *site) posted(session string, n int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		head, err := s.hub.Agent().Journal().Head(s.t.Context(), session)
		return err == nil && head.Inbox == n
	}, patience, time.Millisecond)
}

// did returns what "delete" has deleted.
func (s *site) did() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.deleted...)
}

// address returns the address of the page of a client's version.
func address(server, version, session string) string {
	q := url.Values{"api": {"/agent/chat"}, "id": {session}, "resume": {"true"},
		"history": {"/agent/chat/" + session + "/messages"}}
	return server + "/" + version + "?" + q.Encode()
}

// visit opens the page of a session.
func (s *site) visit(version, session string) *chat {
	s.t.Helper()
	return visit(s.t, s.http.URL, version, session)
}

// A chat is a page with useChat.
type chat struct{ *tab }

func visit(t *testing.T, server, version, session string) *chat {
	t.Helper()
	if _, err := os.Stat(filepath.Join(out, "chat"+version+".js")); err != nil {
		missing(t, "the pages of the clients aren't bundled")
	}
	c := &chat{open(t, address(server, version, session))}
	c.wait("window.chat")
	return c
}

// say sends a message.
func (c *chat) say(text string) {
	c.t.Helper()
	c.click("#input")
	c.run(chromedp.KeyEvent(text))
	c.click("#send")
}

// ready waits until no answer is in progress, and the page has as many messages, and a text.
func (c *chat) ready(messages int, text string) {
	c.t.Helper()
	c.wait(
		fmt.Sprintf(`chat.status === "ready" && chat.messages.length === %d && document.body.textContent.includes(%s)`,
			messages, quote(text)))
	c.sane()
}

// messages returns the page's messages.
func (c *chat) messages() (all []uimessage.Message) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal([]byte(c.text("JSON.stringify(chat.messages)")), &all))
	return all
}

// sane requires that no message is there twice, that they are shown in turn, and that the page had
// no error.
func (c *chat) sane() {
	c.t.Helper()
	seen := make(map[string]bool)
	for i, m := range c.messages() {
		require.False(c.t, seen[m.ID], "message %s is there twice", m.ID)
		require.Equal(c.t, []string{"user", "assistant"}[i%2], m.Role, c.state())
		seen[m.ID] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(c.t, c.errors)
}

// asOthersSee requires that the page shows what the server has of the conversation.
func (c *chat) asOthersSee() {
	c.t.Helper()
	mine := c.messages()
	c.run(chromedp.Reload())
	c.wait("window.chat")
	theirs := c.messages()
	require.Len(c.t, theirs, len(mine))
	for i := range mine {
		require.Equal(c.t, shape(&theirs[i]), shape(&mine[i]))
		if mine[i].Role == "assistant" {
			require.Equal(c.t, theirs[i].ID, mine[i].ID)
		}
	}
}

// shape returns what a user sees of a message.
func shape(m *uimessage.Message) (parts []string) {
	for _, p := range m.Parts {
		if p.Type != "step-start" {
			parts = append(parts,
				strings.TrimSpace(fmt.Sprint(p.Type, " ", p.Text, p.ToolCallID, " ", string(p.Output), p.ErrorText)))
		}
	}
	return parts
}

// call returns the call of "delete" for a page, or of "choose" if page is empty.
func (c *chat) call(page string) uimessage.Part {
	c.t.Helper()
	for _, m := range c.messages() {
		for _, p := range m.Parts {
			var in target
			if p.Type == "tool-delete" && json.Unmarshal(p.Input, &in) == nil && in.Page == page ||
				p.Type == "tool-choose" && page == "" {
				return p
			}
		}
	}
	c.t.Fatalf("there is no call for %q: %s", page, c.state())
	return uimessage.Part{}
}

// A gate is a model that says "Working", waits until the test opens it, and says " done.".
type gate struct {
	called, open chan struct{}
}

func newGate() *gate { return &gate{called: make(chan struct{}, 10), open: make(chan struct{}, 10)} }

func (g *gate) model() provider.Provider {
	return provider.Func(func(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			if !yield(provider.Start("gate"), nil) || !yield(provider.Text("Working"), nil) {
				return
			}
			g.called <- struct{}{}
			select {
			case <-g.open:
			case <-ctx.Done():
				yield(provider.Chunk{}, ctx.Err())
				return
			}
			_ = yield(provider.Text(" done."), nil) &&
				yield(provider.End(provider.StopDone, provider.Usage{Input: 1, Output: 2}), nil)
		}
	})
}

var everyVersion = flag.Bool("every-version", false, "run the tests with a page of useChat for ai 6, too")

// each runs a test with a page of each version of the client: by default of the newest one. The
// table of docs/serve.md has all of them, without a page.
func each(t *testing.T, test func(t *testing.T, version string, level uimessage.Level)) {
	versions := map[string]uimessage.Level{"7": uimessage.V7Late}
	if *everyVersion {
		versions["6"] = uimessage.V6
	}
	for version, level := range versions {
		t.Run("ai "+version, func(t *testing.T) { test(t, version, level) })
	}
}
