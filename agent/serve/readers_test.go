package serve_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
)

// What one user holds open is bounded, in each protocol. Nothing is started for a stream that is
// refused, and others aren't affected.
func TestAUserHasSoManyStreamsOpen(t *testing.T) {
	model, g := held(1)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{MaxReaders: 2, StopOnDisconnect: true})
	chat := func(id string) obj {
		return obj{"id": id, "message": obj{"id": "u", "role": "user", "parts": []obj{{"type": "text", "text": "x"}}}}
	}
	thread := obj{"threadId": "c-2", "runId": "r", "messages": []obj{{"id": "m", "role": "user", "content": "x"}}}
	first := s.request("ann", "POST", "chat", chat("c-1"))
	<-g.called
	second := s.request("ann", "GET", "events?session=c-1", nil)
	require.Equal(t, []int{200, 200}, []int{first.StatusCode, second.StatusCode})
	for path, body := range map[string]any{"events?session=c-1": nil, "view?session=c-1": nil, "chat/c-1/stream": nil,
		"chat": chat("c-2"), "agui": thread, "agui/connect": obj{"threadId": "c-1", "runId": "r"}} {
		method := "POST"
		if body == nil {
			method = "GET"
		}
		res := s.request("ann", method, path, body)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 429, res.StatusCode, "%s: %s", path, text)
		require.Equal(t, "10", res.Header.Get("Retry-After"))
		if strings.HasPrefix(path, "chat") {
			require.Equal(t, "You have this open in too many windows. Close one, then try again.", string(text))
		} else {
			require.Contains(t, string(text), "you have 2 streams of events open, and at most 2 are allowed")
		}
	}
	_, text := s.call("ann", "POST", "agui", thread, "Accept", "text/event-stream")
	require.Contains(t, text, `"code":"`+serve.CodeReaders+`"`)
	_, err := s.agent.Session("c-2").Info(t.Context())
	require.ErrorIs(t, err, agent.ErrNothingOpen)
	s.must("ann", "GET", "sessions", nil, nil)
	status, text := s.call("bob", "POST", "chat", chat("c-3"))
	require.Equal(t, 200, status, text)

	g.open <- struct{}{} // the run ends, and with it the stream of its answer
	_, err = io.ReadAll(first.Body)
	require.NoError(t, err)
	require.NoError(t, first.Body.Close())
	status, text = s.call("ann", "POST", "chat", chat("c-2"))
	require.Equal(t, 200, status, text)
	require.NoError(t, second.Body.Close())
}

func TestARunThatNobodyReadsIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		keep  bool // Config.StopOnDisconnect is off
		other bool // somebody else reads, too
		back  bool // the reader comes back after a second
		want  agent.Status
	}{
		"the last reader": {want: agent.Stopped}, "by default": {keep: true, want: agent.Running},
		"one of two readers": {other: true, want: agent.Running}, "a reload": {back: true, want: agent.Running},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, g := held(1)
				a, err := agent.New(agent.Config{Provider: model})
				require.NoError(t, err)
				hub, err := live.New(live.Config{Agent: a, Recover: -1})
				require.NoError(t, err)
				h, err := serve.New(hub, serve.Config{Authorize: byHeader, StopOnDisconnect: !c.keep})
				require.NoError(t, err)
				read := func(method, path, body string) (leave func()) {
					ctx, cancel := context.WithCancel(t.Context())
					r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("User", "ann")
					done := make(chan struct{})
					go func() {
						defer close(done)
						h.ServeHTTP(httptest.NewRecorder(), r)
					}()
					synctest.Wait()
					return func() {
						cancel()
						<-done
					}
				}
				leave := read(http.MethodPost, "/chat",
					`{"id":"c-1","message":{"id":"u","role":"user","parts":[{"type":"text","text":"x"}]}}`)
				<-g.called
				var others []func()
				if c.other {
					others = append(others, read(http.MethodGet, "/events?session=c-1", ""))
				}
				leave()
				time.Sleep(time.Second)
				if c.back {
					others = append(others, read(http.MethodGet, "/chat/c-1/stream", ""))
				}
				time.Sleep(5 * time.Second)
				synctest.Wait()
				info, err := a.Session("c-1").Info(t.Context())
				require.NoError(t, err)
				require.Equal(t, c.want, info.Status)
				g.open <- struct{}{}
				for _, leave := range others {
					leave()
				}
				time.Sleep(5 * time.Second)
				require.NoError(t, hub.Close())
			})
		})
	}
}

// texts returns the texts of messages.
func (b *browser) texts() (out []string) {
	for _, m := range b.history() {
		out = append(out, m.Text())
	}
	return out
}

func TestAHistoryHasNoReplacedRuns(t *testing.T) {
	for _, pruned := range []bool{false, true} {
		s := newSite(t, serve.Config{}, providertest.Say("One."), providertest.Say("Two."), providertest.Say("Three."),
			providertest.Say("Two again."), providertest.Say("Three again."), providertest.Say("One again."))
		b := s.browser("ann", "c-1")
		run := func(prompt string, replaces uint64) uint64 {
			res, err := s.agent.Run(t.Context(),
				agent.Input{Session: "c-1", Prompt: prompt, Owner: "ann", Replaces: replaces})
			require.NoError(t, err)
			return res.Start
		}
		first, second := run("1", 0), run("2", 0)
		run("3", 0)
		run("2b", second)
		require.Equal(t, []string{"1", "One.", "2b", "Two again."}, b.texts())
		if pruned { // the newest run stays
			_, err := s.agent.Session("c-1").Prune(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"1", "One.", "2b", "Two again."}, b.texts())
		}
		run("3b", 0)
		require.Equal(t, []string{"1", "One.", "2b", "Two again.", "3b", "Three again."}, b.texts())
		if !pruned {
			run("1b", first)
			require.Equal(t, []string{"1b", "One again."}, b.texts())
		}
	}
}

// Somebody sends to a session that doesn't exist yet, and while that is checked, somebody else
// begins it. The late one neither steers nor reads it.
func TestOfTwoWhoBeginASessionOneGetsIt(t *testing.T) {
	for _, path := range []string{"sessions/send", "chat"} {
		for _, ended := range []bool{false, true} {
			checked, goOn := make(chan struct{}), make(chan struct{})
			model, gate := held(1)
			s := newSiteOf(t, agent.Config{Provider: model, Journal: &journal.MapStore{}},
				serve.Config{Input: func(r *http.Request, _ *agent.Input) error {
					if r.Header.Get("User") == "bob" {
						close(checked)
						<-goOn
					}
					return nil
				}})
			body := obj{"session": "s-1", "text": "mine", "key": "u-1"}
			if path == "chat" {
				body = obj{"id": "s-1",
					"messages": []obj{{"id": "u-1", "role": "user", "parts": []obj{{"type": "text", "text": "mine"}}}}}
			}
			answered := make(chan problem)
			go func() { answered <- s.refused("bob", "POST", path, body) }()
			<-checked
			s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "secret", "key": "u-1"}, nil)
			<-gate.called
			if ended {
				gate.open <- struct{}{}
				s.wait("s-1")
			}
			close(goOn)
			require.Equal(t, serve.CodeUnknown, (<-answered).Code, "%s, ended: %t", path, ended)
			if !ended {
				gate.open <- struct{}{}
			}
			messages, err := s.agent.Session("s-1").Messages(t.Context())
			require.NoError(t, err)
			for i := range messages {
				require.NotContains(t, messages[i].Text(), "mine")
			}
			s.wait("s-1")
		}
	}
}
