package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A watched is the program with a model that answers in steps, and records what it is asked.
type watched struct {
	*program
	t *testing.T

	before func(n int) // is called when the nth request comes; may be nil

	mu       sync.Mutex // guards what follows
	requests []*provider.Request
}

// withModel opens a new site with a model that isn't the stand-in. Once the steps are used, it says
// "Done."
func (b *bench) withModel(steps ...providertest.Step) *watched {
	b.t.Helper()
	w := &watched{t: b.t}
	o, err := readOptions([]string{"-db", b.db}, noKeys, b.t.Output())
	require.NoError(b.t, err)
	o.standIn = false
	o.model = providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		w.mu.Lock()
		w.requests = append(w.requests, req)
		n := len(w.requests)
		w.mu.Unlock()
		if w.before != nil {
			w.before(n)
		}
		if n <= len(steps) {
			return steps[n-1].Response(), nil
		}
		return providertest.Say("Done.").Response(), nil
	})
	w.program, err = o.open("", b.t.Output())
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, w.close()) })
	return w
}

// asked returns the newest request.
func (w *watched) asked() *provider.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests[len(w.requests)-1]
}

// say runs a message, and returns the request that was made for it last.
func (w *watched) say(in agent.Input) *provider.Request {
	w.t.Helper()
	_, err := w.hub.Agent().Run(w.t.Context(), in)
	require.NoError(w.t, err)
	return w.asked()
}

// page serves the assistant, and returns a function that sends a message as main.js does.
func (w *watched) page() (send func(text, screen string)) {
	handler, err := assistant.New(assistant.Config{Hub: w.hub})
	require.NoError(w.t, err)
	server := httptest.NewServer(handler)
	w.t.Cleanup(server.Close)
	return func(text, screen string) {
		req, err := http.NewRequest(http.MethodPost, server.URL+"/assistant/sessions/send",
			strings.NewReader(fmt.Sprintf(`{"session":"s","text":%q}`, text)))
		require.NoError(w.t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-CMS-Screen", screen)
		res, err := server.Client().Do(req)
		require.NoError(w.t, err)
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		require.Equal(w.t, http.StatusAccepted, res.StatusCode, string(body))
	}
}

// ended waits for the end of the run that begins after a fact.
func (w *watched) ended(after uint64) {
	for ev, err := range w.hub.Watch(w.t.Context(), "s", after) {
		require.NoError(w.t, err)
		if _, over := ev.(*agent.RunEnded); over {
			return
		}
	}
}

// The page sends what is on the screen with each message, as main.js does.
func TestAModelKnowsWhereItIs(t *testing.T) {
	t.Parallel()
	w := newBench(t).withModel()
	page := w.page()
	send := func(text, screen string) (system, message string) {
		before := uint64(0)
		if info, err := w.hub.Agent().Session("s").Info(t.Context()); err == nil {
			before = info.Facts
		}
		page(text, screen)
		w.ended(before)
		return w.asked().System, w.asked().LastUserText()
	}

	system, text := send("Make the headline bigger", "/pages/services")
	require.Regexp(t, `Today is \w+, \d+ \w+ 20\d\d\. The site is called “Fern and Flour”\.`, system)
	require.Contains(t, text, "Make the headline bigger\n\n<screen>\nThe person sees the page Services (/services), ")
	require.Regexp(t, `published\. Its sections: \w+ sec_\w+, .*sec_\w+\.\n</screen>`, text)
	require.Regexp(t, `(?s)<context name="the pages of the site">\n.*Home \(/\), published\n`, text)

	_, text = send("And this one?", "/blog/hello-world")
	require.Contains(t, text, "The person sees the entry Hello, world (hello-world) of the collection blog, published.")
	require.NotContains(t, text, "Its sections")
	_, text = send("Delete this page", "/pages/nothing")
	require.Contains(t, text, "The person sees that nothing is at /nothing.")
	_, text = send("And here?", `/pages/"><b>`)
	require.NotContains(t, text, "<screen>")
	require.NotContains(t, w.asked().Messages[0].Text(), "<screen>", "the messages before say it no more")

	send("Home", "/pages/home")
	_, err := w.talk(t.Context(), terminal.Config{Prompt: "And now?", Out: &bytes.Buffer{}}, t.Output())
	require.NoError(t, err)
	require.NotContains(t, w.asked().LastUserText(), "<screen>", "the terminal has none")
	require.Contains(t, w.asked().LastUserText(), "Home (/), published")
}

// A message that comes into a run in progress is about its own screen, and no later run is.
func TestAMessageIntoARunHasItsOwnScreen(t *testing.T) {
	t.Parallel()
	w := newBench(t).withModel(providertest.Call("cms.listPages", object{}))
	asked, sent := make(chan int), make(chan int)
	w.before = func(n int) {
		if n == 1 {
			close(asked)
			<-sent
		}
	}
	send := w.page()
	send("List the pages", "/pages/services")
	<-asked
	send("And describe this one", "/pages/blog")
	close(sent)
	w.ended(0)
	require.Contains(t, w.asked().LastUserText(), "And describe this one\n\n<screen>\nThe person sees the page Blog")
	require.Len(t, w.requests, 2)
	later := w.say(agent.Input{Session: "s", Prompt: "And here?", Labels: assistant.Screen("/pages/home")})
	require.Contains(t, later.LastUserText(), "The person sees the page Home")
}

// The page on the screen, those that the message names and the newest are always among them.
func TestAModelIsToldOfFortyPagesThatMatterAndHowManyMore(t *testing.T) {
	t.Parallel()
	w := newBench(t).withModel()
	pages, err := w.site.ListPages(t.Context(), site.Query{})
	require.NoError(t, err)
	for i := range 260 - pages.Total {
		_, err := w.site.CreatePage(t.Context(), site.CreatePage{Name: fmt.Sprintf("Page %03d", i)})
		require.NoError(t, err)
	}
	text := w.say(agent.Input{Session: "s", Prompt: "Link page 7 and Page-009 to PAGE 013, and to page 010.",
		Labels: assistant.Screen("/pages/page-005")}).LastUserText()
	require.Equal(t, 40, strings.Count(text, ", draft\n")+strings.Count(text, ", published\n"))
	require.Contains(t, text, "\nand 220 more, which cms_listPages lists\n")
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^Page (\d+) \(/page-\d+\), draft$`).FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	require.Equal(t, []string{"005", "009", "010", "013"}, listed[:4], "007 isn't called 7")
	require.Equal(t, "221", listed[4], "the others are the newest")
	require.Equal(t, "256", listed[len(listed)-1])
}
