package journaltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// RunBlocked checks, as a subtest of t for each method, that every call of a store ends with its
// context while nothing is answered, and that what was cut off can be repeated. Block keeps the
// store from answering, as when another process has locked its file or its server is away, until
// release is called. Calls that it doesn't hold up, such as reads, simply succeed.
//
// Open returns an empty store, and closes it with t.Cleanup if that is necessary.
func RunBlocked(t *testing.T, open func(t *testing.T) (store journal.Store, block func() (release func()))) {
	t.Helper()
	for _, c := range blockedCalls {
		t.Run(c.name, func(t *testing.T) {
			store, block := open(t)
			on(t, store).blocked(c, block)
		})
	}
}

// returnTime is how long a call has to return after its context has ended: see [journal.Store].
const returnTime = 5 * time.Second

// A blockedCall is a call that is made while the store doesn't answer, and again after that.
type blockedCall struct {
	name string
	call func(context.Context, journal.Store, journal.Lease) error
}

var blockedCalls = []blockedCall{
	{"append", func(ctx context.Context, s journal.Store, l journal.Lease) error {
		return s.Append(ctx, journal.Append{Session: "s", After: 1, Fence: l.Fence, Records: recs(2, 3)})
	}},
	{"append with a head and an item", func(ctx context.Context, s journal.Store, l journal.Lease) error {
		return s.Append(ctx, journal.Append{Session: "s", After: 1, Fence: l.Fence, Records: recs(2, 3),
			Taken: []string{"a"}, Head: &journal.HeadUpdate{Status: "running"}})
	}},
	{"read", func(ctx context.Context, s journal.Store, _ journal.Lease) error {
		for _, err := range s.Read(ctx, "s", 0) {
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"head", func(ctx context.Context, s journal.Store, _ journal.Lease) error {
		_, err := s.Head(ctx, "s")
		return err
	}},
	{"heads", func(ctx context.Context, s journal.Store, _ journal.Lease) error {
		for _, err := range s.Heads(ctx, journal.Filter{}) {
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"lease", func(ctx context.Context, s journal.Store, _ journal.Lease) error {
		_, err := s.Lease(ctx, "s", "one", time.Minute)
		return err
	}},
	{"renew", func(ctx context.Context, s journal.Store, l journal.Lease) error {
		_, err := s.Renew(ctx, l, time.Minute)
		return err
	}},
	{"release", func(ctx context.Context, s journal.Store, l journal.Lease) error { return s.Release(ctx, l) }},
	{"post", func(ctx context.Context, s journal.Store, _ journal.Lease) error {
		err := s.Post(ctx, "s", item("b"))
		if errors.As(err, new(*journal.PostedError)) { // it was posted though the call was cut off
			return nil
		}
		return err
	}},
	{"take", func(ctx context.Context, s journal.Store, l journal.Lease) error {
		_, err := s.Take(ctx, "s", l.Fence)
		return err
	}},
	{"delete", func(ctx context.Context, s journal.Store, _ journal.Lease) error {
		return s.Delete(ctx, "s", journal.All)
	}},
}

// blocked makes a call while the store doesn't answer, and again when it does.
func (f *fixture) blocked(c blockedCall, block func() (release func())) {
	f.t.Helper()
	f.append(journal.Append{Session: "s", Records: recs(1, 1)})
	f.post("s", item("a"))
	l, err := f.store.Lease(f.ctx, "s", "one", time.Minute)
	if err != nil {
		f.t.Fatalf("lease: %v", err)
	}
	release := block()
	ctx, cancel := context.WithTimeout(f.ctx, 50*time.Millisecond)
	defer cancel()
	back := make(chan error, 1)
	go func() { back <- c.call(ctx, f.store, l) }()
	<-ctx.Done()
	late := time.NewTimer(returnTime)
	defer late.Stop()
	select {
	case err = <-back:
	case <-late.C:
		release()
		<-back
		f.t.Fatalf("the call didn't return within %v after the end of its context", returnTime)
	}
	release()
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		f.t.Fatalf("got error %v, want one that wraps context.DeadlineExceeded", err)
	}
	if err := c.call(f.ctx, f.store, l); err != nil {
		f.t.Fatalf("the same call again: %v", err)
	}
	if c.name != "delete" {
		want := recs(1, 1)
		if c.name == "append" || c.name == "append with a head and an item" {
			want = recs(1, 3)
		}
		f.checkLog("s", want...)
	}
}
