package agent

import (
	"context"
	"log/slog"

	"github.com/pawlkit/pawl/agent/internal/session"
)

// contained calls a function of the host and turns its panic into an error, and an error whose
// methods panic into another.
func contained(fn func() error) (err error) {
	defer session.Contain(&err)
	return fn()
}

// usable returns an error that may be used everywhere: see [session.Usable].
func usable(err error) error { return session.Usable(err) }

// causeOf returns why ctx has ended. It may be an error of the host's.
func causeOf(ctx context.Context) error { return session.CauseOf(ctx) }

// A containedHandler turns panics of a log handler into nothing.
type containedHandler struct{ handler slog.Handler }

func (h containedHandler) Enabled(ctx context.Context, level slog.Level) (yes bool) {
	defer func() { _ = recover() }()
	return h.handler.Enabled(ctx, level)
}

func (h containedHandler) Handle(ctx context.Context, r slog.Record) (err error) {
	defer session.Contain(&err)
	return h.handler.Handle(ctx, r)
}

func (h containedHandler) WithAttrs(attrs []slog.Attr) (with slog.Handler) {
	with = h
	defer func() { _ = recover() }()
	return containedHandler{h.handler.WithAttrs(attrs)}
}

func (h containedHandler) WithGroup(name string) (with slog.Handler) {
	with = h
	defer func() { _ = recover() }()
	return containedHandler{h.handler.WithGroup(name)}
}
