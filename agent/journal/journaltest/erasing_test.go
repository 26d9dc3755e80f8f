package journaltest

import (
	"context"
	"testing"

	"github.com/pawlkit/pawl/agent/journal"
)

// careless is a store in memory that rewrites in another way.
type careless struct {
	*journal.MapStore
	rewrite func(m *journal.MapStore, ctx context.Context, r journal.Rewrite) error
}

func (c *careless) Rewrite(ctx context.Context, r journal.Rewrite) error {
	return c.rewrite(c.MapStore, ctx, r)
}

func TestEveryDefectOfAnEraserIsCaught(t *testing.T) {
	for name, d := range map[string]struct {
		rewrite func(m *journal.MapStore, ctx context.Context, r journal.Rewrite) error
		check   func(*fixture)
	}{
		"nothing is replaced": {func(*journal.MapStore, context.Context, journal.Rewrite) error { return nil },
			rewriteData},
		"items are left out": {func(m *journal.MapStore, ctx context.Context, r journal.Rewrite) error {
			r.Items = nil
			return m.Rewrite(ctx, r)
		}, rewriteData},
		"a half is replaced": {func(m *journal.MapStore, ctx context.Context, r journal.Rewrite) error {
			for _, rec := range r.Records {
				if err := m.Rewrite(ctx, journal.Rewrite{Session: r.Session, Fence: r.Fence,
					Records: []journal.Record{rec}}); err != nil {
					return err
				}
			}
			return m.Rewrite(ctx, journal.Rewrite{Session: r.Session, Fence: r.Fence, Items: r.Items})
		}, rewriteNothing},
		"any fence will do": {func(m *journal.MapStore, ctx context.Context, r journal.Rewrite) error {
			if h, err := m.Head(ctx, r.Session); err == nil {
				r.Fence = h.Fence
			}
			return m.Rewrite(ctx, r)
		}, rewriteFenced},
		"the context is ignored": {func(m *journal.MapStore, _ context.Context, r journal.Rewrite) error {
			return m.Rewrite(context.Background(), r)
		}, rewriteEnded},
	} {
		t.Run(name, func(t *testing.T) {
			store := &careless{&journal.MapStore{}, d.rewrite}
			if failureOf(t.Context(), check{name, d.check}, store) == "" {
				t.Fatal("the check passes")
			}
		})
	}
}
