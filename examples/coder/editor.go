package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/acp"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
)

// edit serves an editor, which names folders. Each has its own hub, and with -web its own page.
func (o *options) edit(ctx context.Context, getenv func(string) string, in io.Reader, out, errs io.Writer) (err error) {
	var mu sync.Mutex // guards open
	open := make(map[string]*coding.Coder)
	ctx, stop := context.WithCancel(ctx)
	var pages sync.WaitGroup
	defer func() {
		stop()
		pages.Wait()
		for _, c := range open {
			err = errors.Join(err, c.Close())
		}
	}()
	hub := func(_ context.Context, cwd string) (*live.Hub, error) {
		mu.Lock()
		defer mu.Unlock()
		if cwd == "" && o.dir == "" {
			cwd = "."
		} else if cwd == "" {
			cwd = o.dir
		}
		dir, err := filepath.Abs(cwd)
		if err != nil {
			return nil, err
		}
		if c := open[dir]; c != nil {
			return c.Hub, nil
		}
		c, err := o.open(dir, getenv, errs)
		if err != nil {
			return nil, err
		}
		open[dir] = c
		if o.web {
			serve, err := o.page(c, errs)
			if err != nil {
				return nil, err
			}
			pages.Go(func() { err = errors.Join(err, serve(ctx)) })
		}
		return c.Hub, nil
	}
	return acp.Run(ctx, acp.Config{Hub: hub, Input: agent.Input{User: user, Owner: user}, In: in, Out: out,
		Logger: slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelWarn}))})
}
