package serve_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/sse"
)

func TestThePageIsServedBelowItsPrefix(t *testing.T) {
	s := newSite(t, serve.Config{Title: "Help", Examples: []string{"Do it"}})
	status, html := s.call("", "GET", "", nil)
	require.Equal(t, 200, status)
	require.Contains(t, html, `src="page/main.js"`)
	res := s.request("", "GET", "page/main.js", nil)
	res.Body.Close()
	require.Contains(t, res.Header.Get("Content-Security-Policy"), "default-src 'none'")
	status, _ = s.call("", "GET", "page/nothing.js", nil)
	require.Equal(t, http.StatusNotFound, status)

	require.Equal(t, serve.CodeSignIn, s.refused("", "GET", "config", nil).Code)
	var config struct {
		Title, User string
		Examples    []string
		Modes       []any
		Limits      map[string]int
	}
	s.must("ann", "GET", "config", nil, &config)
	require.Equal(t, "Help", config.Title)
	require.Equal(t, "ann", config.User)
	require.Equal(t, []string{"Do it"}, config.Examples)
	require.NotNil(t, config.Modes)
	require.Equal(t, serve.DefaultMaxMessage, config.Limits["message"])
	require.Less(t, config.Limits["file_bytes"]/3*4+config.Limits["message"], serve.DefaultMaxBody)
}

// says reports that an event contains a text.
func says(text string) func(sse.Event) bool {
	return func(ev sse.Event) bool { return strings.Contains(string(ev.Data), text) }
}

func TestTheViewShowsTheConversationAsPatches(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Reply(providertest.Say("I **look**."),
		providertest.Call("look", Page{"home"})), providertest.Call("delete", Page{"home"}), providertest.Say("Done."))
	s.send("ann", "s-1", "x")
	all := events(t, s.request("ann", "GET", "view?session=s-1", nil), says(`"status":"paused"`))
	var text strings.Builder
	last := ""
	for _, ev := range all {
		var patches []map[string]any
		require.NoError(t, json.Unmarshal(ev.Data, &patches))
		text.Write(ev.Data)
		if ev.ID != "" {
			last = ev.ID
		}
	}
	require.Contains(t, text.String(), "<p>I <strong>look</strong>.</p>")
	require.Contains(t, text.String(), `"about":"Delete a page."`)
	require.Contains(t, text.String(), `"schema":{`)

	res := s.request("ann", "GET", "view?session=s-1", nil, "Last-Event-ID", last)
	s.must("ann", "POST", "sessions/decide",
		obj{"session": "s-1", "decisions": []obj{{"id": s.pending("ann", "s-1")[0], "decision": "approve"}}}, nil)
	rest := events(t, res, says(`"status":"completed"`))
	text.Reset()
	for _, ev := range rest {
		text.Write(ev.Data)
	}
	require.NotContains(t, text.String(), "look", "it was shown before")
	require.Contains(t, text.String(), "<p>Done.</p>")
	require.Equal(t, 404, s.refused("bob", "GET", "view?session=s-1", nil).Status)
	require.Equal(t, serve.CodeMalformed, s.refused("ann", "GET", "view?session=s-1&after=x", nil).Code)
}

func TestTheViewShowsTheReplySoFar(t *testing.T) {
	model, g := held(1)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	for range 2 {
		events(t, s.request("ann", "GET", "view?session=s-1", nil), says("<p>Working</p>"))
	}
	res := s.request("ann", "GET", "view?session=s-1", nil)
	g.open <- struct{}{}
	all := events(t, res, says("Working done."))
	require.Contains(t, string(all[len(all)-1].Data), "Working done.")
}

func TestAClosingServerEndsViews(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("Done."))
	s.send("ann", "s-1", "x")
	res := s.request("ann", "GET", "view?session=s-1", nil)
	require.NoError(t, s.hub.Close())
	all := events(t, res, nil)
	require.True(t, slices.ContainsFunc(all, func(ev sse.Event) bool { return ev.Type == "hint" }))
}
