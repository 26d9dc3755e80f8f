package contain

import (
	"context"
	"log/slog"
)

// A containedHandler turns panics of a log handler into nothing, and redacts what is logged.
type containedHandler struct {
	handler slog.Handler
	redact  func(string) string
}

// Handler returns handler with its panics contained. The texts and errors of attributes are logged
// as redact returns them.
func Handler(handler slog.Handler, redact func(string) string) slog.Handler {
	return containedHandler{handler, redact}
}

func (h containedHandler) Enabled(ctx context.Context, level slog.Level) (yes bool) {
	defer func() { _ = recover() }()
	return h.handler.Enabled(ctx, level)
}

func (h containedHandler) Handle(ctx context.Context, r slog.Record) (err error) {
	defer Panic(&err)
	own := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		own.AddAttrs(h.clean(a))
		return true
	})
	return h.handler.Handle(ctx, own)
}

// clean returns an attribute redacted. An error stays one if nothing in it is replaced.
func (h containedHandler) clean(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(h.redact(v.String()))
	case slog.KindAny:
		if texts, ok := v.Any().([]string); ok {
			own := make([]string, len(texts))
			for i, text := range texts {
				own[i] = h.redact(text)
			}
			a.Value = slog.AnyValue(own)
		}
		if err, ok := v.Any().(error); ok {
			if text, changed := h.text(err); changed {
				a.Value = slog.StringValue(text)
			}
		}
	case slog.KindGroup:
		group := make([]slog.Attr, 0, len(v.Group()))
		for _, in := range v.Group() {
			group = append(group, h.clean(in))
		}
		a.Value = slog.GroupValue(group...)
	}
	return a
}

// text returns the text of an error redacted, and whether that has changed it. The error's method
// may panic.
func (h containedHandler) text(err error) (text string, changed bool) {
	defer func() { _ = recover() }()
	before := err.Error()
	text = h.redact(before)
	return text, text != before
}

func (h containedHandler) WithAttrs(attrs []slog.Attr) (with slog.Handler) {
	with = h
	defer func() { _ = recover() }()
	own := make([]slog.Attr, 0, len(attrs))
	for _, a := range attrs {
		own = append(own, h.clean(a))
	}
	return containedHandler{h.handler.WithAttrs(own), h.redact}
}

func (h containedHandler) WithGroup(name string) (with slog.Handler) {
	with = h
	defer func() { _ = recover() }()
	return containedHandler{h.handler.WithGroup(name), h.redact}
}
