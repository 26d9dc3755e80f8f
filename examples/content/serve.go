package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/observe"
	"github.com/pawlkit/pawl/examples/content/internal/server"
)

// shutdown is how long runs may take to come to a safe point.
const shutdown = 10 * time.Second

// serve serves the API and the pages until ctx ends or a signal comes.
func serve(ctx context.Context, cfg assistant.Config, addr string, getenv func(string) string,
	stdout, stderr io.Writer) (err error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close() // the server has closed it, unless it didn't start
	limits := server.NewLimits(nil)
	var level slog.Level
	if err := level.UnmarshalText([]byte(cmp.Or(getenv("LOG_LEVEL"), "info"))); err != nil {
		return fmt.Errorf("LOG_LEVEL is %q; set it to debug, info, warn or error", getenv("LOG_LEVEL"))
	}
	salt := getenv("USER_HASH_SALT")
	cfg.Logger = slog.New(observe.Handler(stderr, level, salt))
	cfg.Admit, cfg.Salt = limits.Admit, salt
	o, err := observe.New(observe.Config{Salt: salt, Logger: cfg.Logger})
	if err != nil {
		return err
	}
	cfg.Hooks, cfg.Observe = []agent.Hooks{o.Hooks()}, o.Event
	models, real, notice, err := model(getenv, cfg.Logger, o.Calls())
	if err != nil {
		return err
	}
	about, err := services(&cfg, getenv, real)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "content: %s; %s\n", notice, about)
	cfg.Real, cfg.Recover, cfg.Drain = real, time.Second, shutdown
	if cfg.Model, err = limits.Model(o.Provider(models)); err != nil {
		return err
	}
	s, err := assistant.New(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	h, err := server.New(ctx,
		server.Config{Services: s, Limits: limits, Pages: server.Pages(),
			Secret: []byte(getenv("JWT_SECRET")), Observer: o, MetricsToken: getenv("METRICS_TOKEN"), Model: notice,
			Salt: salt, Logger: cfg.Logger})
	if err != nil {
		return err
	}
	var background sync.WaitGroup
	defer background.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	background.Go(func() {
		if err := s.Recover(ctx); err != nil && ctx.Err() == nil {
			cfg.Logger.Error("pipelines of the process before can't be continued", "error", err)
		}
	})
	background.Go(func() { o.Watch(ctx, s, limits.Used) })
	background.Go(func() {
		<-s.Hub.Closing()
		stop()
		h.Close()
	})
	fmt.Fprintf(stdout, "http://%s\n", listener.Addr())
	return live.Serve(ctx, s.Hub,
		&http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}, listener)
}
