package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"

	"github.com/pawlkit/pawl/tools/web"
)

// A server on loopback can be read only if the host lists its address.
func ExampleFetcher() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>News</title><h1>News</h1><p>Nothing <b>new</b>.</p><script>track()</script>")
	}))
	defer srv.Close()
	cfg := web.FetchConfig{Hosts: []string{strings.TrimPrefix(srv.URL, "http://")}}
	f, err := web.NewFetcher(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = f.Get(context.Background(), srv.URL)
	fmt.Println(errors.Is(err, web.ErrPrivate))

	cfg.Private = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	if f, err = web.NewFetcher(cfg); err != nil {
		fmt.Println(err)
		return
	}
	page, err := f.Get(context.Background(), srv.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s (%s)\n%s\n", page.Title, page.Type, page.Text)
	// Output:
	// true
	// News (text/html)
	// # News
	//
	// Nothing **new**.
}

// A notebook is a Searcher of the host.
type notebook map[string]string

func (n notebook) Name() string { return "notebook" }

func (n notebook) Search(_ context.Context, query string, _ int) (results []web.SearchResult, err error) {
	for url, text := range n {
		if strings.Contains(text, query) {
			results = append(results, web.SearchResult{Title: "A note", URL: url, Text: text, Score: 0.9})
		}
	}
	return results, nil
}

func ExampleFind() {
	own := notebook{"https://notes.example/1": "Oslo is cold.", "https://notes.example/2": "Rome is warm."}
	off, err := web.NewSearXNG("http://127.0.0.1:1")
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := web.Find(context.Background(), "cold", 5, web.AtLeast(0.6, own), off)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range found.Results {
		fmt.Println(r.Source, r.URL, r.Text)
	}
	fmt.Println(found.Failed[0].Source, "failed")
	// Output:
	// notebook https://notes.example/1 Oslo is cold.
	// searxng failed
}
