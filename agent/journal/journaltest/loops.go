package journaltest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// each calls do with the values of a sequence until it returns false. An error ends the check.
func each[T any](f *fixture, seq iter.Seq2[T, error], do func(T) bool) {
	f.t.Helper()
	for v, err := range seq {
		if err != nil {
			f.t.Fatalf("got error %v", err)
		}
		if !do(v) {
			return
		}
	}
}

// broken breaks out of the loop over a sequence after three values, again and again.
func broken[T any](f *fixture, seq iter.Seq2[T, error]) {
	f.t.Helper()
	for range 50 {
		n := 0
		each(f, seq, func(T) bool { n++; return n < 3 })
	}
}

// canceled ends the context after two values of a sequence, which must yield an error then, and
// end.
func canceled[T any](f *fixture, sequence func(context.Context) iter.Seq2[T, error]) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	n := 0
	var end error
	for v, err := range sequence(ctx) {
		if end != nil {
			f.t.Fatalf("%v and error %v after error %v", v, err, end)
		}
		if end = err; err == nil {
			n++
		}
		if n == 2 {
			cancel()
		}
	}
	f.equal("values", n, 2)
	if !errors.Is(end, context.Canceled) {
		f.t.Fatalf("got error %v, want context.Canceled", end)
	}
}

// prepare makes 12 sessions of one record.
func (f *fixture) prepare() {
	f.t.Helper()
	for i := range 12 {
		f.do(fmt.Sprintf("fill s-%02d 1", i), "")
	}
}

var loopChecks = []check{
	{"a sequence can be used again", func(f *fixture) {
		f.do("fill s 1", "")
		seq := f.store.Read(f.ctx, "s", 0)
		for want := 1; want <= 2; want++ {
			got := 0
			each(f, seq, func(journal.Record) bool { got++; return true })
			f.equal("records", got, want)
			f.do(fmt.Sprintf("append s %d %d", want, want+1), "")
		}
	}},
	{"breaking out of reading leaves the store usable", func(f *fixture) {
		f.do("append s 0 1-400", "")
		broken(f, f.store.Read(f.ctx, "s", 7))
		f.do("append s 400 401", "")
		f.do("log s 399", "400-401")
	}},
	{"breaking out of a list leaves the store usable", func(f *fixture) {
		f.prepare()
		broken(f, f.store.Heads(f.ctx, journal.Filter{}))
		f.do("fill new 1", "")
		f.equal("number of sessions", len(f.names(journal.Filter{})), 13)
	}},
	{"the store may be used while it is read", func(f *fixture) {
		f.do("append s 0 1-3", "")
		last := uint64(0)
		each(f, f.store.Read(f.ctx, "s", 0), func(r journal.Record) bool {
			f.equal("number", r.Seq, last+1)
			last = r.Seq
			if r.Seq <= 3 {
				f.do(fmt.Sprintf("append s %d %d", 2+r.Seq, 3+r.Seq), "")
				f.do(fmt.Sprintf("log s %d", r.Seq), fmt.Sprintf("%d-%d", r.Seq+1, 3+r.Seq))
				f.head("s")
			}
			return true
		})
		if last < 3 {
			f.t.Fatalf("reading stopped at %d of 3", last)
		}
		f.do("log s", "1-6")
	}},
	{"the store may be used while it is listed", func(f *fixture) {
		f.prepare()
		var got []string
		each(f, f.store.Heads(f.ctx, journal.Filter{}), func(h journal.Head) bool {
			got = append(got, h.Session)
			f.do("append "+h.Session+" 1 2", "")
			f.do("log "+h.Session, "1-2")
			f.names(journal.Filter{Limit: 2})
			return true
		})
		f.equal("number of sessions", len(slices.Compact(got)), 12)
	}},
	{"reading stops when the context ends", func(f *fixture) {
		f.do("append s 0 1-5", "")
		canceled(f, func(ctx context.Context) iter.Seq2[journal.Record, error] { return f.store.Read(ctx, "s", 0) })
	}},
	{"listing stops when the context ends", func(f *fixture) {
		f.prepare()
		canceled(f, func(ctx context.Context) iter.Seq2[journal.Head, error] {
			return f.store.Heads(ctx, journal.Filter{})
		})
	}},
	{"pruning during a read leaves no gap", func(f *fixture) {
		f.do("append s 0 1-900", "")
		last := uint64(0)
		var end error
		for r, err := range f.store.Read(f.ctx, "s", 0) {
			if end = err; err != nil {
				continue
			}
			f.equal("number", r.Seq, last+1)
			if last = r.Seq; last == 2 {
				f.do("delete s 899", "")
			}
		}
		if end == nil {
			f.equal("last number", last, uint64(900))
			return
		}
		refused[*journal.PrunedError](f, "reading on", end)
	}},
	{"many sessions are listed once each, by name, by time or by when they are due", func(f *fixture) {
		var want []string
		for i := range 450 {
			want = append(want, fmt.Sprintf("s-%03d", 449-i))
			f.append(journal.Append{Session: want[i],
				Head: &journal.HeadUpdate{Status: "x", Due: recordTime.Add(time.Duration(i / 300))}})
		}
		slices.Sort(want[:300])
		slices.Sort(want[300:])
		f.equal("due sessions", f.names(journal.Filter{Due: farAhead, NoKind: true, NoParent: true}), want)
		got := f.names(journal.Filter{Newest: true, NoKind: true, NoParent: true})
		f.equal("sessions", len(got), 450)
		slices.Sort(got)
		f.equal("different ones", len(slices.Compact(got)), 450)
		f.equal("sessions by name", f.names(journal.Filter{}), got)
	}},
}

// farAhead is a time that no record can have, and a filter can.
var farAhead = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
