package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/examples/team/internal/board"
	"github.com/pawlkit/pawl/examples/team/internal/crew"
	"github.com/pawlkit/pawl/examples/team/internal/standin"
)

// pagesOf returns the handler of the pages, which show what the team says about itself.
func pagesOf(c *crew.Crew, feed *board.Feed, about string) (http.Handler, error) {
	pages, err := board.New(board.Config{Hub: c.Hub, Plans: c.Plans, Feed: feed, About: about, Dir: c.Place.Dir,
		Examples: standin.Examples(), Goless: c.Place.Goless, Staged: c.Staged, Checks: c.Checks, Done: c.Done,
		Background: c.Background, Undo: c.Undo, Grants: c.Grants, Revoke: c.Revoke})
	if err != nil {
		return nil, err
	}
	return serve.Local{User: user}.Handler(besides(c, feed, pages)), nil
}

// besides has messages that are sent while a plan is at work answered beside it: see
// [crew.Crew.Beside].
func besides(c *crew.Crew, feed *board.Feed, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/sessions/send") {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
			if err != nil {
				http.Error(w, "the message is too long", http.StatusRequestEntityTooLarge)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			var in struct{ Session, Text string }
			if json.Unmarshal(body, &in) == nil && in.Session != "" && in.Text != "" {
				taken, err := c.Beside(r.Context(), in.Session, in.Text, user)
				if err == nil && taken {
					feed.Poke()
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusAccepted)
					// who has asked may have left
					_ = json.NewEncoder(w).Encode(map[string]any{"session": in.Session, "repeated": true})
					return
				}
			}
		}
		pages.ServeHTTP(w, r)
	})
}
