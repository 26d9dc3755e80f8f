package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/acp"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
)

// edit serves an editor, which names folders. Each has its own hub, and with -web its own page.
func (o *options) edit(ctx context.Context, getenv func(string) string, in io.Reader, out, errs io.Writer) (err error) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // what is logged late mustn't end the program
	var mu sync.Mutex                                       // guards open
	open := make(map[string]*coding.Coder)
	log := logger(errs)
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
		dir, err := filepath.Abs(cmp.Or(cwd, o.dir, "."))
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
			serve, err := o.page(c, errs, log)
			if err != nil {
				return nil, err
			}
			pages.Go(func() {
				if err := serve(ctx); err != nil {
					log.Error("the page has ended", "err", err)
				}
				stop() // SIGTERM ends the program
			})
		}
		return c.Hub, nil
	}
	err = acp.Run(ctx, acp.Config{Hub: hub, Input: agent.Input{User: user, Owner: user}, In: in, Out: out, Logger: log})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
