package recalltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/pawlkit/pawl/memory/recall"
)

// Run runs the suite on the stores that open returns. A store is empty, holds the limits it is
// given and is closed by the subtest's Cleanup, if it has to be.
func Run(t *testing.T, open func(t *testing.T, limits recall.Limits) recall.Store) {
	t.Helper()
	for _, c := range []struct {
		name   string
		limits recall.Limits
		check  func(f *fixture)
	}{
		{"a list has one kind in the order of its keys", recall.Limits{}, lists},
		{"names alike are apart", recall.Limits{}, apart},
		{"names that no store can keep are refused", recall.Limits{}, oddNames},
		{"a value belongs to its caller", recall.Limits{}, copies},
		{"a context that has ended changes nothing", recall.Limits{}, ended},
		{"a random history agrees with a plain map", bounds, histories},
		{"no update is lost between goroutines", recall.Limits{}, races},
		{"limits hold between goroutines", recall.Limits{Entries: 5}, limitRaces},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.check(&fixture{T: t, ctx: t.Context(), s: open(t, c.limits)})
		})
	}
}

type fixture struct {
	*testing.T
	ctx context.Context
	s   recall.Store
}

func id(tenant, kind, key string) recall.ID { return recall.ID{Tenant: tenant, Kind: kind, Key: key} }

// put keeps a value over a version and returns the new one.
func (f *fixture) put(id recall.ID, version int64, value string) int64 {
	f.Helper()
	got, err := f.s.Put(f.ctx, recall.Entry{ID: id, Version: version, Value: []byte(value)})
	if err != nil {
		f.Fatalf("putting %q over version %d: %v", id, version, err)
	}
	if got <= 0 {
		f.Fatalf("the version is %d; it must be above 0", got)
	}
	return got
}

func (f *fixture) holds(id recall.ID, version int64, value string) {
	f.Helper()
	e, err := f.s.Get(f.ctx, id)
	if err != nil {
		f.Fatalf("getting %q: %v", id, err)
	}
	f.same("entry", [3]any{e.ID, e.Version, string(e.Value)}, [3]any{id, version, value})
}

func (f *fixture) same(what string, got, want any) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		f.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// list returns kinds and keys of a list.
func (f *fixture) list(tenant, kind string) (names []string) {
	f.Helper()
	all, err := f.s.List(f.ctx, tenant, kind)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range all {
		f.same("tenant", e.Tenant, tenant)
		f.holds(e.ID, e.Version, string(e.Value))
		names = append(names, e.Kind+"/"+e.Key)
	}
	return names
}

func lists(f *fixture) {
	f.same("an empty list", f.list("t", "k"), []string(nil))
	for _, key := range []string{"b", "a", "B", "é", "a b", "10", "2"} {
		f.put(id("t", "k", key), 0, key)
		f.put(id("t", "j", key), 0, key)
		f.put(id("u", "k", key+"u"), 0, key)
	}
	k := []string{"k/10", "k/2", "k/B", "k/a", "k/a b", "k/b", "k/é"}
	f.same("a kind", f.list("t", "k"), k)
	var all []string
	for _, name := range k {
		all = append(all, "j"+name[1:])
	}
	f.same("all kinds", f.list("t", ""), append(all, k...))
	f.same("a kind that nobody has", f.list("t", "%"), []string(nil))
	f.same("a tenant that nobody is", f.list("T", ""), []string(nil))
}

// odd are names that a careless store confuses.
var odd = []string{
	"s", "S", "s ", " s", "s.", "s/", "s/1", "s\\1", "..", ".", "/", "../s", "a%b", "a_b", "a%", "%", "_", "*", "a%2Fb",
	"'; --", `"s"`, "s' OR '1'='1",
	"\u00e9", "e\u0301", "straße", "STRASSE", "日本", "🙂", "\u200b", "con", "null", "-", "0", "00", "1e0", "true", "s\n",
	"s\t", ":", "s:1", "$1", "?", "\x01",
}

func apart(f *fixture) {
	names := append(append([]string{}, odd...), strings.Repeat("k", 256))
	vs := make(map[recall.ID]int64)
	for i, name := range names {
		for _, at := range []recall.ID{id(name, "k", "a"), id("t", name, "a"), id("t", "k", name),
			id("t", "k"+name, "a")} {
			if _, ok := vs[at]; ok { // "k" and "a" meet
				continue
			}
			vs[at] = f.put(at, 0, fmt.Sprint(i))
		}
	}
	for at, v := range vs {
		e, err := f.s.Get(f.ctx, at)
		if err != nil || e.ID != at || e.Version != v {
			f.Fatalf("getting %q: %v %v", at, e, err)
		}
	}
	for _, name := range names {
		f.same("what a tenant has", f.list(name, ""), []string{"k/a"})
	}
}

func oddNames(f *fixture) {
	for _, bad := range []string{"", "a\x00b", "\x00", "\xff", strings.Repeat("k", 600)} {
		for _, at := range []recall.ID{id(bad, "k", "a"), id("t", bad, "a"), id("t", "k", bad)} {
			_, err := f.s.Get(f.ctx, at)
			_, err2 := f.s.Put(f.ctx, recall.Entry{ID: at, Value: []byte("x")})
			if err == nil || err2 == nil || f.s.Delete(f.ctx, at, 0) == nil {
				f.Fatalf("%q was taken", at)
			}
		}
		if _, err := f.s.List(f.ctx, bad, "k"); err == nil {
			f.Fatalf("the tenant %q was listed", bad)
		}
	}
	f.same("what is kept", f.list("t", ""), []string(nil))
}

func copies(f *fixture) {
	a := id("t", "k", "a")
	value := []byte("one")
	v, err := f.s.Put(f.ctx, recall.Entry{ID: a, Value: value})
	if err != nil {
		f.Fatal(err)
	}
	value[0] = 'X'
	f.holds(a, v, "one")
	e, err := f.s.Get(f.ctx, a)
	if err != nil {
		f.Fatal(err)
	}
	e.Value[0] = 'X'
	f.holds(a, v, "one")
	list, err := f.s.List(f.ctx, "t", "k")
	if err != nil || len(list) != 1 {
		f.Fatal(list, err)
	}
	list[0].Value[0] = 'X'
	f.holds(a, v, "one")
}

func ended(f *fixture) {
	a := id("t", "k", "a")
	v := f.put(a, 0, "one")
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	if _, err := f.s.Put(ctx, recall.Entry{ID: a, Version: v, Value: []byte("two")}); !errors.Is(err,
		context.Canceled) {
		f.Fatalf("put: %v", err)
	}
	if err := f.s.Delete(ctx, a, v); !errors.Is(err, context.Canceled) {
		f.Fatalf("delete: %v", err)
	}
	if _, err := f.s.Get(ctx, a); !errors.Is(err, context.Canceled) {
		f.Fatalf("get: %v", err)
	}
	if _, err := f.s.List(ctx, "t", "k"); !errors.Is(err, context.Canceled) {
		f.Fatalf("list: %v", err)
	}
	f.holds(a, v, "one")
}

func races(f *fixture) {
	const writers, each = 4, 20
	a := id("t", "k", "counter")
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for n := 0; n < each; {
				e, err := f.s.Get(f.ctx, a)
				if err != nil && !errors.Is(err, recall.ErrNotFound) {
					f.Error(err)
					return
				}
				_, err = f.s.Put(f.ctx, recall.Entry{ID: a, Version: e.Version, Value: append(e.Value, 'x')})
				var c *recall.ConflictError
				switch {
				case err == nil:
					n++
				case !errors.As(err, &c):
					f.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	e, err := f.s.Get(f.ctx, a)
	if err != nil {
		f.Fatal(err)
	}
	f.same("updates", len(e.Value), writers*each)
}

func limitRaces(f *fixture) {
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			_, err := f.s.Put(f.ctx, recall.Entry{ID: id("t", "k", fmt.Sprint(i)), Value: []byte("x")})
			var l *recall.LimitError
			if err != nil && !errors.As(err, &l) {
				f.Error(err)
			}
		})
	}
	wg.Wait()
	f.same("entries", len(f.list("t", "")), 5)
}
