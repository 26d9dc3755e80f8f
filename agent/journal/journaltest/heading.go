package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
)

var headChecks = []check{
	{"a head shows what the append set", func(f *fixture) {
		open := []journal.Open{
			{ID: "p-1", Kind: "approval", Title: "Delete the page “home”?", What: "Delete page “home”",
				Expires: recordTime},
			{ID: "p-2", Kind: "question", For: "the “lawyer”"},
		}
		labels := map[string]string{"user": "ann", "tenant": "Ünits <&> “Co”"}
		f.append(journal.Append{Session: "s", Records: recs(1, 3), Head: &journal.HeadUpdate{
			Status: "paused", Open: open, Kind: "plan", Title: "The “home” page", Labels: labels,
			Parent: "the “parent”", Info: []byte("\x00\xff{}"),
		}})
		h := f.head("s")
		if h.Updated.IsZero() {
			f.t.Fatalf("the head doesn't say when it was updated")
		}
		f.equal("head", h, journal.Head{Session: "s", Status: "paused", Open: open, Kind: "plan",
			Title: "The “home” page", Labels: labels, Parent: "the “parent”", Info: []byte("\x00\xff{}"),
			Due: recordTime, Seq: 3,
			Created: h.Created, Updated: h.Updated})
		h.Labels["user"] = "bob"
		f.equal("labels", f.head("s").Labels, labels)
	}},
	{"an append without a head leaves it as it is", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 1), Head: &journal.HeadUpdate{
			Status: "x", Open: []journal.Open{{ID: "o"}}, Kind: "k", Title: "t", Labels: map[string]string{"a": "b"},
			Parent: "p", Info: []byte("i"),
		}})
		before := f.head("s")
		f.append(journal.Append{Session: "s", After: 1, Records: recs(2, 2)})
		h := f.head("s")
		if h.Updated.Before(before.Updated) {
			f.t.Fatalf("updated went back from %v to %v", before.Updated, h.Updated)
		}
		before.Seq, before.Updated = 2, h.Updated
		f.equal("head", h, before)
	}},
	{"a head update replaces all that the host sets", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 1), Head: &journal.HeadUpdate{
			Status: "x", Open: []journal.Open{{ID: "o"}, {ID: "p"}}, Kind: "k", Title: "t",
			Labels: map[string]string{"a": "b", "c": "d"}, Parent: "p", Info: []byte("i"),
		}})
		f.append(journal.Append{Session: "s", After: 1, Records: recs(2, 2),
			Head: &journal.HeadUpdate{Status: "y", Open: []journal.Open{{ID: "q"}}, Info: []byte("j")}})
		f.equal("info", string(f.head("s").Info), "j")
		f.equal("open list", f.head("s").Open, []journal.Open{{ID: "q"}})
		f.append(journal.Append{Session: "s", After: 2, Records: recs(3, 3), Head: &journal.HeadUpdate{Info: []byte{}}})
		h := f.head("s")
		f.equal("head", h, journal.Head{Session: "s", Seq: 3, Created: h.Created, Updated: h.Updated})
	}},
	{"a head can change without a record", func(f *fixture) {
		f.append(journal.Append{Session: "s", Head: &journal.HeadUpdate{Status: "new"}})
		f.equal("last number", f.head("s").Seq, uint64(0))
		f.append(journal.Append{Session: "s", Records: recs(1, 1)})
		a := journal.Append{Session: "s", After: 1, Head: &journal.HeadUpdate{Status: "old"}}
		f.append(a)
		f.append(a)
		f.equal("status", f.head("s").Status, "old")
		a.After, a.Head = 0, &journal.HeadUpdate{Status: "wrong"}
		f.refuseAppend("head at the wrong number", a)
		f.equal("status", f.head("s").Status, "old")
		f.checkLog("s", 0, rec(1))
	}},
	{"the host's own part of a head has a bounded size, and a reader's copy is its own", func(f *fixture) {
		info := bytes.Repeat([]byte{7}, journal.MaxInfo)
		f.append(journal.Append{Session: "s", Records: recs(1, 1), Head: &journal.HeadUpdate{Info: info}})
		refused[*journal.InvalidError](f, "append with more",
			f.store.Append(f.ctx, journal.Append{Session: "s", After: 1,
				Head: &journal.HeadUpdate{Info: append(info, 7)}}))
		got := f.head("s").Info
		f.equal("info", got, info)
		got[0], info[1] = 8, 8
		f.equal("info afterwards", f.head("s").Info, bytes.Repeat([]byte{7}, journal.MaxInfo))
		l := f.lease("s", "a", hour)
		f.append(journal.Append{Session: "s", After: 1, Fence: l.Fence, Records: recs(2, 3)})
		f.release(l)
		f.post("s", item("a"))
		f.delete("s", 2)
		f.equal("info after all that doesn't change it", len(f.head("s").Info), journal.MaxInfo)
	}},
	{"a lease alone makes a session", func(f *fixture) {
		l := f.lease("s", "a", hour)
		h := f.head("s")
		if h.Updated.IsZero() {
			f.t.Fatalf("the head doesn't say when the session began")
		}
		f.equal("head", h, journal.Head{Session: "s", Fence: l.Fence, Owner: "a", Until: l.Until,
			Created: h.Created, Updated: h.Updated})
		f.equal("sessions", f.names(journal.Filter{}), []string{"s"})
		f.checkLog("s", 0)
	}},
	{"leases, posts and pruning don't count as updates", func(f *fixture) {
		f.fill("s", 2)
		want := f.head("s").Updated
		l := f.lease("s", "a", hour)
		f.post("s", item("a"))
		f.delete("s", 1)
		f.release(l)
		f.equal("updated", f.head("s").Updated, want)
	}},
}

// list is what the checks of lists look at.
var list = []struct {
	name string
	head journal.HeadUpdate
	lead string // owner
	post int    // items
}{
	{"A", journal.HeadUpdate{Status: "paused"}, "", 0},
	{"a", journal.HeadUpdate{Status: "paused", Open: []journal.Open{{ID: "o"}}}, "", 1},
	{"a%", journal.HeadUpdate{Status: "Paused"}, "", 0},
	{"a-1", journal.HeadUpdate{Status: "done"}, "w1", 0},
	{"a/1", journal.HeadUpdate{Status: "done"}, "w2", 2},
	{"a_1", journal.HeadUpdate{Status: "paused", Open: []journal.Open{{ID: "o"}}}, "w1", 1},
	{"ab", journal.HeadUpdate{}, "W1", 0},
	{"b", journal.HeadUpdate{Status: "paused"}, "w1", 0},
	{"z", journal.HeadUpdate{Status: "paused", Open: []journal.Open{{ID: "o"}, {ID: "p"}}}, "", 0},
	{"é", journal.HeadUpdate{Status: "done"}, "", 0},
	{"日本", journal.HeadUpdate{Status: "done"}, "", 1},
	{"🙂", journal.HeadUpdate{Status: "done"}, "", 0},
}

// prepare makes the sessions of list, in another order.
func (f *fixture) prepare() {
	f.t.Helper()
	for i := range list {
		e := list[(i*5+3)%len(list)]
		var fence uint64
		if e.lead != "" {
			fence = f.lease(e.name, e.lead, hour).Fence
		}
		f.append(journal.Append{Session: e.name, Fence: fence, Records: recs(1, 1), Head: &e.head})
		for n := range e.post {
			f.post(e.name, item(fmt.Sprint(n)))
		}
	}
}

var listChecks = []check{
	{"heads are listed in the order of their names", func(f *fixture) {
		f.prepare()
		var want []string
		for _, e := range list {
			want = append(want, e.name)
		}
		f.equal("sessions", f.names(journal.Filter{}), want)
		for h, err := range f.store.Heads(f.ctx, journal.Filter{}) {
			if err != nil {
				f.t.Fatalf("heads: %v", err)
			}
			f.equal("listed head", h, f.head(h.Session))
		}
	}},
	{"heads are listed by the filter", func(f *fixture) {
		f.prepare()
		for _, c := range []struct {
			filter journal.Filter
			want   []string
		}{
			{journal.Filter{Status: "paused"}, []string{"A", "a", "a_1", "b", "z"}},
			{journal.Filter{Status: "none"}, nil},
			{journal.Filter{Owner: "w1"}, []string{"a-1", "a_1", "b"}},
			{journal.Filter{Open: true}, []string{"a", "a_1", "z"}},
			{journal.Filter{Inbox: true}, []string{"a", "a/1", "a_1", "日本"}},
			{journal.Filter{Prefix: "a"}, []string{"a", "a%", "a-1", "a/1", "a_1", "ab"}},
			{journal.Filter{Prefix: "a%"}, []string{"a%"}},
			{journal.Filter{Prefix: "a_"}, []string{"a_1"}},
			{journal.Filter{Prefix: "日"}, []string{"日本"}},
			{journal.Filter{Prefix: "e"}, nil},
			{journal.Filter{After: "a/"}, []string{"a/1", "a_1", "ab", "b", "z", "é", "日本", "🙂"}},
			{journal.Filter{After: "z"}, []string{"é", "日本", "🙂"}},
			{journal.Filter{Limit: 2}, []string{"A", "a"}},
			{journal.Filter{Limit: -1, After: "日本"}, []string{"🙂"}},
			{journal.Filter{Limit: 100, After: "日本"}, []string{"🙂"}},
			{journal.Filter{Status: "paused", Owner: "w1", Open: true, Inbox: true, Prefix: "a", After: "a", Limit: 1},
				[]string{"a_1"}},
			{journal.Filter{Status: "paused", Prefix: "a", Limit: 2}, []string{"a", "a_1"}},
			{journal.Filter{Open: true, After: "a", Limit: 1}, []string{"a_1"}},
		} {
			f.equal(fmt.Sprintf("sessions for %+v", c.filter), f.names(c.filter), c.want)
		}
	}},
	{"filters follow changes", func(f *fixture) {
		l := f.lease("s", "w", hour)
		f.append(journal.Append{Session: "s", Fence: l.Fence,
			Head: &journal.HeadUpdate{Status: "paused", Open: []journal.Open{{ID: "o"}}}})
		f.post("s", item("a"))
		all := []journal.Filter{{Status: "paused"}, {Owner: "w"}, {Open: true}, {Inbox: true}}
		for _, flt := range all {
			f.equal(fmt.Sprintf("sessions for %+v before", flt), f.names(flt), []string{"s"})
		}
		f.append(journal.Append{Session: "s", Fence: l.Fence, Head: &journal.HeadUpdate{Status: "done"},
			Taken: []string{"a"}})
		f.release(l)
		for _, flt := range all {
			f.equal(fmt.Sprintf("sessions for %+v afterwards", flt), f.names(flt), nil)
		}
	}},
	{"pages show every session once", func(f *fixture) {
		var want, got []string
		for i := range 130 {
			want = append(want, fmt.Sprintf("s-%03d", i))
			f.fill(want[i], 1)
		}
		for flt := (journal.Filter{Limit: 7}); ; flt.After = got[len(got)-1] {
			page := f.names(flt)
			got = append(got, page...)
			if len(page) < flt.Limit {
				break
			}
		}
		f.equal("sessions by pages", got, want)
		f.equal("sessions at once", f.names(journal.Filter{}), want)
	}},
	{"breaking out of a list leaves the store usable", func(f *fixture) {
		f.prepare()
		for range 50 {
			n := 0
			for _, err := range f.store.Heads(f.ctx, journal.Filter{}) {
				if n++; err != nil {
					f.t.Fatalf("heads: %v", err)
				}
				if n == 3 {
					break
				}
			}
		}
		f.fill("new", 1)
		f.equal("number of sessions", len(f.names(journal.Filter{})), len(list)+1)
	}},
	{"the store may be used while it is listed", func(f *fixture) {
		f.prepare()
		var got []string
		for h, err := range f.store.Heads(f.ctx, journal.Filter{}) {
			if err != nil {
				f.t.Fatalf("heads: %v", err)
			}
			got = append(got, h.Session)
			f.append(journal.Append{Session: h.Session, After: 1, Fence: h.Fence, Records: recs(2, 2)})
			f.checkLog(h.Session, 0, recs(1, 2)...)
			f.names(journal.Filter{Limit: 2})
		}
		f.equal("number of sessions", len(slices.Compact(got)), len(list))
	}},
	{"listing stops when the context ends", func(f *fixture) {
		f.prepare()
		ctx, cancel := context.WithCancel(f.ctx)
		defer cancel()
		n := 0
		var end error
		for _, err := range f.store.Heads(ctx, journal.Filter{}) {
			if end != nil {
				f.t.Fatalf("the list goes on after error %v", end)
			}
			if end = err; err == nil {
				n++
			}
			if n == 2 {
				cancel()
			}
		}
		f.equal("heads listed", n, 2)
		if !errors.Is(end, context.Canceled) {
			f.t.Fatalf("got error %v, want context.Canceled", end)
		}
	}},
}
