package journaltest

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

var newestChecks = []check{
	{"sessions are listed from the newest on, in pages", func(f *fixture) {
		names := []string{"e", "b", "d", "a", "c", "f"}
		leases := make(map[string]journal.Lease)
		for i, name := range names {
			h := &journal.HeadUpdate{Labels: map[string]string{"k": fmt.Sprint(i % 2)}}
			if name == "d" {
				h.Parent = "a"
			}
			if i%2 == 0 { // leased ones and others
				leases[name] = f.lease(name, "w", hour)
			}
			f.append(journal.Append{Session: name, Fence: leases[name].Fence, Records: recs(1, 1), Head: h})
			f.pass()
		}
		// without a head; what isn't an append doesn't count
		f.append(journal.Append{Session: "e", After: 1, Fence: leases["e"].Fence, Records: recs(2, 2)})
		f.pass()
		f.append(journal.Append{Session: "b", After: 1, Records: recs(2, 2)})
		f.post("a", item("x"))
		f.release(leases["d"])
		newest := []string{"b", "e", "f", "c", "a", "d"}
		f.equal("newest first", f.names(journal.Filter{Newest: true}), newest)
		for limit := 1; limit <= len(names); limit++ {
			var got []string
			for page := (journal.Filter{Newest: true, Limit: limit}); ; {
				before := len(got)
				for h, err := range f.store.Heads(f.ctx, page) {
					if err != nil {
						f.t.Fatalf("heads: %v", err)
					}
					got, page.Before, page.After = append(got, h.Session), h.Updated, h.Session
				}
				if len(got) == before {
					break
				}
			}
			f.equal(fmt.Sprintf("pages of %d", limit), got, newest)
		}
		f.equal("before one", f.names(journal.Filter{Newest: true, Before: f.head("c").Updated}), []string{"a", "d"})
		f.equal("before a time far ahead", f.names(journal.Filter{Newest: true, Before: farAhead}), newest)
		f.equal("before a time long ago", f.names(journal.Filter{Newest: true, Before: longAgo}), nil)
		f.equal("at the top", f.names(journal.Filter{Newest: true, NoParent: true, NoKind: true, Limit: 5}),
			[]string{"b", "e", "f", "c", "a"})
		f.equal("with a prefix", f.names(journal.Filter{Newest: true, Prefix: "c"}), []string{"c"})
		label := journal.Label{Key: "k", Value: "0"}
		f.equal("with a label", f.names(journal.Filter{Newest: true, Label: label}), []string{"e", "c", "d"})
		f.equal("without it", f.names(journal.Filter{Newest: true, Without: label}), []string{"b", "f", "a"})
		f.equal("without any value of it", f.names(journal.Filter{Without: journal.Label{Key: "k"}}), nil)
		f.equal("without another", len(f.names(journal.Filter{Without: journal.Label{Key: "k", Value: "\x00"}})), 6)
	}},
	{"many sessions of one time are listed once each", func(f *fixture) {
		for i := range 450 {
			f.append(journal.Append{Session: fmt.Sprintf("s-%03d", i), Head: &journal.HeadUpdate{Status: "x"}})
		}
		got := f.names(journal.Filter{Newest: true, NoKind: true, NoParent: true})
		f.equal("sessions", len(got), 450)
		slices.Sort(got)
		f.equal("different ones", len(slices.Compact(got)), 450)
	}},
	{"sessions are found by when they are due", func(f *fixture) {
		at := func(d time.Duration) journal.Open { return journal.Open{ID: fmt.Sprint(d), Expires: recordTime.Add(d)} }
		for name, head := range map[string]journal.HeadUpdate{
			"a": {Open: []journal.Open{{ID: "never"}}}, "b": {Open: []journal.Open{{ID: "never"}, at(2), at(1)}},
			"c": {Open: []journal.Open{at(2)}}, "d": {Open: []journal.Open{at(3), at(-1)}}, "e": {},
			"f": {Due: recordTime.Add(1)}, "g": {Due: recordTime.Add(2), Open: []journal.Open{at(4), at(0)}},
		} {
			l := f.lease(name, "w", hour)
			head.Status = "paused"
			f.append(journal.Append{Session: name, Fence: l.Fence, Records: recs(1, 1), Head: &head})
		}
		due := func(d time.Duration) []string {
			return f.names(journal.Filter{Status: "paused", Due: recordTime.Add(d)})
		}
		f.equal("due at 0", due(0), []string{"d", "g"})
		f.equal("due at 1", due(1), []string{"d", "g", "b", "f"})
		f.equal("due at 2", due(2), []string{"d", "g", "b", "f", "c"})
		f.equal("the first two", f.names(journal.Filter{Due: farAhead, Limit: 2}), []string{"d", "g"})
		f.equal("due far ahead", f.names(journal.Filter{Due: farAhead}), []string{"d", "g", "b", "f", "c"})
		f.equal("due long ago", f.names(journal.Filter{Due: longAgo}), nil)
		f.equal("due, with a prefix", f.names(journal.Filter{Due: farAhead, Prefix: "c"}), []string{"c"})
		f.equal("due, after a name", f.names(journal.Filter{Due: farAhead, After: "c"}), []string{"d", "g", "f"})
		f.equal("when f is due", f.head("f").Due, recordTime.Add(1))
		f.equal("when g is due", f.head("g").Due, recordTime)
		f.equal("when e is due", f.head("e").Due, time.Time{})
		l := f.lease("b", "w", hour)
		f.append(journal.Append{Session: "b", After: 1, Fence: l.Fence, Records: recs(2, 2)})
		f.equal("due after an append without a head", due(1), []string{"d", "g", "b", "f"})
		f.append(journal.Append{Session: "b", After: 2, Fence: l.Fence, Records: recs(3, 3),
			Head: &journal.HeadUpdate{}})
		f.equal("due when nothing is open", due(1), []string{"d", "g", "f"})
	}},
	{"many sessions that are due are listed once each, the earliest first", func(f *fixture) {
		var want []string
		for i := range 450 {
			name := fmt.Sprintf("s-%03d", 449-i)
			at := recordTime.Add(time.Duration(i / 300))
			f.append(journal.Append{Session: name, Head: &journal.HeadUpdate{Status: "x", Due: at}})
			want = append(want, name)
		}
		slices.Sort(want[:300])
		slices.Sort(want[300:])
		f.equal("sessions", f.names(journal.Filter{Due: farAhead, NoKind: true, NoParent: true}), want)
	}},
	{"a session keeps the time when it began", func(f *fixture) {
		f.fill("s", 1)
		created := f.head("s").Created
		f.equal("created", created, f.head("s").Updated)
		f.pass()
		f.append(journal.Append{Session: "s", After: 1, Records: recs(2, 2), Head: &journal.HeadUpdate{Status: "x"}})
		f.release(f.lease("s", "w", hour))
		f.delete("s", 1)
		f.equal("created", f.head("s").Created, created)
	}},
}

// No record can have these times, and a filter can.
var (
	farAhead = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	longAgo  = time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC)
)

// pass waits until appends get another time: stores keep at least microseconds.
func (f *fixture) pass() {
	f.t.Helper()
	f.wait(time.Now())
}
