package main

import (
	"bytes"
	"context"
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
		Examples: standin.Examples(), Goless: c.Place.Goless, Undo: c.Undo,
		Staged: func(ctx context.Context, run, node string) ([]board.FileChange, error) {
			list, err := c.Staged(ctx, run, node)
			return filesOf(list), err
		},
		Checks: func(ctx context.Context, run, node string) (out []board.CheckRun, err error) {
			list, err := c.Checks(ctx, run, node)
			for _, one := range list {
				out = append(out, board.CheckRun(one))
			}
			return out, err
		},
		Done: func(ctx context.Context, run string) (*board.Summary, error) {
			sum, err := c.Done(ctx, run)
			if err != nil || sum == nil {
				return nil, err
			}
			out := &board.Summary{Files: filesOf(sum.Files), Command: sum.Command, Output: sum.Output}
			for _, row := range sum.Agents {
				out.Agents = append(out.Agents, board.AgentRow(row))
			}
			return out, nil
		},
		Background: func(ctx context.Context, session string) (out []board.BackgroundWork, err error) {
			list, err := c.Background(ctx, session)
			for _, one := range list {
				out = append(out, board.BackgroundWork(one))
			}
			return out, err
		},
		Grants: func(ctx context.Context) (out []board.Grant, err error) {
			list, err := c.Grants(ctx)
			for _, g := range list {
				out = append(out, board.Grant{ID: g.ID, Text: g.Text, By: g.Rule.By})
			}
			return out, err
		},
		Revoke: func(ctx context.Context, id string) error { return c.Revoke(ctx, id, user) },
	})
	if err != nil {
		return nil, err
	}
	return serve.Local{}.Handler(besides(c, pages)), nil
}

func filesOf(list []crew.FileChange) (out []board.FileChange) {
	for _, one := range list {
		out = append(out, board.FileChange(one))
	}
	return out
}

// besides has messages that are sent while a plan is at work answered beside it: see
// [crew.Crew.Beside].
func besides(c *crew.Crew, pages http.Handler) http.Handler {
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
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusAccepted)
					// who has asked may have left
					_ = json.NewEncoder(w).Encode(map[string]any{"session": in.Session, "steered": true})
					return
				}
			}
		}
		pages.ServeHTTP(w, r)
	})
}
