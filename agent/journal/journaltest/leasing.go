package journaltest

import (
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// short is how long a lease lasts that a check waits for.
const short = 20 * time.Millisecond

var leaseChecks = []check{
	{"a lease gives a fence that appends", func(f *fixture) {
		l := f.lease("s", "a", hour)
		if l.Fence == 0 {
			f.t.Fatalf("the fence is 0")
		}
		f.equal("lease", l, journal.Lease{Session: "s", Owner: "a", Fence: l.Fence, Until: l.Until})
		f.append(journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 2)})
		f.append(journal.Append{Session: "s", Fence: l.Fence, After: 2, Records: recs(3, 3)})
		f.checkLog("s", 0, recs(1, 3)...)
		h := f.head("s")
		f.equal("owner", h.Owner, "a")
		f.equal("fence", h.Fence, l.Fence)
		f.equal("until", h.Until, l.Until)
	}},
	{"a leased session takes no append without its fence", func(f *fixture) {
		f.fill("s", 1)
		l := f.lease("s", "a", hour)
		for _, fence := range []uint64{0, l.Fence - 1, l.Fence + 1, l.Fence + 1000} {
			e := f.refuseAppend("append with a wrong fence",
				journal.Append{Session: "s", After: 1, Fence: fence, Records: recs(2, 2)})
			f.equal("conflict", *e, journal.ConflictError{
				Session: "s", After: 1, HaveSeq: 1, Fence: fence, HaveFence: l.Fence, Owner: "a", Until: l.Until,
			})
			f.refuseAppend("head with a wrong fence",
				journal.Append{Session: "s", After: 1, Fence: fence, Head: &journal.HeadUpdate{Status: "x"}})
		}
		f.checkLog("s", 0, rec(1))
		f.equal("status", f.head("s").Status, "")
	}},
	{"a lease excludes other owners until it ends", func(f *fixture) {
		l := f.lease("s", "a", hour)
		_, err := f.store.Lease(f.ctx, "s", "b", hour)
		e := refused[*journal.HeldError](f, "lease of another owner", err)
		f.equal("held", *e, journal.HeldError{Session: "s", Owner: "a", Until: l.Until})
		f.append(journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 1)})
	}},
	{"leases of different sessions are independent", func(f *fixture) {
		a, b := f.lease("s", "a", hour), f.lease("S", "b", hour)
		f.append(journal.Append{Session: "s", Fence: a.Fence, Records: recs(1, 1)})
		f.append(journal.Append{Session: "S", Fence: b.Fence, Records: recs(1, 1)})
		f.release(a)
		f.append(journal.Append{Session: "S", After: 1, Fence: b.Fence, Records: recs(2, 2)})
		f.fill("other", 1)
	}},
	{"an owner that leases again gets a new fence", func(f *fixture) {
		first := f.lease("s", "a", hour)
		second := f.lease("s", "a", hour)
		if second.Fence <= first.Fence {
			f.t.Fatalf("second fence %d isn't above the first, %d", second.Fence, first.Fence)
		}
		e := f.refuseAppend("append with the first fence",
			journal.Append{Session: "s", Fence: first.Fence, Records: recs(1, 1)})
		f.equal("stale", e.Stale(), true)
		f.append(journal.Append{Session: "s", Fence: second.Fence, Records: recs(1, 1)})
	}},
	{"renewing keeps the fence and moves the end", func(f *fixture) {
		l := f.lease("s", "a", hour)
		longer, err := f.store.Renew(f.ctx, l, 2*hour)
		if err != nil {
			f.t.Fatalf("renew: %v", err)
		}
		if !longer.Until.After(l.Until) {
			f.t.Fatalf("until moved from %v to %v", l.Until, longer.Until)
		}
		f.equal("lease", longer, journal.Lease{Session: "s", Owner: "a", Fence: l.Fence, Until: longer.Until})
		f.equal("until in the head", f.head("s").Until, longer.Until)
		shorter, err := f.store.Renew(f.ctx, l, hour/2) // the older value of the lease does as well
		if err != nil {
			f.t.Fatalf("renew: %v", err)
		}
		if !shorter.Until.Before(l.Until) {
			f.t.Fatalf("until moved from %v to %v", longer.Until, shorter.Until)
		}
		f.append(journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 1)})
	}},
	{"a lease that was taken over or released can't be renewed", func(f *fixture) {
		first := f.lease("s", "a", hour)
		f.release(first)
		_, err := f.store.Renew(f.ctx, first, hour)
		e := refused[*journal.ConflictError](f, "renewal after the release", err)
		f.equal("stale", e.Stale(), true)
		second := f.lease("s", "b", hour)
		_, err = f.store.Renew(f.ctx, first, hour)
		e = refused[*journal.ConflictError](f, "renewal after another has taken it", err)
		f.equal("conflict", *e, journal.ConflictError{
			Session: "s", Fence: first.Fence, HaveFence: second.Fence, Owner: "b", Until: second.Until,
		})
		_, err = f.store.Renew(f.ctx, journal.Lease{Session: "unknown", Owner: "a", Fence: second.Fence}, hour)
		refused[*journal.ConflictError](f, "renewal of an unknown session's", err)
		f.equal("sessions", f.names(journal.Filter{}), []string{"s"})
	}},
	{"a released lease is free at once, and can't append", func(f *fixture) {
		first := f.lease("s", "a", hour)
		f.append(journal.Append{Session: "s", Fence: first.Fence, Records: recs(1, 1)})
		f.release(first)
		f.release(first)
		h := f.head("s")
		f.equal("owner", h.Owner, "")
		f.equal("until", h.Until, time.Time{})
		for _, fence := range []uint64{first.Fence, 0} {
			e := f.refuseAppend("append after the release",
				journal.Append{Session: "s", After: 1, Fence: fence, Records: recs(2, 2)})
			f.equal("stale", e.Stale(), true)
		}
		second := f.lease("s", "b", hour)
		if second.Fence <= first.Fence {
			f.t.Fatalf("second fence %d isn't above the first, %d", second.Fence, first.Fence)
		}
		f.append(journal.Append{Session: "s", After: 1, Fence: second.Fence, Records: recs(2, 2)})
	}},
	{"releasing a lost lease leaves the new one alone", func(f *fixture) {
		first := f.lease("s", "a", hour)
		second := f.lease("s", "a", hour)
		f.release(first)
		f.release(journal.Lease{Session: "s", Owner: "a"})
		f.release(journal.Lease{Session: "unknown", Owner: "a", Fence: first.Fence})
		f.equal("owner", f.head("s").Owner, "a")
		f.append(journal.Append{Session: "s", Fence: second.Fence, Records: recs(1, 1)})
		f.equal("sessions", f.names(journal.Filter{}), []string{"s"})
	}},
	{"a lease that has ended passes to another owner", func(f *fixture) {
		first := f.lease("s", "a", short)
		f.append(journal.Append{Session: "s", Fence: first.Fence, Records: recs(1, 1)})
		second := f.leaseOnceFree("s", "b")
		if second.Fence <= first.Fence {
			f.t.Fatalf("second fence %d isn't above the first, %d", second.Fence, first.Fence)
		}
		e := f.refuseAppend("append of the first",
			journal.Append{Session: "s", After: 1, Fence: first.Fence, Records: recs(2, 2)})
		f.equal("owner in the conflict", e.Owner, "b")
		_, err := f.store.Renew(f.ctx, first, hour)
		refused[*journal.ConflictError](f, "renewal by the first", err)
		_, err = f.store.Take(f.ctx, "s", first.Fence)
		refused[*journal.ConflictError](f, "take by the first", err)
		f.append(journal.Append{Session: "s", After: 1, Fence: second.Fence, Records: recs(2, 2)})
		f.checkLog("s", 0, recs(1, 2)...)
	}},
	{"a lease that has ended can write while nobody takes it", func(f *fixture) {
		l := f.lease("s", "a", time.Millisecond)
		f.wait(l.Until)
		f.append(journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 1)})
		f.equal("items", f.take("s", l.Fence), nil)
		again, err := f.store.Renew(f.ctx, l, hour)
		if err != nil {
			f.t.Fatalf("renew: %v", err)
		}
		f.equal("fence", again.Fence, l.Fence)
		_, err = f.store.Lease(f.ctx, "s", "b", hour)
		refused[*journal.HeldError](f, "lease of another after the renewal", err)
	}},
	{"fences always rise, even if the session is deleted", func(f *fixture) {
		last := uint64(0)
		for range 5 {
			l := f.lease("s", "a", hour)
			if l.Fence <= last {
				f.t.Fatalf("fence %d isn't above %d, given out before", l.Fence, last)
			}
			last = l.Fence
			f.append(journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 1)})
			f.delete("s", journal.All)
		}
	}},
}
