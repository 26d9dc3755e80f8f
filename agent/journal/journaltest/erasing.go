package journaltest

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// eraseChecks are those of a [journal.Eraser].
var eraseChecks = []check{
	{"the data of records and items are replaced, and nothing else", rewriteData},
	{"all or nothing is replaced", rewriteNothing},
	{"only the writer replaces", rewriteFenced},
	{"what replaces is copied", rewriteCopies},
	{"an invalid rewrite is refused", rewriteInvalid},
	{"a context that has ended rewrites nothing", rewriteEnded},
	{"a store without allowances drops none", dropNone},
}

func (f *fixture) eraser() journal.Eraser { return f.store.(journal.Eraser) }

// rewritable makes a session of 4 records, the first of which is pruned, with two items.
func (f *fixture) rewritable() journal.Lease {
	f.t.Helper()
	l, err := f.store.Lease(f.ctx, "s", "w", time.Hour)
	if err != nil {
		f.t.Fatalf("lease: %v", err)
	}
	f.append(journal.Append{Session: "s", Fence: l.Fence, Records: recs(1, 4)})
	f.append(journal.Append{Session: "other", Records: recs(1, 4)})
	for _, id := range []string{"a", "b", "c"} {
		f.post("s", item(id))
	}
	f.append(journal.Append{Session: "s", After: 4, Fence: l.Fence, Taken: []string{"c"}})
	if err := f.store.Delete(f.ctx, "s", 1); err != nil {
		f.t.Fatalf("delete: %v", err)
	}
	return l
}

// stored returns what the session has.
func (f *fixture) stored() (records []journal.Record, items []journal.Item, head journal.Head) {
	f.t.Helper()
	for r, err := range f.store.Read(f.ctx, "s", 1) {
		if err != nil {
			f.t.Fatalf("read: %v", err)
		}
		records = append(records, r)
	}
	items, err := f.eraser().Inbox(f.ctx, "s")
	if err != nil {
		f.t.Fatalf("inbox: %v", err)
	}
	if head, err = f.store.Head(f.ctx, "s"); err != nil {
		f.t.Fatalf("head: %v", err)
	}
	return records, items, head
}

func (f *fixture) rewrite(r journal.Rewrite) {
	f.t.Helper()
	if err := f.eraser().Rewrite(f.ctx, r); err != nil {
		f.t.Fatalf("rewrite: %v", err)
	}
}

// same checks that the session has what it had.
func (f *fixture) same(records []journal.Record, items []journal.Item, head journal.Head) {
	f.t.Helper()
	nowRecords, nowItems, nowHead := f.stored()
	if !slices.EqualFunc(records, nowRecords, journal.Record.Equal) || !reflect.DeepEqual(items, nowItems) ||
		!reflect.DeepEqual(head, nowHead) {
		f.t.Fatalf("got %+v, %+v, %+v, want %+v, %+v, %+v", nowRecords, nowItems, nowHead, records, items, head)
	}
}

func rewriteData(f *fixture) {
	l := f.rewritable()
	records, items, head := f.stored()
	f.equal("records", len(records), 3)
	f.equal("items", len(items), 2)
	f.rewrite(journal.Rewrite{Session: "s", Fence: l.Fence,
		Records: []journal.Record{{Seq: 2, Data: []byte("new"), Kind: "ignored"}, {Seq: 4}},
		Items:   []journal.Item{{ID: "b", Data: []byte("newer")}}})
	records[0].Data, records[2].Data = []byte("new"), nil
	items[1].Data = []byte("newer")
	f.same(records, items, head)
	f.checkLog("other", recs(1, 4)...)
	taken, err := f.store.Take(f.ctx, "s", l.Fence)
	if err != nil || !reflect.DeepEqual(taken, items) {
		f.t.Fatalf("take: got %+v, %v, want %+v", taken, err, items)
	}
	f.rewrite(journal.Rewrite{Session: "s", Fence: l.Fence})
	f.append(journal.Append{Session: "s", After: 4, Fence: l.Fence, Records: recs(5, 5)})
	none, err := f.eraser().Inbox(f.ctx, "unknown")
	if err != nil || len(none) > 0 {
		f.t.Fatalf("the inbox of an unknown session: got %v, %v", none, err)
	}
}

func rewriteNothing(f *fixture) {
	l := f.rewritable()
	records, items, head := f.stored()
	first := journal.Record{Seq: 2, Data: []byte("new")}
	for name, r := range map[string]journal.Rewrite{
		"a pruned record":    {Records: []journal.Record{first, {Seq: 1}}},
		"no record":          {Records: []journal.Record{first, {Seq: 5}}},
		"an item taken":      {Records: []journal.Record{first}, Items: []journal.Item{{ID: "c"}}},
		"an item of no post": {Records: []journal.Record{first}, Items: []journal.Item{{ID: "d"}}},
	} {
		r.Session, r.Fence = "s", l.Fence
		var invalid *journal.InvalidError
		if err := f.eraser().Rewrite(f.ctx, r); !errors.As(err, &invalid) {
			f.t.Fatalf("%s: got %v, want an *InvalidError", name, err)
		}
		f.same(records, items, head)
	}
}

func rewriteFenced(f *fixture) {
	l := f.rewritable()
	records, items, _ := f.stored()
	refused := func(session string, fence uint64) {
		f.t.Helper()
		var conflict *journal.ConflictError
		err := f.eraser().Rewrite(f.ctx, journal.Rewrite{Session: session, Fence: fence,
			Records: []journal.Record{{Seq: 2, Data: []byte("new")}}})
		if !errors.As(err, &conflict) {
			f.t.Fatalf("rewrite of %q with fence %d: got %v, want a *ConflictError", session, fence, err)
		}
	}
	refused("s", 0)
	refused("s", l.Fence+1)
	refused("unknown", l.Fence)
	if err := f.store.Release(f.ctx, l); err != nil {
		f.t.Fatalf("release: %v", err)
	}
	refused("s", l.Fence)
	_, _, head := f.stored()
	f.same(records, items, head)
}

func rewriteCopies(f *fixture) {
	l := f.rewritable()
	data, newer := []byte("new"), []byte("newer")
	f.rewrite(journal.Rewrite{Session: "s", Fence: l.Fence, Records: []journal.Record{{Seq: 3, Data: data}},
		Items: []journal.Item{{ID: "a", Data: newer}}})
	data[0], newer[0] = 'X', 'X'
	records, items, _ := f.stored()
	f.equal("record", string(records[1].Data), "new")
	f.equal("item", string(items[0].Data), "newer")
	items[0].Data[0] = 'X'
	_, items, _ = f.stored()
	f.equal("item that a caller has changed", string(items[0].Data), "newer")
}

func rewriteInvalid(f *fixture) {
	l, large := f.rewritable(), make([]byte, journal.MaxRecord+1)
	for name, r := range map[string]journal.Rewrite{
		"no session":      {},
		"a huge fence":    {Session: "s", Fence: math.MaxUint64},
		"no number":       {Session: "s", Fence: l.Fence, Records: []journal.Record{{}}},
		"too much data":   {Session: "s", Fence: l.Fence, Records: []journal.Record{{Seq: 2, Data: large}}},
		"too big an item": {Session: "s", Fence: l.Fence, Items: []journal.Item{{ID: "a", Data: large}}},
	} {
		var invalid *journal.InvalidError
		if err := f.eraser().Rewrite(f.ctx, r); !errors.As(err, &invalid) {
			f.t.Fatalf("%s: got %v, want an *InvalidError", name, err)
		}
	}
	var invalid *journal.InvalidError
	if _, err := f.eraser().Inbox(f.ctx, ""); !errors.As(err, &invalid) {
		f.t.Fatalf("the inbox of no session: got %v, want an *InvalidError", err)
	}
}

func rewriteEnded(f *fixture) {
	l := f.rewritable()
	records, items, head := f.stored()
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	if err := f.eraser().Rewrite(ctx, journal.Rewrite{Session: "s", Fence: l.Fence,
		Records: []journal.Record{{Seq: 2}}}); !errors.Is(err, context.Canceled) {
		f.t.Fatalf("rewrite: got %v, want context.Canceled", err)
	}
	if _, err := f.eraser().Inbox(ctx, "s"); !errors.Is(err, context.Canceled) {
		f.t.Fatalf("inbox: got %v, want context.Canceled", err)
	}
	if _, err := f.eraser().DropAllowances(ctx, func(string, string) bool { return true }); !errors.Is(err,
		context.Canceled) {
		f.t.Fatalf("dropping allowances: got %v, want context.Canceled", err)
	}
	f.same(records, items, head)
}

func dropNone(f *fixture) {
	n, err := f.eraser().DropAllowances(f.ctx, func(string, string) bool { return true })
	if n != 0 || err != nil {
		f.t.Fatalf("got %d, %v, want none", n, err)
	}
}
