package journaltest

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
)

// family is what the checks of parents look at: names, and the parents of these.
var family = []struct{ name, parent string }{
	{"p", ""}, {"p/1", "p"}, {"p/2", "p"}, {"p/2/1", "p/2"}, {"plan", "p"}, {"q", ""}, {"q/1", "q"}, {"r", "nobody"},
	{"s", "P"}, {"t", "p%"},
}

var parentChecks = []check{
	{"sessions are found by their parent, or because they have none", func(f *fixture) {
		for _, e := range family {
			h := &journal.HeadUpdate{Parent: e.parent, Status: "done"}
			if e.name == "plan" {
				h.Kind = "plan"
			}
			f.append(journal.Append{Session: e.name, Records: recs(1, 1), Head: h})
		}
		f.fill("z", 1) // without a head
		for _, c := range []struct {
			filter journal.Filter
			want   []string
		}{
			{journal.Filter{Parent: "p"}, []string{"p/1", "p/2", "plan"}},
			{journal.Filter{Parent: "p", NoKind: true}, []string{"p/1", "p/2"}},
			{journal.Filter{Parent: "p", After: "p/1", Limit: 1}, []string{"p/2"}},
			{journal.Filter{Parent: "p", NoParent: true}, nil},
			{journal.Filter{Parent: "p/2"}, []string{"p/2/1"}},
			{journal.Filter{Parent: "nobody"}, []string{"r"}},
			{journal.Filter{Parent: "P"}, []string{"s"}},
			{journal.Filter{Parent: "p\x00"}, nil},
			{journal.Filter{NoParent: true}, []string{"p", "q", "z"}},
			{journal.Filter{NoParent: true, Status: "done", Prefix: "q"}, []string{"q"}},
		} {
			f.equal(fmt.Sprintf("sessions for %+v", c.filter), f.names(c.filter), c.want)
		}
	}},
	{"the parent follows changes", func(f *fixture) {
		set := func(after int, parent string) {
			f.append(journal.Append{Session: "s", After: uint64(after), Records: recs(after+1, after+1),
				Head: &journal.HeadUpdate{Parent: parent}})
		}
		set(0, "p")
		f.equal("children of p", f.names(journal.Filter{Parent: "p"}), []string{"s"})
		set(1, "q")
		f.equal("children of p afterwards", f.names(journal.Filter{Parent: "p"}), nil)
		f.equal("children of q", f.names(journal.Filter{Parent: "q"}), []string{"s"})
		f.append(journal.Append{Session: "s", After: 2, Records: recs(3, 3)})
		f.equal("children of q after an append without a head", f.names(journal.Filter{Parent: "q"}), []string{"s"})
		f.release(f.lease("s", "a", hour))
		f.post("s", item("a"))
		f.equal("children of q after a lease and a post", f.names(journal.Filter{Parent: "q"}), []string{"s"})
		f.delete("s", journal.All)
		f.equal("children of q after deleting", f.names(journal.Filter{Parent: "q"}), nil)
		f.fill("s", 1)
		f.equal("children of q after another session of the name", f.names(journal.Filter{Parent: "q"}), nil)
		f.equal("sessions without a parent", f.names(journal.Filter{NoParent: true}), []string{"s"})
	}},
}
