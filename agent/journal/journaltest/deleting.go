package journaltest

import (
	"errors"
	"math"

	"github.com/pawlkit/pawl/agent/journal"
)

// pruned checks that reading after a number is refused and yields nothing, and names where reading works.
func (f *fixture) pruned(session string, after, upTo uint64) {
	f.t.Helper()
	var got []error
	for _, err := range f.store.Read(f.ctx, session, after) {
		got = append(got, err)
	}
	if len(got) != 1 {
		f.t.Fatalf("reading after %d of %d pruned records: %d pairs, want one error", after, upTo, len(got))
	}
	e := refused[*journal.PrunedError](f, "reading what was pruned", got[0])
	f.same("pruned", *e, journal.PrunedError{Session: session, After: after, UpTo: upTo})
}

var deleteChecks = []check{
	{"pruned records are gone, and reading them says so", func(t tb, s journal.Store) {
		f := on(t, s)
		f.append(journal.Append{Session: "s", Records: recs(1, 6), Head: &journal.HeadUpdate{Status: "x"}})
		f.fill("S", 3)
		f.delete("s", 4)
		f.pruned("s", 0, 4)
		f.pruned("s", 3, 4)
		f.holds("s", 4, recs(5, 6)...)
		f.holds("s", 5, recs(6, 6)...)
		f.holds("s", 6)
		f.holds("S", 0, recs(1, 3)...)
		h := f.head("s")
		f.same("head", h, journal.Head{Session: "s", Status: "x", Seq: 6, Pruned: 4, Updated: h.Updated})
		f.append(journal.Append{Session: "s", After: 6, Records: recs(7, 7)})
		f.holds("s", 4, recs(5, 7)...)
	}},
	{"pruning goes forward only", func(t tb, s journal.Store) {
		f := on(t, s)
		f.fill("s", 5)
		for _, upTo := range []uint64{0, 3, 3, 1, 0} {
			f.delete("s", upTo)
		}
		f.pruned("s", 2, 3)
		f.holds("s", 3, recs(4, 5)...)
		f.delete("unknown", 3)
		f.delete("unknown", journal.All)
		f.same("sessions", f.names(journal.Filter{}), []string{"s"})
	}},
	{"numbering continues after all records are pruned", func(t tb, s journal.Store) {
		f := on(t, s)
		f.fill("s", 3)
		f.delete("s", math.MaxUint64-1)
		h := f.head("s")
		f.same("last number", h.Seq, uint64(3))
		f.same("pruned", h.Pruned, uint64(3))
		f.pruned("s", 0, 3)
		f.holds("s", 3)
		f.conflicts("append from the beginning", journal.Append{Session: "s", Records: recs(1, 1)})
		f.append(journal.Append{Session: "s", After: 3, Records: recs(4, 4)})
		f.holds("s", 3, rec(4))
	}},
	{"the same append again conflicts once it was pruned", func(t tb, s journal.Store) {
		f := on(t, s)
		a := journal.Append{Session: "s", Records: recs(1, 2)}
		f.append(a)
		f.append(journal.Append{Session: "s", After: 2, Records: recs(3, 3)})
		f.delete("s", 1)
		e := f.conflicts("the same append again", a)
		f.same("stale", e.Stale(), false)
		f.holds("s", 1, recs(2, 3)...)
	}},
	{"pruning leaves lease and inbox alone", func(t tb, s journal.Store) {
		f := on(t, s)
		l := f.lease("s", "a", hour)
		f.append(journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 2)})
		f.post("s", item("a"))
		f.delete("s", 2)
		f.inbox("s", l.Fence, "a")
		f.append(journal.Append{Session: "s", After: 2, Fence: l.Fence, Records: recs(3, 3)})
	}},
	{"pruning under a reader leaves no gap", func(t tb, s journal.Store) {
		f := on(t, s)
		f.append(journal.Append{Session: "s", Records: recs(1, 900)})
		last := uint64(0)
		var end error
		for r, err := range s.Read(f.ctx, "s", 0) {
			if end = err; err != nil {
				continue
			}
			f.same("number", r.Seq, last+1)
			if last = r.Seq; last == 2 {
				f.delete("s", 899)
			}
		}
		if end == nil {
			f.same("last number", last, uint64(900))
			return
		}
		refused[*journal.PrunedError](f, "reading on", end)
	}},
	{"a session deleted whole leaves nothing behind", func(t tb, s journal.Store) {
		f := on(t, s)
		f.fill("S", 1)
		f.append(journal.Append{
			Session: "s", Records: recs(1, 3), Taken: []string{"b"}, Head: &journal.HeadUpdate{Status: "x", Open: []journal.Open{{ID: "o"}}},
		})
		f.post("s", item("a"))
		f.delete("s", 1)
		f.delete("s", journal.All)
		f.delete("s", journal.All)
		if _, err := s.Head(f.ctx, "s"); !errors.Is(err, journal.ErrNoSession) {
			t.Fatalf("head: got error %v, want ErrNoSession", err)
		}
		f.holds("s", 0)
		f.same("sessions", f.names(journal.Filter{}), []string{"S"})
		f.same("items", f.take("s", 0), nil)

		f.append(journal.Append{Session: "s", Records: recs(7, 7)})
		f.holds("s", 0, rec(7))
		h := f.head("s")
		f.same("new head", h, journal.Head{Session: "s", Seq: 1, Updated: h.Updated})
		f.post("s", item("b"), item("a"))
		f.inbox("s", 0, "b", "a")
	}},
	{"deleting a session stops its writer", func(t tb, s journal.Store) {
		f := on(t, s)
		f.fill("s", 2)
		l := f.lease("t", "a", hour)
		f.append(journal.Append{Session: "t", Fence: l.Fence, Records: recs(1, 1)})
		f.delete("s", journal.All)
		f.delete("t", journal.All)
		f.conflicts("append without a lease", journal.Append{Session: "s", After: 2, Records: recs(3, 3)})
		for after := range uint64(2) {
			e := f.conflicts("append under a lease", journal.Append{Session: "t", After: after, Fence: l.Fence, Records: recs(1, 1)})
			f.same("conflict", *e, journal.ConflictError{Session: "t", After: after, Fence: l.Fence})
			f.same("stale", e.Stale(), true)
		}
		_, err := s.Renew(f.ctx, l, hour)
		refused[*journal.ConflictError](f, "renewal", err)
		f.release(l)
		f.same("sessions", f.names(journal.Filter{}), nil)
	}},
}
