package contain

import (
	"context"
	"log/slog"
)

// A containedHandler turns panics of a log handler into nothing.
type containedHandler struct{ handler slog.Handler }

// Handler returns handler with its panics contained.
func Handler(handler slog.Handler) slog.Handler { return containedHandler{handler} }

func (h containedHandler) Enabled(ctx context.Context, level slog.Level) (yes bool) {
	defer func() { _ = recover() }()
	return h.handler.Enabled(ctx, level)
}

func (h containedHandler) Handle(ctx context.Context, r slog.Record) (err error) {
	defer Panic(&err)
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
