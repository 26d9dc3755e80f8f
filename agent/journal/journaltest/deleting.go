package journaltest

import (
	"errors"
	"math"

	"github.com/pawlkit/pawl/agent/journal"
)

// checkPruned checks that reading after a number yields only an error, which says where reading
// works.
func (f *fixture) checkPruned(session string, after, upTo uint64) {
	f.t.Helper()
	var got []error
	for _, err := range f.store.Read(f.ctx, session, after) {
		got = append(got, err)
	}
	if len(got) != 1 {
		f.t.Fatalf("reading after %d of %d pruned records: %d pairs, want one error", after, upTo, len(got))
	}
	e := refused[*journal.PrunedError](f, "reading what was pruned", got[0])
	f.equal("pruned", *e, journal.PrunedError{Session: session, After: after, UpTo: upTo})
}

var deleteChecks = []check{
	{"pruned records are gone, and reading them says so", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 6), Head: &journal.HeadUpdate{Status: "x"}})
		f.fill("S", 3)
		f.delete("s", 4)
		f.checkPruned("s", 0, 4)
		f.checkPruned("s", 3, 4)
		f.checkLog("s", 4, recs(5, 6)...)
		f.checkLog("s", 5, recs(6, 6)...)
		f.checkLog("s", 6)
		f.checkLog("S", 0, recs(1, 3)...)
		h := f.head("s")
		f.equal("head", h, journal.Head{Session: "s", Status: "x", Seq: 6, Pruned: 4, Created: h.Created,
			Updated: h.Updated})
		f.append(journal.Append{Session: "s", After: 6, Records: recs(7, 7)})
		f.checkLog("s", 4, recs(5, 7)...)
	}},
	{"pruning goes forward only", func(f *fixture) {
		f.fill("s", 5)
		for _, upTo := range []uint64{0, 3, 3, 1, 0} {
			f.delete("s", upTo)
		}
		f.checkPruned("s", 2, 3)
		f.checkLog("s", 3, recs(4, 5)...)
		f.delete("unknown", 3)
		f.delete("unknown", journal.All)
		f.equal("sessions", f.names(journal.Filter{}), []string{"s"})
	}},
	{"numbering goes on after all records are pruned", func(f *fixture) {
		f.fill("s", 3)
		f.delete("s", math.MaxUint64-1)
		h := f.head("s")
		f.equal("last number", h.Seq, uint64(3))
		f.equal("pruned", h.Pruned, uint64(3))
		f.checkPruned("s", 0, 3)
		f.checkLog("s", 3)
		f.refuseAppend("append from the beginning", journal.Append{Session: "s", Records: recs(1, 1)})
		f.append(journal.Append{Session: "s", After: 3, Records: recs(4, 4)})
		f.checkLog("s", 3, rec(4))
	}},
	{"the same append again conflicts once it was pruned", func(f *fixture) {
		a := journal.Append{Session: "s", Records: recs(1, 2)}
		f.append(a)
		f.append(journal.Append{Session: "s", After: 2, Records: recs(3, 3)})
		f.delete("s", 1)
		e := f.refuseAppend("the same append again", a)
		f.equal("stale", e.Stale(), false)
		f.checkLog("s", 1, recs(2, 3)...)
	}},
	{"pruning doesn't change lease and inbox", func(f *fixture) {
		l := f.lease("s", "a", hour)
		f.append(journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 2)})
		f.post("s", item("a"))
		f.delete("s", 2)
		f.checkInbox("s", l.Fence, "a")
		f.append(journal.Append{Session: "s", After: 2, Fence: l.Fence, Records: recs(3, 3)})
	}},
	{"pruning during a read leaves no gap", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 900)})
		last := uint64(0)
		var end error
		for r, err := range f.store.Read(f.ctx, "s", 0) {
			if end = err; err != nil {
				continue
			}
			f.equal("number", r.Seq, last+1)
			if last = r.Seq; last == 2 {
				f.delete("s", 899)
			}
		}
		if end == nil {
			f.equal("last number", last, uint64(900))
			return
		}
		refused[*journal.PrunedError](f, "reading on", end)
	}},
	{"a session deleted whole leaves nothing behind", func(f *fixture) {
		f.fill("S", 1)
		f.append(journal.Append{
			Session: "s", Records: recs(1, 3), Taken: []string{"b"},
			Head: &journal.HeadUpdate{Status: "x", Open: []journal.Open{{ID: "o"}}},
		})
		f.post("s", item("a"))
		f.delete("s", 1)
		f.delete("s", journal.All)
		f.delete("s", journal.All)
		if _, err := f.store.Head(f.ctx, "s"); !errors.Is(err, journal.ErrNoSession) {
			f.t.Fatalf("head: got error %v, want ErrNoSession", err)
		}
		f.checkLog("s", 0)
		f.equal("sessions", f.names(journal.Filter{}), []string{"S"})
		f.equal("items", f.take("s", 0), nil)

		f.append(journal.Append{Session: "s", Records: recs(7, 7)})
		f.checkLog("s", 0, rec(7))
		h := f.head("s")
		f.equal("new head", h, journal.Head{Session: "s", Seq: 1, Created: h.Created, Updated: h.Updated})
		f.post("s", item("b"), item("a"))
		f.checkInbox("s", 0, "b", "a")
	}},
	{"deleting a session stops its writer", func(f *fixture) {
		f.fill("s", 2)
		l := f.lease("t", "a", hour)
		f.append(journal.Append{Session: "t", Fence: l.Fence, Records: recs(1, 1)})
		f.delete("s", journal.All)
		f.delete("t", journal.All)
		f.refuseAppend("append without a lease", journal.Append{Session: "s", After: 2, Records: recs(3, 3)})
		for after := range uint64(2) {
			e := f.refuseAppend("append under a lease",
				journal.Append{Session: "t", After: after, Fence: l.Fence, Records: recs(1, 1)})
			f.equal("conflict", *e, journal.ConflictError{Session: "t", After: after, Fence: l.Fence})
			f.equal("stale", e.Stale(), true)
		}
		_, err := f.store.Renew(f.ctx, l, hour)
		refused[*journal.ConflictError](f, "renewal", err)
		f.release(l)
		f.equal("sessions", f.names(journal.Filter{}), nil)
	}},
	{"a writer can't bring back a session that was deleted", func(f *fixture) {
		l := f.lease("s", "a", hour)
		f.append(journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 1)})
		f.delete("s", journal.All)

		// have is what a conflict says about the session.
		refuseAll := func(when string, have journal.ConflictError) {
			check := func(what string, after uint64, err error) {
				e := refused[*journal.ConflictError](f, what+" "+when, err)
				want := have
				want.Session, want.After, want.Fence = "s", after, l.Fence
				f.equal(what+" "+when, *e, want)
				f.equal("stale", e.Stale(), true)
			}
			for what, a := range map[string]journal.Append{
				"the same append":              {Records: recs(1, 1)},
				"the next append":              {After: 1, Records: recs(2, 2)},
				"an append of a head":          {Head: &journal.HeadUpdate{Status: "x"}},
				"an append of what it took":    {Taken: []string{"i"}},
				"an append after the new ones": {After: have.HaveSeq, Records: recs(9, 9)},
			} {
				a.Session, a.Fence = "s", l.Fence
				check(what, a.After, f.store.Append(f.ctx, a))
			}
			_, err := f.store.Renew(f.ctx, l, hour)
			check("a renewal", have.HaveSeq, err)
			_, err = f.store.Take(f.ctx, "s", l.Fence)
			check("a take", have.HaveSeq, err)
			f.release(l)
		}
		refuseAll("after the deletion", journal.ConflictError{})
		if _, err := f.store.Head(f.ctx, "s"); !errors.Is(err, journal.ErrNoSession) {
			f.t.Fatalf("head: got error %v, want ErrNoSession", err)
		}
		if err := f.store.Post(f.ctx, "s", item("i")); !errors.Is(err, journal.ErrNoSession) {
			f.t.Fatalf("post: got error %v, want ErrNoSession", err)
		}
		f.append(journal.Append{Session: "s", Records: recs(5, 5)})
		refuseAll("of a new session without a lease", journal.ConflictError{HaveSeq: 1})
		newer := f.lease("s", "a", hour)
		refuseAll("of a new session with a lease",
			journal.ConflictError{HaveSeq: 1, HaveFence: newer.Fence, Owner: "a", Until: newer.Until})
		f.checkLog("s", 0, rec(5))
		f.append(journal.Append{Session: "s", After: 1, Fence: newer.Fence, Records: recs(6, 6)})
	}},
}
