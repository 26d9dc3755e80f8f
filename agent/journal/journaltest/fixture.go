package journaltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// checkTimeout ends a check whose store doesn't return.
const checkTimeout = 2 * time.Minute

// recordTime is when the records of the suite say they happened.
var recordTime = time.Date(2026, 3, 29, 1, 30, 0, 123456789, time.UTC)

// A fixture is the store of one check. Its methods end the check with a failure if the store
// returns an error or a wrong value.
type fixture struct {
	t     tb
	ctx   context.Context
	store journal.Store

	// what the commands of a script have done
	leases []journal.Lease
	posted map[[2]string]journal.Item // by session and id
	times  map[string]time.Time       // of heads
}

func on(t tb, s journal.Store) *fixture {
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	t.Cleanup(cancel)
	return &fixture{t: t, ctx: ctx, store: s, posted: make(map[[2]string]journal.Item),
		times: make(map[string]time.Time)}
}

// do makes a command, and checks its answer.
func (f *fixture) do(line, want string) {
	f.t.Helper()
	c := commandOf(line)
	c.want = want
	f.check(&c)
}

func (f *fixture) check(c *command) {
	f.t.Helper()
	if got := f.play(c); got != c.want {
		f.t.Fatalf("%s: got %q, want %q", c.line, got, c.want)
	}
}

// rec returns a record that no other n has.
func rec(n int) journal.Record {
	return journal.Record{Time: recordTime.Add(time.Duration(n)), Kind: "kind", V: 1,
		Data: fmt.Appendf(nil, "data %d", n)}
}

// recs returns the records from rec(from) to rec(to).
func recs(from, to int) []journal.Record {
	var out []journal.Record
	for n := from; n <= to; n++ {
		out = append(out, rec(n))
	}
	return out
}

func item(id string) journal.Item {
	return journal.Item{ID: id, Kind: "decision", Time: recordTime, Data: []byte("about " + id)}
}

// closing returns an item that closes further ids.
func closing(id string, closes ...string) journal.Item {
	it := item(id)
	it.Closes = closes
	return it
}

func (f *fixture) append(a journal.Append) {
	f.t.Helper()
	if err := f.store.Append(f.ctx, a); err != nil {
		f.t.Fatalf("append to %q after %d with fence %d: %v", a.Session, a.After, a.Fence, err)
	}
}

func (f *fixture) read(session string, after uint64) []journal.Record {
	f.t.Helper()
	var out []journal.Record
	for r, err := range f.store.Read(f.ctx, session, after) {
		if err != nil {
			f.t.Fatalf("read %q after %d: %v", session, after, err)
		}
		out = append(out, r)
	}
	return out
}

// checkLog checks that the records of a session are exactly these, with the right numbers.
func (f *fixture) checkLog(session string, want ...journal.Record) {
	f.t.Helper()
	got := f.read(session, 0)
	f.equal("number of records", len(got), len(want))
	for i, r := range got {
		if r.Seq != uint64(i+1) || !r.Equal(want[i]) {
			w := want[i]
			f.t.Fatalf("session %q, record %d: got %d, %q, version %d of %v with data %.100q, want %q, version %d of %v "+
				"with data %.100q", session, i+1, r.Seq, r.Kind, r.V, r.Time, r.Data, w.Kind, w.V, w.Time, w.Data)
		}
	}
}

func (f *fixture) head(session string) journal.Head {
	f.t.Helper()
	h, err := f.store.Head(f.ctx, session)
	if err != nil {
		f.t.Fatalf("head of %q: %v", session, err)
	}
	return h
}

// names returns the names of the sessions that flt selects.
func (f *fixture) names(flt journal.Filter) []string {
	f.t.Helper()
	var out []string
	for h, err := range f.store.Heads(f.ctx, flt) {
		if err != nil {
			f.t.Fatalf("heads %+v: %v", flt, err)
		}
		out = append(out, h.Session)
	}
	return out
}

// wait waits until a time, and a little longer for clocks that are behind.
func (f *fixture) wait(until time.Time) {
	f.t.Helper()
	timer := time.NewTimer(time.Until(until) + time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.ctx.Done():
		f.t.Fatalf("gave up waiting for %v: %v", until, f.ctx.Err())
	}
}

func (f *fixture) post(session string, items ...journal.Item) {
	f.t.Helper()
	for _, it := range items {
		if err := f.store.Post(f.ctx, session, it); err != nil {
			f.t.Fatalf("post %q to %q: %v", it.ID, session, err)
		}
	}
}

func (f *fixture) take(session string, fence uint64) []journal.Item {
	f.t.Helper()
	items, err := f.store.Take(f.ctx, session, fence)
	if err != nil {
		f.t.Fatalf("take from %q with fence %d: %v", session, fence, err)
	}
	return items
}

// equal checks that got equals want. A nil slice equals an empty one, also as the open list or the
// labels of a head.
func (f *fixture) equal(what string, got, want any) {
	f.t.Helper()
	if !reflect.DeepEqual(emptyIsNil(got), emptyIsNil(want)) {
		f.t.Fatalf("%s: got %+v, want %+v", what, got, want)
	}
}

func emptyIsNil(v any) any {
	if h, ok := v.(journal.Head); ok {
		if len(h.Open) == 0 {
			h.Open = nil
		}
		if len(h.Labels) == 0 {
			h.Labels = nil
		}
		return h
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice && r.Len() == 0 {
		return nil
	}
	return v
}

// refused checks that err is a T of package journal, and that it isn't unclear.
func refused[T error](f *fixture, what string, err error) T {
	f.t.Helper()
	var want T
	if !errors.As(err, &want) {
		f.t.Fatalf("%s: got error %v, want a %T", what, err, want)
	}
	if journal.Unclear(err) {
		f.t.Fatalf("%s: %v is unclear", what, err)
	}
	return want
}
