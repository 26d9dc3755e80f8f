package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

var inboxChecks = []check{
	{"items are taken in the order in which they were posted", func(f *fixture) {
		f.fill("s", 1)
		var want []journal.Item
		for i := range 30 {
			it := item(fmt.Sprintf("i-%d", (i*7)%30)) // neither sorted by id nor by time
			it.Time = recordTime.Add(-time.Duration(i))
			want = append(want, it)
		}
		f.post("s", want...)
		f.equal("items", f.take("s", 0), want)
		f.equal("items that the head counts", f.head("s").Inbox, 30)
	}},
	{"items of any bytes are returned unchanged", func(f *fixture) {
		f.fill("s", 1)
		want := []journal.Item{
			{ID: "a/b c'%", Kind: "ünïcode", Time: recordTime, Data: []byte("\x00\xff\n{")},
			{ID: "A/b c'%", Kind: "k", Data: []byte(" { } ")},
			{ID: "last", Kind: "k", Data: make([]byte, 1<<20)},
		}
		f.post("s", want...)
		f.equal("items", f.take("s", 0), want)
		f.post("s", journal.Item{ID: "empty", Kind: "k"})
		f.equal("length of no data", len(f.take("s", 0)[3].Data), 0)
	}},
	{"taking removes nothing", func(f *fixture) {
		f.fill("s", 1)
		f.post("s", item("a"), item("b"))
		f.checkInbox("s", 0, "a", "b")
		f.checkInbox("s", 0, "a", "b")
	}},
	{"an append removes the items that it took", func(f *fixture) {
		f.fill("s", 1)
		f.post("s", item("a"), item("b"), item("c"))
		f.append(journal.Append{Session: "s", After: 1, Records: recs(2, 2), Taken: []string{"b"}})
		f.checkInbox("s", 0, "a", "c")
		f.post("s", item("d"))
		a := journal.Append{Session: "s", After: 2, Taken: []string{"d", "a"}}
		f.append(a)
		f.append(a) // without records there is no telling, and no harm
		f.checkInbox("s", 0, "c")
		f.checkLog("s", 0, recs(1, 2)...)
	}},
	{"an append that is refused removes nothing", func(f *fixture) {
		first := f.lease("s", "a", hour)
		f.append(journal.Append{Session: "s", Fence: first.Fence, Records: recs(1, 1)})
		second := f.lease("s", "a", hour)
		f.post("s", item("a"))
		f.refuseAppend("append at the wrong number",
			journal.Append{Session: "s", After: 3, Fence: second.Fence, Records: recs(4, 4), Taken: []string{"a"}})
		f.refuseAppend("append with a stale fence",
			journal.Append{Session: "s", After: 1, Fence: first.Fence, Records: recs(2, 2), Taken: []string{"a"}})
		f.refuseAppend("taking with a stale fence",
			journal.Append{Session: "s", After: 1, Fence: first.Fence, Taken: []string{"a"}})
		f.checkInbox("s", second.Fence, "a")
	}},
	{"a quiet append is stored only if nothing is in the inbox", func(f *fixture) {
		l := f.lease("s", "a", hour)
		first := journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 2), Quiet: true}
		f.append(first)
		f.post("s", item("a"))
		f.append(first) // the same again
		quiet := []journal.Append{
			{Session: "s", After: 2, Fence: l.Fence, Records: recs(3, 3), Quiet: true},
			{Session: "s", After: 2, Fence: l.Fence, Records: recs(3, 4), Quiet: true},
			{Session: "s", After: 2, Fence: l.Fence, Records: recs(3, 3), Quiet: true, Taken: []string{"a"}},
			{Session: "s", After: 2, Fence: l.Fence, Records: recs(3, 3), Quiet: true,
				Head: &journal.HeadUpdate{Status: "running"}},
		}
		for _, a := range quiet {
			if err := f.store.Append(f.ctx, a); !errors.Is(err, journal.ErrInbox) || journal.Unclear(err) {
				f.t.Fatalf("got error %v, want ErrInbox", err)
			}
		}
		stale := quiet[0]
		stale.Fence++
		f.refuseAppend("a quiet append with another fence", stale)
		late := quiet[0]
		late.After--
		f.refuseAppend("a quiet append at the wrong number", late)
		f.checkInbox("s", l.Fence, "a")
		f.checkLog("s", 0, recs(1, 2)...)
		f.append(journal.Append{Session: "s", After: 2, Fence: l.Fence, Records: recs(3, 3), Taken: []string{"a"}})
		quiet[1].After, quiet[1].Records = 3, recs(4, 5)
		f.append(quiet[1])
		f.checkLog("s", 0, recs(1, 5)...)
	}},
	{"an id is posted once", func(f *fixture) {
		f.fill("s", 1)
		f.post("s", item("a"))
		other := item("a")
		other.Kind, other.Data = "other", []byte("other")
		for _, it := range []journal.Item{item("a"), other} {
			e := refused[*journal.PostedError](f, "second post", f.store.Post(f.ctx, "s", it))
			f.equal("posted", *e, journal.PostedError{Session: "s", ID: "a"})
		}
		f.equal("items", f.take("s", 0), []journal.Item{item("a")})
		f.post("s", item("A"), item("a "))
		f.checkInbox("s", 0, "a", "A", "a ")
	}},
	{"an id that was taken can't be posted again", func(f *fixture) {
		f.fill("s", 1)
		f.post("s", item("a"))
		f.append(journal.Append{Session: "s", After: 1, Records: recs(2, 2), Taken: []string{"a"}})
		f.delete("s", 2)
		e := refused[*journal.PostedError](f, "post of what was taken", f.store.Post(f.ctx, "s", item("a")))
		f.equal("posted", *e, journal.PostedError{Session: "s", ID: "a", Taken: true})
		f.checkInbox("s", 0)
	}},
	{"an append closes ids that nobody has posted", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 1), Taken: []string{"a", "b", "a"}})
		e := refused[*journal.PostedError](f, "post of what was closed", f.store.Post(f.ctx, "s", item("a")))
		f.equal("taken", e.Taken, true)
		f.checkInbox("s", 0)
	}},
	{"an item closes further ids", func(f *fixture) {
		f.fill("s", 1)
		it := closing("a", "b", "c")
		f.post("s", it)
		f.equal("items", f.take("s", 0), []journal.Item{item("a")}) // Closes isn't returned
		f.refusePost(it, "a", false)
		for _, id := range []string{"b", "c"} {
			f.refusePost(item(id), id, true)
			f.refusePost(closing("d", id), id, true)
		}
		f.append(journal.Append{Session: "s", After: 1, Records: recs(2, 2), Taken: []string{"b"}}) // closed again
		f.checkInbox("s", 0, "a")
		f.append(journal.Append{Session: "s", After: 2, Records: recs(3, 3), Taken: []string{"a", "c"}})
		f.delete("s", 3)
		f.refusePost(it, "a", true)
		f.refusePost(item("b"), "b", true)
		f.refusePost(item("c"), "c", true)
		f.checkInbox("s", 0)

		f.fill("S", 1)
		f.post("S", item("b"), closing("d", "c")) // another session
		f.checkInbox("S", 0, "b", "d")
	}},
	{"an item isn't posted if an id that it closes was used before", func(f *fixture) {
		f.fill("s", 1)
		f.post("s", item("posted"), item("taken"), closing("closing", "closed by an item"))
		f.append(journal.Append{Session: "s", After: 1, Records: recs(2, 2),
			Taken: []string{"taken", "closed by an append"}})
		for used, taken := range map[string]bool{"posted": false, "taken": true, "closed by an item": true,
			"closed by an append": true} {
			f.refusePost(closing("a", "b", used, "c"), used, taken)
			f.refusePost(closing(used, "b", "c"), used, taken)
		}
		f.checkInbox("s", 0, "posted", "closing")
		f.post("s", item("a"), item("b"), item("c")) // a refused post closes nothing
		f.checkInbox("s", 0, "posted", "closing", "a", "b", "c")
	}},
	{"an item may close MaxCloses ids", func(f *fixture) {
		f.fill("s", 1)
		var ids []string
		for i := range journal.MaxCloses {
			ids = append(ids, fmt.Sprint("q-", i))
		}
		f.post("s", closing("a", ids...))
		f.refusePost(item(ids[len(ids)-1]), ids[len(ids)-1], true)
		f.checkInbox("s", 0, "a")
	}},
	{"ids of different sessions are independent", func(f *fixture) {
		f.fill("s", 1)
		f.fill("S", 1)
		f.post("s", item("a"))
		f.post("S", item("a"))
		f.append(journal.Append{Session: "s", After: 1, Taken: []string{"a", "b"}})
		f.post("S", item("b"))
		f.checkInbox("s", 0)
		f.checkInbox("S", 0, "a", "b")
	}},
	{"nothing is posted to an unknown session", func(f *fixture) {
		if err := f.store.Post(f.ctx, "s", item("a")); !errors.Is(err, journal.ErrNoSession) || journal.Unclear(err) {
			f.t.Fatalf("got error %v, want ErrNoSession", err)
		}
		f.equal("sessions", f.names(journal.Filter{}), nil)
		f.equal("items", f.take("s", 0), nil)
		_, err := f.store.Take(f.ctx, "s", 3)
		refused[*journal.ConflictError](f, "take from an unknown session with a fence", err)
	}},
	{"posting needs no lease, taking does", func(f *fixture) {
		l := f.lease("s", "a", hour)
		f.post("s", item("a"))
		for _, fence := range []uint64{0, l.Fence + 1} {
			_, err := f.store.Take(f.ctx, "s", fence)
			e := refused[*journal.ConflictError](f, "take with a wrong fence", err)
			f.equal("conflict", *e,
				journal.ConflictError{Session: "s", Fence: fence, HaveFence: l.Fence, Owner: "a", Until: l.Until})
		}
		f.checkInbox("s", l.Fence, "a")
		f.release(l)
		f.post("s", item("b"))
		_, err := f.store.Take(f.ctx, "s", l.Fence)
		refused[*journal.ConflictError](f, "take after the release", err)
		f.checkInbox("s", f.lease("s", "b", hour).Fence, "a", "b")
	}},
}
