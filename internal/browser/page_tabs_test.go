package browser

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

var manyTabs = flag.Int("tabs", 7, "how many tabs are open at once; a browser has six connections to a host")

// seen tells a page that its tab is seen, or hidden, and waits until the site has as many streams.
func (p *builtIn) seen(s *site, yes bool, streams int32) {
	p.t.Helper()
	p.text(fmt.Sprintf(`(Object.defineProperty(document, "hidden", {configurable: true, value: %t}),
		document.dispatchEvent(new Event("visibilitychange")), "")`, !yes))
	require.Eventually(p.t, func() bool { return s.views.Load() == streams }, patience, 5*time.Millisecond)
}

// start starts a run, and waits until it has ended or paused.
func (s *site) start(session, prompt string) {
	s.t.Helper()
	res, err := s.hub.Start(s.t.Context(),
		agent.Input{Session: session, Prompt: prompt, Owner: "ann", User: "ann", Interactive: true, Title: session})
	require.NoError(s.t, err)
	<-res.Done
}

// TestADecisionIsTakenInEachOfManyTabs has more tabs than a browser has connections to a host.
func TestADecisionIsTakenInEachOfManyTabs(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, agent.Config{Provider: provider.Func(
		func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
			step := providertest.Say("Gone.")
			if last := req.Messages[len(req.Messages)-1]; last.Role == provider.RoleUser {
				step = providertest.Calls(deletes(last.Text()))
			}
			return providertest.Script(step).Stream(ctx, req)
		})})
	var tabs []*builtIn
	for i := range *manyTabs {
		s.start(fmt.Sprint("s-", i), fmt.Sprint("page ", i))
		p := s.page(fmt.Sprint("s-", i))
		p.card(fmt.Sprintf("Delete “page %d”?", i))
		p.seen(s, false, 0)
		tabs = append(tabs, p)
	}
	for i, p := range tabs {
		p.seen(s, true, 1)
		p.press(p.card(fmt.Sprintf("Delete “page %d”?", i)), "Approve")
		p.has("Gone.")
		p.seen(s, false, 0)
	}
	require.Len(t, s.did(), *manyTabs)

	// While nobody sees it, something comes that waits.
	p := tabs[0]
	p.wait(`document.title === "s-0 · Chat"`)
	s.start("s-0", "about us")
	p.text(`(now => (Date.now = () => now() + 31_000, ""))(Date.now)`)
	p.wait(`document.title === "(1) s-0 · Chat"`)
	require.Equal(t, "0", p.text(`String(document.querySelectorAll(".card").length)`))
	p.seen(s, true, 1)
	p.card("Delete “about us”?")
	p.calm()
}
