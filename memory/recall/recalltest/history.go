package recalltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/pawlkit/pawl/memory/recall"
)

// over wants a LimitError and returns what the limit is of.
func (f *fixture) over(e recall.Entry) string {
	f.Helper()
	_, err := f.s.Put(f.ctx, e)
	var l *recall.LimitError
	if !errors.As(err, &l) {
		f.Fatalf("got %v, not a LimitError", err)
	}
	return l.What
}

// limits wants 3 entries, 100 bytes, 50 of one.
func limits(f *fixture) {
	entry := func(key string, size int) recall.Entry {
		return recall.Entry{ID: id("t", "k", key), Value: make([]byte, size-2)}
	}
	f.same("too long", f.over(entry("a", 51)), "bytes of an entry")
	a := f.put(id("t", "k", "a"), 0, strings.Repeat("x", 48))
	f.put(id("t", "k", "b"), 0, strings.Repeat("x", 47))
	f.same("too much", f.over(entry("c", 3)), "bytes")
	b := id("t", "k", "b")
	f.put(b, mustVersion(f, b), strings.Repeat("x", 48)) // up to the limit
	a = f.put(id("t", "k", "a"), a, "")
	f.put(id("t", "k", "c"), 0, "x")
	f.same("too many", f.over(entry("d", 3)), "entries")
	f.put(id("u", "k", "d"), 0, "x") // another tenant has its own
	if err := f.s.Delete(f.ctx, id("t", "k", "a"), a); err != nil {
		f.Fatal(err)
	}
	f.put(id("t", "k", "d"), 0, "x")
	f.same("what is kept", f.list("t", ""), []string{"k/b", "k/c", "k/d"})
}

func mustVersion(f *fixture, at recall.ID) int64 {
	f.Helper()
	e, err := f.s.Get(f.ctx, at)
	if err != nil {
		f.Fatal(err)
	}
	return e.Version
}

// history does what comes by chance to the store and to a map, and compares answers and states. Its
// limits are those of the suite's table.
func history(f *fixture) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, seed))
	bounds := recall.Limits{Entries: 12, Bytes: 300, EntryBytes: 60}
	model := make(map[recall.ID]recall.Entry)
	use := func(tenant string) (u recall.Use) {
		for _, e := range model {
			if e.Tenant == tenant {
				u.Entries++
				u.Bytes += e.Size()
			}
		}
		return u
	}
	outcomes := make(map[string]int)
	for step := range 600 {
		at := id([]string{"t", "u"}[r.IntN(2)], []string{"k", "j"}[r.IntN(2)], fmt.Sprint(r.IntN(10)))
		old, found := model[at]
		version := old.Version
		if r.IntN(5) == 0 {
			version = r.Int64N(200)
		}
		if r.IntN(4) == 0 {
			err := f.s.Delete(f.ctx, at, version)
			var c *recall.ConflictError
			want := "deleted"
			switch {
			case !found:
				want = "nothing to delete"
				f.same("not found", errors.Is(err, recall.ErrNotFound), true)
			case version != 0 && version != old.Version:
				want = "not deleted"
				f.same("conflict", errors.As(err, &c), true)
			default:
				f.same("deleting", err, nil)
				delete(model, at)
			}
			outcomes[want]++
			continue
		}
		e := recall.Entry{ID: at, Version: version, Value: fmt.Append(nil, step, strings.Repeat("x", r.IntN(70)))}
		v, err := f.s.Put(f.ctx, e)
		had := int64(-1)
		if found {
			had = old.Size()
		}
		_, over := bounds.After(use(at.Tenant), &e, had)
		var c *recall.ConflictError
		var l *recall.LimitError
		switch {
		case version != old.Version:
			outcomes["conflict"]++
			f.same("conflict", errors.As(err, &c), true)
		case over != nil:
			outcomes["limit"]++
			f.same("limit", errors.As(err, &l), true)
		default:
			outcomes["kept"]++
			f.same("keeping", err, nil)
			e.Version = v
			model[at] = e
		}
		if step%20 == 0 {
			f.agrees(model)
		}
	}
	f.agrees(model)
	for _, want := range []string{"deleted", "nothing to delete", "not deleted", "conflict", "limit", "kept"} {
		if outcomes[want] == 0 {
			f.Fatalf("the history had no %q: %v", want, outcomes)
		}
	}
}

// agrees compares all that the store keeps of two tenants with the map.
func (f *fixture) agrees(model map[recall.ID]recall.Entry) {
	f.Helper()
	n := 0
	for _, tenant := range []string{"t", "u"} {
		list, err := f.s.List(f.ctx, tenant, "")
		if err != nil {
			f.Fatal(err)
		}
		n += len(list)
		for _, e := range list {
			want := model[e.ID]
			f.same("entry", [2]any{e.Version, string(e.Value)}, [2]any{want.Version, string(want.Value)})
		}
	}
	f.same("entries", n, len(model))
}
