package serve_test

import (
	"context"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A listener is a model that keeps what it is asked.
type listener struct {
	provider.Provider
	mu    sync.Mutex // guards what follows
	asked []string   // the texts of the newest request's messages
}

func (l *listener) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = nil
	for i := range req.Messages {
		l.asked = append(l.asked, req.Messages[i].Text())
	}
	return l.Provider.Stream(ctx, req)
}

func TestAStoppedRequestIsMarkedInTheNextOfEachFrontEnd(t *testing.T) {
	const first, second = "Rename Blog to Trash", "Create Jobs"
	for name, say := range map[string]func(s *site) (ask func(id, text string), stop func()){
		"useChat": func(s *site) (func(id, text string), func()) {
			b := s.browser("ann", "c-1")
			return b.say, func() { s.call("ann", "POST", "chat/c-1/stop", nil) }
		},
		"AG-UI": func(s *site) (func(id, text string), func()) {
			var c aguiClient
			return func(id, text string) { c.post(s, id, text) },
				func() { s.call("ann", "POST", "agui/cancel", obj{"thread": "t-1"}) }
		},
		"events, cancel": func(s *site) (func(id, text string), func()) {
			return func(_, text string) { s.send("ann", "s-1", text); s.wait("s-1") },
				func() { s.must("ann", "POST", "sessions/cancel", obj{"session": "s-1"}, nil) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			inner, g := held(1)
			model := &listener{Provider: inner}
			s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
			ask, stop := say(s)
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				<-g.called
				stop()
			}()
			ask("u-1", first)
			<-stopped
			ask("u-2", second)
			requireMarked(t, model.asked, "was stopped", first, "Working", second)
		})
	}
	for name, say := range map[string]func(s *site) func(id, text string){
		"useChat, failed": func(s *site) func(id, text string) { return s.browser("ann", "c-1").say },
		"AG-UI, failed": func(s *site) func(id, text string) {
			var c aguiClient
			return func(id, text string) { c.post(s, id, text) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			model := &listener{Provider: providertest.Script(providertest.Fail(fault.Permanent),
				providertest.Say("Done."))}
			s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
			ask := say(s)
			ask("u-1", first)
			ask("u-2", second)
			requireMarked(t, model.asked, "", first, second)
		})
	}
}

// requireMarked requires that a request has these texts, and before the last one the mark.
func requireMarked(t *testing.T, asked []string, mark string, texts ...string) {
	t.Helper()
	require.Len(t, asked, len(texts)+1, "%q", asked)
	n := len(texts) - 1
	require.True(t, strings.HasPrefix(asked[n], "Note: "), asked[n])
	require.Contains(t, asked[n], mark)
	require.Equal(t, texts, append(append([]string{}, asked[:n]...), asked[n+1]))
}
