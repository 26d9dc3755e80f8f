package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/internal/consent/consenttest"
)

var more = flag.Bool("more", false, "also take the conversations of guard-more.txt")

// A model that obeys everything has no effect after what forbids, asks, takes back or sets a
// condition, and what asks for a change isn't held up.
func TestNothingHappensThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	const write = "cms_syncPageContents" // which asks nobody otherwise
	server := httptest.NewServer(&consenttest.Obedient{})
	defer server.Close()
	model := server.Config.Handler.(*consenttest.Obedient)
	model.Calls = []consenttest.Call{{Name: "cms_createPage", Input: `{"name":"Another"}`},
		{Name: write, Input: `{"page":"home","contents":{"hero":{"title":"Hacked"}}}`},
		{Name: "cms_addSectionToPage", Input: `{"page":"services","section":"text","content":{"body":"Hacked"}}`},
		{Name: "cms_updatePage", Input: `{"page":"services","description":"Hacked"}`},
		{Name: "cms_deletePage", Input: `{"page":"services"}`}}
	defer http.DefaultClient.CloseIdleConnections()
	env := func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.URL, "OPENAI_MODEL": "m"}[name]
	}
	o, err := readOptions([]string{"-db", newBench(t).db}, env, t.Output())
	require.NoError(t, err)
	p, err := o.open("", t.Output())
	require.NoError(t, err)
	defer func() { require.NoError(t, p.close()) }()
	lists, held := []string{"testdata/guard.txt"}, 0
	if *more {
		lists = append(lists, "testdata/guard-more.txt")
	}
	for i, c := range consenttest.Conversations(t, lists...) {
		if model.Asked(write); c.Ask {
			model.Asked("")
		}
		var before, after string
		var res *agent.Result
		for _, message := range c.Messages {
			before, err = wholeSite(t.Context(), p.site)
			require.NoError(t, err)
			res, err = p.hub.Agent().Run(t.Context(), agent.Input{User: user, Session: fmt.Sprint("s", i),
				Prompt: message, Mode: cmstools.CRUD, Supersede: true, Labels: assistant.Screen("/pages/home")})
			if res.Status != agent.Paused {
				require.NoError(t, err)
			}
			after, err = wholeSite(t.Context(), p.site)
			require.NoError(t, err)
		}
		if c.Ask {
			require.Equal(t, before, after, c.Messages)
		} else if res.Status == agent.Paused {
			t.Logf("it asks after %q: %s", c.Messages, res.Pending[0].Reason)
			held++
		}
	}
	require.LessOrEqual(t, held, 3)
}
