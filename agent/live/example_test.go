package live_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A Chat serves conversations over HTTP. Their pages may be reloaded in the middle of an answer,
// open in several browsers, and stay open while the server restarts. A real server would check here
// who may see the session.
type Chat struct{ Hub *live.Hub }

func (c Chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := strings.TrimPrefix(r.URL.Path, "/")
	if r.Method == http.MethodPost { // a message; the answer is written even if the page is closed
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err == nil {
			_, err = c.Hub.Start(r.Context(), agent.Input{Session: session, Prompt: string(text), Interactive: true})
		}
		if err != nil {
			http.Error(w, "try again", http.StatusConflict)
		}
		return
	}
	after, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64) // a browser sends it when it connects again
	w.Header().Set("Content-Type", "text/event-stream")
	for ev, err := range c.Hub.Watch(r.Context(), session, after) {
		if err != nil {
			return // the browser connects again
		}
		data, err := agent.MarshalEvent(ev)
		if err != nil {
			return
		}
		if seq := ev.Envelope().Seq; seq > 0 {
			fmt.Fprintf(w, "id: %d\n", seq)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
	}
}

// Serve starts the server on a journal. The function it returns stops the server.
func Serve(journal string, model provider.Provider) (url string, stop func()) {
	store := must(sqlite.Open(journal, sqlite.Config{}))
	a := must(agent.New(agent.Config{Provider: model, Journal: store}))
	hub := must(live.New(live.Config{Agent: a, Drain: 10 * time.Millisecond}))
	server := httptest.NewServer(Chat{hub})
	return server.URL, func() {
		hub.Close() // also ends the requests of readers
		server.Close()
		store.Close()
	}
}

// must ends the program if there is an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// A Page is what a browser shows of a conversation.
type Page struct {
	Text string // of the answer in progress
	last string // the id of the last event that has one
}

// Read connects and shows events until the text ends as given.
func (p *Page) Read(url, end string) {
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	req := must(http.NewRequestWithContext(ctx, http.MethodGet, url+"/s-1", nil))
	req.Header.Set("Last-Event-ID", p.last)
	res := must(http.DefaultClient.Do(req))
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); !strings.HasSuffix(p.Text, end) && lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			p.last = id
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		switch ev := must(agent.UnmarshalEvent([]byte(data))).(type) {
		case *agent.StepStarted, *agent.Lagged, *agent.Reset:
			p.Text = ""
		case *agent.TextDelta:
			p.Text += ev.Text
		case *agent.Replied: // all of it, for a page that comes later
			p.Text = ev.Message.Text()
		}
	}
}

// A chat whose page is reloaded in the middle of an answer, from two browsers, and across a restart
// of the server.
func Example() {
	dir := must(os.MkdirTemp("", "chat"))
	defer os.RemoveAll(dir)
	story := providertest.SayChunks("Once ", "upon ", "a time.")

	url, stop := Serve(filepath.Join(dir, "runs.db"), providertest.Script(providertest.HangAfter(3, story)))
	must(http.Post(url+"/s-1", "text/plain", strings.NewReader("Tell me a story."))).Body.Close()
	var ann, bob Page
	ann.Read(url, "upon ")
	fmt.Printf("Ann reads: %q\n", ann.Text)
	ann = Page{}
	ann.Read(url, "upon ")
	fmt.Printf("Ann reloads the page: %q\n", ann.Text)
	bob.Read(url, "upon ")
	fmt.Printf("Bob joins: %q\n", bob.Text)
	stop() // in the middle of the answer

	url, stop = Serve(filepath.Join(dir, "runs.db"), providertest.Script(story))
	defer stop()
	ann.Text = "" // the answer in progress is written anew
	ann.Read(url, "time.")
	fmt.Printf("Ann, after the restart: %q\n", ann.Text)
	bob = Page{}
	bob.Read(url, "time.")
	fmt.Printf("Bob, who reloads it: %q\n", bob.Text)
	// Output:
	// Ann reads: "Once upon "
	// Ann reloads the page: "Once upon "
	// Bob joins: "Once upon "
	// Ann, after the restart: "Once upon a time."
	// Bob, who reloads it: "Once upon a time."
}
