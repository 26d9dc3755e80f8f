package serve_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
)

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
