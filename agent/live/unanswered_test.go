package live_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestARunThatWasCanceledInAHubIsMarkedInTheNext(t *testing.T) {
	model := providertest.Script(providertest.HangAfter(2, providertest.Say("Working")), providertest.Say("Done."))
	a := newAgent(t, agent.Config{Provider: model})
	h := newHub(t, live.Config{Agent: a})
	first, canceled := start(t, h), false
	watch(t, h, 0, func(p *page) bool {
		if p.text() == "Working" && !canceled {
			canceled = true
			require.NoError(t, a.Session("s").Cancel(t.Context()))
		}
		return p.ended()
	})
	<-first.Done
	run, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "something else"})
	require.NoError(t, err)
	watch(t, h, run.After, (*page).ended)
	all := model.Requests()
	asked := all[len(all)-1].Messages
	require.Len(t, asked, 4)
	require.True(t, strings.HasPrefix(asked[2].Text(), `Note: the request above ("go") was stopped`), asked[2].Text())
	require.Equal(t, "something else", asked[3].Text())
}
