package redact

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler is h without secrets in messages, names and values.
func (r *Redactor) Handler(h slog.Handler) slog.Handler { return &handler{h, r} }

type handler struct {
	slog.Handler
	r *Redactor
}

func (h *handler) Handle(ctx context.Context, rec slog.Record) error {
	clean := slog.NewRecord(rec.Time, rec.Level, h.r.String(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.r.Attr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.r.Attr(a)
	}
	return &handler{h.Handler.WithAttrs(clean), h.r}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(h.r.String(name)), h.r}
}

// Attr is a without secrets. A value that is no text becomes one if a secret is
// in it.
func (r *Redactor) Attr(a slog.Attr) slog.Attr {
	a.Key = r.String(a.Key)
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(r.String(a.Value.String()))
	case slog.KindGroup:
		group := a.Value.Group()
		clean := make([]slog.Attr, len(group))
		for i, g := range group {
			clean[i] = r.Attr(g)
		}
		a.Value = slog.GroupValue(clean...)
	case slog.KindAny:
		a.Value = r.any(a.Value)
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64, slog.KindLogValuer:
	}
	return a
}

func (r *Redactor) any(v slog.Value) slog.Value {
	x := v.Any()
	if b, ok := x.([]byte); ok {
		return slog.StringValue(r.String(string(b)))
	}
	text := fmt.Sprintf("%+v", x)
	if clean := r.String(text); clean != text {
		return slog.StringValue(clean)
	}
	return v
}
