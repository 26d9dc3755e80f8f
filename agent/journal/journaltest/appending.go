package journaltest

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
)

var appendChecks = []check{
	{"records are read in the order in which they were appended", func(f *fixture) {
		f.fill("s", 5)
		f.checkLog("s", 0, recs(1, 5)...)
	}},
	{"one append can have many records", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 300)})
		f.append(journal.Append{Session: "s", After: 300, Records: recs(301, 302)})
		f.checkLog("s", 0, recs(1, 302)...)
	}},
	{"records may carry the numbers they will have", func(f *fixture) {
		two := recs(1, 2)
		two[0].Seq, two[1].Seq = 1, 2
		f.append(journal.Append{Session: "s", Records: two})
		f.checkLog("s", 0, recs(1, 2)...)
	}},
	{"the store doesn't change the records that it is passed", func(f *fixture) {
		two := recs(1, 2)
		f.append(journal.Append{Session: "s", Records: two})
		f.equal("records of the caller", two, recs(1, 2))
	}},
	{"the store doesn't keep the slices that it is passed", func(f *fixture) {
		two, taken := recs(1, 2), []string{"a"}
		f.append(journal.Append{Session: "s", Records: two, Taken: taken})
		copy(two, recs(50, 51))
		taken[0] = "b"
		f.checkLog("s", 0, recs(1, 2)...)
		f.post("s", item("b"))
	}},
	{"an append after a number that isn't the last conflicts", func(f *fixture) {
		f.fill("s", 3)
		for _, after := range []uint64{0, 1, 2, 4, 100} {
			e := f.refuseAppend(fmt.Sprintf("append after %d of 3", after),
				journal.Append{Session: "s", After: after, Records: recs(50, 50)})
			f.equal("conflict", *e, journal.ConflictError{Session: "s", After: after, HaveSeq: 3})
			f.equal("stale", e.Stale(), false)
		}
		f.checkLog("s", 0, recs(1, 3)...)
	}},
	{"an append to a new session begins after record 0", func(f *fixture) {
		e := f.refuseAppend("append after 1 of none", journal.Append{Session: "s", After: 1, Records: recs(2, 2)})
		f.equal("last number", e.HaveSeq, uint64(0))
		f.refuseAppend("append with a fence nobody gave", journal.Append{Session: "s", Fence: 1, Records: recs(1, 1)})
		f.equal("sessions", f.names(journal.Filter{}), nil)
	}},
	{"a refused append changes nothing", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 2), Head: &journal.HeadUpdate{Status: "before"}})
		f.post("s", item("a"))
		before := f.head("s")
		a := journal.Append{
			Session: "s", After: 1, Records: recs(3, 5), Taken: []string{"a"},
			Head: &journal.HeadUpdate{Status: "after", Open: []journal.Open{{ID: "o"}}},
		}
		f.refuseAppend("append at the wrong number", a)
		a.After, a.Fence = 2, 7
		f.refuseAppend("append with a wrong fence", a)
		a.Fence, a.Records[2].Kind = 0, ""
		refused[*journal.InvalidError](f, "append with a bad third record", f.store.Append(f.ctx, a))
		f.checkLog("s", 0, recs(1, 2)...)
		f.equal("head", f.head("s"), before)
		f.checkInbox("s", 0, "a")
	}},
	{"sessions with similar names are separate", func(f *fixture) {
		names := []string{
			"s", "S", "s ", " s", "s.", "s-1", "s-10", "s/1", "s\\1", "..", ".", "/", "../s", "a%b", "a_b", "a%2Fb",
			"a*b", "'; --", `"s"`,
			"\u00e9", "e\u0301", "straße", "STRASSE", "日本", "🙂", "con", "NUL", "s.lock", "s.jsonl", "-", "0", "00",
			"1e0", "true",
		}
		for i, name := range names {
			f.append(journal.Append{Session: name, Records: recs(i, i),
				Head: &journal.HeadUpdate{Status: fmt.Sprint(i)}})
		}
		for i, name := range names {
			f.checkLog(name, 0, rec(i))
			h := f.head(name)
			f.equal("name in the head", h.Session, name)
			f.equal("status", h.Status, fmt.Sprint(i))
		}
		f.equal("number of sessions", len(f.names(journal.Filter{})), len(names))
	}},
}

var retryChecks = []check{
	{"the same append again succeeds and adds nothing", func(f *fixture) {
		for _, a := range []journal.Append{
			{Session: "s", Records: recs(1, 1)},
			{Session: "s", After: 1, Records: recs(2, 4)},
		} {
			f.append(a)
			f.append(a)
			f.append(a)
		}
		f.checkLog("s", 0, recs(1, 4)...)
		f.equal("last number", f.head("s").Seq, uint64(4))
	}},
	{"the same append again succeeds when others have followed", func(f *fixture) {
		f.fill("s", 3)
		f.append(journal.Append{Session: "s", After: 1, Records: recs(2, 2)})
		f.checkLog("s", 0, recs(1, 3)...)
	}},
	{"the same append again with its numbers filled in is still the same", func(f *fixture) {
		f.fill("s", 1)
		r := rec(1)
		r.Seq = 1
		f.append(journal.Append{Session: "s", Records: []journal.Record{r}})
		f.checkLog("s", 0, rec(1))
	}},
	{"the same append again is recognized by its instant, not by its time zone", func(f *fixture) {
		r := rec(1)
		r.Time = r.Time.In(zone)
		f.append(journal.Append{Session: "s", Records: []journal.Record{r}})
		f.append(journal.Append{Session: "s", Records: recs(1, 1)})
		f.checkLog("s", 0, rec(1))
	}},
	{"an append that differs in anything is not the same", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 2)})
		for what, change := range map[string]func(*journal.Record){
			"time":    func(r *journal.Record) { r.Time = r.Time.Add(1) },
			"kind":    func(r *journal.Record) { r.Kind = "Kind" },
			"version": func(r *journal.Record) { r.V++ },
			"data":    func(r *journal.Record) { r.Data = append(r.Data, ' ') },
			"no data": func(r *journal.Record) { r.Data = nil },
		} {
			two := recs(1, 2)
			change(&two[1])
			f.refuseAppend("append with another "+what, journal.Append{Session: "s", Records: two})
		}
		f.refuseAppend("append that is longer", journal.Append{Session: "s", Records: recs(1, 3)})
		f.refuseAppend("append in another order",
			journal.Append{Session: "s", Records: []journal.Record{rec(2), rec(1)}})
		f.checkLog("s", 0, recs(1, 2)...)
	}},
	{"the same append again doesn't touch the head", func(f *fixture) {
		a := journal.Append{Session: "s", Records: recs(1, 1), Head: &journal.HeadUpdate{Status: "first"}}
		f.append(a)
		f.append(journal.Append{Session: "s", After: 1, Head: &journal.HeadUpdate{Status: "second"}})
		f.append(a)
		f.equal("status", f.head("s").Status, "second")
	}},
	{"the same records with another fence are another append", func(f *fixture) {
		first := f.lease("s", "a", hour)
		f.append(journal.Append{Session: "s", Fence: first.Fence, Records: recs(1, 1)})
		f.release(first)
		second := f.lease("s", "b", hour)
		f.refuseAppend("what the first has appended, by the second",
			journal.Append{Session: "s", Fence: second.Fence, Records: recs(1, 1)})
		f.checkLog("s", 0, rec(1))
	}},
	{"a stale fence conflicts even if its records are in the log", func(f *fixture) {
		first := f.lease("s", "a", hour)
		a := journal.Append{Session: "s", Fence: first.Fence, Records: recs(1, 1)}
		f.append(a)
		f.append(a)
		f.release(first)
		second := f.lease("s", "b", hour)
		e := f.refuseAppend("the same append again, after the lease has passed on", a)
		f.equal("conflict", *e, journal.ConflictError{
			Session: "s", HaveSeq: 1, Fence: first.Fence, HaveFence: second.Fence, Owner: "b", Until: second.Until,
		})
		f.equal("stale", e.Stale(), true)
		f.checkLog("s", 0, rec(1))
	}},
}
