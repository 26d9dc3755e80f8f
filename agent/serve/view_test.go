package serve_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/agent/serve/page"
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
	require.Equal(t, serve.MaxMessage, config.Limits["message"])
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

// A patchOf is what tests look at of a patch.
type patchOf struct {
	Item  struct{ Kind, Text string }
	State struct{ Older uint64 }
}

func TestALongSessionIsShownInParts(t *testing.T) {
	var steps []providertest.Step
	for range 150 {
		steps = append(steps, providertest.Say("Yes."))
	}
	s := newSite(t, serve.Config{}, steps...)
	for i := range 150 {
		_, err := s.agent.Run(t.Context(),
			agent.Input{Session: "s-1", Prompt: fmt.Sprint("Question ", i), Owner: "ann"})
		require.NoError(t, err)
	}
	asks := func(patches []patchOf) (first string, n int, older uint64) {
		for _, p := range patches {
			if p.Item.Kind == "user" {
				n++
				first = cmp.Or(first, p.Item.Text)
			}
			older = max(older, p.State.Older)
		}
		return first, n, older
	}
	all := events(t, s.request("ann", "GET", "view?session=s-1", nil), says("Question 149"))
	require.Len(t, all, 1)
	require.Equal(t, "601", all[0].ID, "it goes on after the last fact: four for each run, and a title")
	var patches []patchOf
	require.NoError(t, json.Unmarshal(all[0].Data, &patches))
	first, n, older := asks(patches)
	require.Equal(t, "Question 50", first)
	require.Equal(t, 100, n)

	var answer struct {
		Patches []patchOf
		Older   uint64
	}
	s.must("ann", "GET", fmt.Sprint("view/older?session=s-1&before=", older), nil, &answer)
	first, n, _ = asks(answer.Patches)
	require.Equal(t, "Question 0", first)
	require.Equal(t, 50, n)
	require.Zero(t, answer.Older)
	require.Equal(t, serve.CodeMalformed, s.refused("ann", "GET", "view/older?session=s-1&before=x", nil).Code)
	require.Equal(t, serve.CodeUnknown, s.refused("bob", "GET", "view/older?session=s-1&before=5", nil).Code)
}

func TestAClosingServerEndsViews(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("Done."))
	s.send("ann", "s-1", "x")
	res := s.request("ann", "GET", "view?session=s-1", nil)
	require.NoError(t, s.hub.Close())
	all := events(t, res, nil)
	require.True(t, slices.ContainsFunc(all, func(ev sse.Event) bool { return ev.Type == "hint" }))
}

func TestACardHasWhatTheHostShowsOfIt(t *testing.T) {
	s := newSite(t, serve.Config{Preview: func(session string, p *agent.Pause) page.Preview {
		if string(p.Call.Input) != `{"page":"home"}` {
			panic("an unknown page")
		}
		return page.Preview{Title: "Home", Picture: "pictures/" + session + ".png"}
	}}, providertest.Call("delete", Page{"home"}), providertest.Call("delete", Page{"about"}))
	s.send("ann", "s-1", "x")
	s.send("ann", "s-2", "x")
	shown := events(t, s.request("ann", "GET", "view?session=s-1", nil), says(`"status":"paused"`))
	require.Contains(t, string(shown[0].Data), `"show":{"title":"Home","picture":"pictures/s-1.png"}`)
	shown = events(t, s.request("ann", "GET", "view?session=s-2", nil), says(`"status":"paused"`))
	require.Contains(t, string(shown[0].Data), `"ask":"approval"`)
	require.NotContains(t, string(shown[0].Data), `"show"`)
}
