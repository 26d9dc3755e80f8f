package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/pawlkit/pawl/agent/journal"
)

// followChecks are those of [journal.Changes]: of a [journal.Follower], and of any other store.
var followChecks = []check{
	{"changes come in order, from where they were left", changesInOrder},
	{"records without a change of the head come with the next", changesWithRecords},
	{"what comes after the newest is all that comes", changesFromNow},
	{"pruned records and deleted sessions have no changes", changesGone},
	{"a session of a deleted one's name is another", changesOfNamesake},
	{"many changes come in parts", changesInParts},
	{"what isn't a cursor is refused", changesOfNoCursor},
	{"a sequence follows what is appended meanwhile", changesFollowed},
	{"a context that has ended has no changes", changesEnded},
	{"no change is missed between writers", changesOfWriters},
}

// changed appends n records to a session, and changes its head.
func (f *fixture) changed(session string, after uint64, n int) {
	f.t.Helper()
	f.append(journal.Append{Session: session, After: after, Records: recs(int(after)+1, int(after)+n),
		Head: &journal.HeadUpdate{Status: fmt.Sprint("status ", after+uint64(n))}})
}

// changes returns the changes after a cursor, until there are none, and the cursor after them.
func (f *fixture) changes(cursor string) (all []journal.Change, next string) {
	f.t.Helper()
	for next = cursor; ; {
		list, after, err := journal.Changes(f.ctx, f.store, next)
		if err != nil {
			f.t.Fatalf("changes after %q: %v", next, err)
		}
		if next = after; len(list) == 0 {
			return all, next
		}
		all = append(all, list...)
	}
}

// told checks that changes are of these sessions, with records from after to seq, as in "s 0-3".
// After may be lower.
func (f *fixture) told(got []journal.Change, want ...string) {
	f.t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		var session string
		var after, seq uint64
		if _, err := fmt.Sscanf(want[i], "%s %d-%d", &session, &after, &seq); err != nil {
			f.t.Fatalf("%q: %v", want[i], err)
		}
		ok = got[i].Session == session && got[i].Seq == seq && got[i].After <= after
	}
	if !ok {
		f.t.Fatalf("changes: got %+v, want %q", got, want)
	}
}

func changesInOrder(f *fixture) {
	none, cursor := f.changes("")
	f.told(none)
	f.changed("a", 0, 1)
	f.changed("b", 0, 2)
	f.changed("a", 1, 2)
	all, next := f.changes(cursor)
	if _, follows := f.store.(journal.Follower); follows {
		f.told(all, "a 0-1", "b 0-2", "a 1-3")
	} else {
		f.told(all, "b 0-2", "a 0-3") // it lists what there is
	}
	for i := range all { // as after a crash, when change i was handled
		rest, _ := f.changes(all[i].Cursor)
		f.equal("number of changes that are left", len(rest), len(all)-1-i)
		for k, c := range rest {
			f.equal("session", c.Session, all[i+1+k].Session)
			f.equal("last record", c.Seq, all[i+1+k].Seq)
		}
	}
	none, _ = f.changes(next)
	f.told(none)
	again, _ := f.changes("")
	f.equal("number of changes from the beginning", len(again), len(all))
}

func changesWithRecords(f *fixture) {
	lease, err := f.store.Lease(f.ctx, "s", "a", journal.MaxTTL)
	if err != nil {
		f.t.Fatalf("lease: %v", err)
	}
	_, cursor := f.changes("")
	for n := uint64(0); n < 3; n++ {
		f.append(journal.Append{Session: "s", After: n, Fence: lease.Fence, Records: []journal.Record{rec(int(n))}})
	}
	f.append(journal.Append{Session: "s", After: 3, Fence: lease.Fence, Records: recs(4, 5),
		Head: &journal.HeadUpdate{Status: "paused", Open: []journal.Open{{ID: "p"}}}})
	f.append(journal.Append{Session: "s", After: 5, Fence: lease.Fence, Records: recs(6, 6),
		Head: &journal.HeadUpdate{Status: "paused"}})
	if err := f.store.Release(f.ctx, lease); err != nil {
		f.t.Fatalf("release: %v", err)
	}
	all, _ := f.changes(cursor)
	f.covers(all, "s", 0, 6)
}

// covers checks that changes have all records of a session after a number, up to another.
func (f *fixture) covers(all []journal.Change, session string, after, upTo uint64) {
	f.t.Helper()
	for _, c := range all {
		if c.Session == session && c.After <= after {
			after = max(after, c.Seq)
		}
	}
	if after < upTo {
		f.t.Fatalf("record %d of %q was missed: %+v", after+1, session, all)
	}
}

func changesFromNow(f *fixture) {
	f.changed("a", 0, 3)
	none, cursor := f.changes(journal.Newest)
	f.told(none)
	none, _ = f.changes(cursor)
	f.told(none)
	f.changed("b", 0, 1)
	f.changed("a", 3, 1)
	all, _ := f.changes(cursor)
	f.told(all, "b 0-1", "a 3-4")
}

func changesGone(f *fixture) {
	f.changed("a", 0, 2)
	f.changed("a", 2, 2)
	f.changed("b", 0, 2)
	f.changed("c", 0, 2)
	for session, upTo := range map[string]uint64{"a": 2, "b": journal.All, "c": 2} {
		if err := f.store.Delete(f.ctx, session, upTo); err != nil {
			f.t.Fatalf("delete: %v", err)
		}
	}
	all, cursor := f.changes("")
	f.told(all, "a 2-4")
	f.equal("first record", all[0].After, uint64(2))
	f.changed("c", 2, 1)
	all, _ = f.changes(cursor)
	f.told(all, "c 2-3")
	f.equal("first record", all[0].After, uint64(2))
}

func changesOfNamesake(f *fixture) {
	f.changed("a", 0, 5)
	_, cursor := f.changes("")
	if err := f.store.Delete(f.ctx, "a", journal.All); err != nil {
		f.t.Fatalf("delete: %v", err)
	}
	f.changed("a", 0, 3)
	all, _ := f.changes(cursor)
	f.told(all, "a 0-3")
}

func changesInParts(f *fixture) {
	const sessions = 450
	for i := range sessions {
		f.changed(fmt.Sprintf("s-%03d", i), 0, 1)
	}
	all, cursor := f.changes("")
	f.equal("number of changes", len(all), sessions)
	for i, c := range all {
		f.equal("session", c.Session, fmt.Sprintf("s-%03d", i))
	}
	rest, _ := f.changes(all[300].Cursor)
	f.equal("number of changes that are left", len(rest), sessions-301)
	none, _ := f.changes(cursor)
	f.told(none)
}

func changesOfNoCursor(f *fixture) {
	f.changed("a", 0, 1)
	_, cursor := f.changes("")
	for _, bad := range []string{"x", "newest ", "0", "-1", cursor + "x", "x" + cursor, "' OR 1=1"} {
		_, _, err := journal.Changes(f.ctx, f.store, bad)
		refused[*journal.InvalidError](f, "the cursor "+bad, err)
	}
}

func changesFollowed(f *fixture) {
	f.changed("a", 0, 1)
	n := uint64(1)
	each(f, journal.Follow(f.ctx, f.store, ""), func(c journal.Change) bool {
		f.told([]journal.Change{c}, fmt.Sprintf("a %d-%d", n-1, n))
		f.changed("a", n, 1)
		n++
		return n < 5
	})
}

func changesEnded(f *fixture) {
	f.changed("a", 0, 1)
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	if _, _, err := journal.Changes(ctx, f.store, ""); !errors.Is(err, context.Canceled) {
		f.t.Fatalf("changes: got error %v, want context.Canceled", err)
	}
	n := 0
	for _, err := range journal.Follow(ctx, f.store, "") {
		if n++; !errors.Is(err, context.Canceled) {
			f.t.Fatalf("follow: got error %v, want context.Canceled", err)
		}
	}
	f.equal("number of elements", n, 1)
}

// changesOfWriters follows several writers, whose appends end in another order than they begin.
func changesOfWriters(f *fixture) {
	const writers, each = 4, 40
	var writing atomic.Int64
	writing.Store(writers)
	seen := make(map[string]uint64)
	f.together(writers+1, func(i int) error {
		if i < writers {
			defer writing.Add(-1)
			for n := range uint64(each) {
				a := journal.Append{Session: fmt.Sprint("s-", i, "-", n%3), After: n / 3,
					Records: []journal.Record{rec(int(n))}, Head: &journal.HeadUpdate{Status: fmt.Sprint(n)}}
				if err := f.store.Append(f.ctx, a); err != nil {
					return err
				}
			}
			return nil
		}
		cursor := ""
		for last := false; ; {
			changes, next, err := journal.Changes(f.ctx, f.store, cursor)
			if err != nil {
				return err
			}
			for _, c := range changes {
				if c.After > seen[c.Session] {
					return fmt.Errorf("record %d of %q was missed", seen[c.Session]+1, c.Session)
				}
				seen[c.Session] = max(seen[c.Session], c.Seq)
				next = c.Cursor // as if each were stored, and read again
			}
			if cursor = next; last && len(changes) == 0 {
				return nil
			}
			last = writing.Load() == 0
		}
	})
	for i := range writers {
		for n := range uint64(3) {
			session := fmt.Sprint("s-", i, "-", n)
			f.equal("last record of "+session, seen[session], f.head(session).Seq)
		}
	}
}
