package journaltest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// badNames are refused wherever a name is asked for.
var badNames = map[string]string{
	"too long":      strings.Repeat("n", journal.MaxName+1),
	"invalid UTF-8": "a\xffb",
	"cut UTF-8":     "a\xe6\x97",
	"a NUL":         "a\x00b",
	"a line break":  "a\nb",
	"a DEL":         "a\x7f",
	"a C1 control":  "a\u0085",
}

var refusalChecks = []check{
	{"names of the full length are accepted", func(f *fixture) {
		long := strings.Repeat("ü/", journal.MaxName/3) // fills up to two bytes of the limit
		long += strings.Repeat("n", journal.MaxName-len(long))
		r := rec(1)
		r.Kind = long
		open := journal.Open{ID: long, Kind: long, Title: long, For: long, Expires: recordTime}
		l := f.lease(long, long, hour)
		f.append(journal.Append{Session: long, Fence: l.Fence, Records: []journal.Record{r}, Head: &journal.HeadUpdate{
			Status: long, Open: []journal.Open{open},
		}})
		it := item(long)
		it.Kind, it.Closes = long, []string{long[:len(long)-1] + "N"}
		f.post(long, it)
		f.checkLog(long, 0, r)
		it.Closes = nil
		f.equal("items", f.take(long, l.Fence), []journal.Item{it})
		h := f.head(long)
		f.equal("owner", h.Owner, long)
		f.equal("status", h.Status, long)
		f.equal("open list", h.Open, []journal.Open{open})
	}},
	{"bad session names are refused everywhere", func(f *fixture) {
		try := func(what, name string) {
			_, headErr := f.store.Head(f.ctx, name)
			_, leaseErr := f.store.Lease(f.ctx, name, "a", hour)
			_, renewErr := f.store.Renew(f.ctx, journal.Lease{Session: name, Owner: "a", Fence: 1}, hour)
			_, takeErr := f.store.Take(f.ctx, name, 0)
			var readErr error
			for _, readErr = range f.store.Read(f.ctx, name, 0) {
			}
			for method, err := range map[string]error{
				"Append": f.store.Append(f.ctx, journal.Append{Session: name, Records: recs(1, 1)}),
				"Read":   readErr, "Head": headErr, "Lease": leaseErr, "Renew": renewErr, "Take": takeErr,
				"Release": f.store.Release(f.ctx, journal.Lease{Session: name, Owner: "a", Fence: 1}),
				"Post":    f.store.Post(f.ctx, name, item("a")),
				"Delete":  f.store.Delete(f.ctx, name, journal.All),
			} {
				refused[*journal.InvalidError](f, method+" with a session name that is "+what, err)
			}
		}
		try("empty", "")
		for what, name := range badNames {
			try(what, name)
		}
	}},
	{"bad appends are refused", func(f *fixture) {
		f.fill("s", 1)
		record := func(change func(*journal.Record)) journal.Append {
			two := recs(2, 3)
			change(&two[1])
			return journal.Append{Session: "s", After: 1, Records: two}
		}
		open := func(list ...journal.Open) journal.Append {
			return journal.Append{Session: "s", After: 1, Head: &journal.HeadUpdate{Open: list}}
		}
		bad := map[string]journal.Append{
			"nothing":        {Session: "s", After: 1},
			"a number below": record(func(r *journal.Record) { r.Seq = 2 }),
			"a number above": record(func(r *journal.Record) { r.Seq = 4 }),
			"no kind":        record(func(r *journal.Record) { r.Kind = "" }),
			"too early a time": record(func(r *journal.Record) {
				r.Time = time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)
			}),
			"too late a time": record(func(r *journal.Record) {
				r.Time = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
			}),
			"too much data":        record(func(r *journal.Record) { r.Data = make([]byte, journal.MaxRecord+1) }),
			"an empty id taken":    {Session: "s", After: 1, Taken: []string{"a", ""}},
			"an open without id":   open(journal.Open{ID: "a"}, journal.Open{Kind: "k"}),
			"an open too late":     open(journal.Open{ID: "a", Expires: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)}),
			"too much open":        open(slices.Repeat([]journal.Open{{ID: "a"}}, journal.MaxOpen+1)...),
			"the largest number":   {Session: "s", After: math.MaxUint64, Records: recs(2, 2)},
			"a number over 63 bit": {Session: "s", After: math.MaxInt64, Records: recs(2, 2)},
			"the largest fence":    {Session: "s", After: 1, Fence: math.MaxUint64, Records: recs(2, 2)},
		}
		for what, name := range badNames {
			bad["a kind that is "+what] = record(func(r *journal.Record) { r.Kind = name })
			bad["an id taken that is "+what] = journal.Append{Session: "s", After: 1, Taken: []string{name}}
			bad["a status that is "+what] = journal.Append{Session: "s", After: 1,
				Head: &journal.HeadUpdate{Status: name}}
			bad["an open's id that is "+what] = open(journal.Open{ID: name})
			bad["an open's kind that is "+what] = open(journal.Open{ID: "a", Kind: name})
			bad["an open's title that is "+what] = open(journal.Open{ID: "a", Title: name})
			bad["an open's words that are "+what] = open(journal.Open{ID: "a", What: name})
			bad["an open's answerer that is "+what] = open(journal.Open{ID: "a", For: name})
		}
		for what, a := range bad {
			refused[*journal.InvalidError](f, "append with "+what, f.store.Append(f.ctx, a))
		}
		f.checkLog("s", 0, rec(1))
	}},
	{"bad leases and items are refused", func(f *fixture) {
		f.fill("s", 1)
		l := f.lease("s", "a", hour)
		for what, ttl := range map[string]time.Duration{"none": 0, "negative": -1, "too long": journal.MaxTTL + 1} {
			_, err := f.store.Lease(f.ctx, "s", "a", ttl)
			refused[*journal.InvalidError](f, "lease with a ttl that is "+what, err)
			_, err = f.store.Renew(f.ctx, l, ttl)
			refused[*journal.InvalidError](f, "renewal with a ttl that is "+what, err)
		}
		_, err := f.store.Renew(f.ctx, journal.Lease{Session: "s", Owner: "a"}, hour)
		refused[*journal.InvalidError](f, "renewal of no lease", err)
		names := map[string]string{"empty": ""}
		for what, name := range badNames {
			names[what] = name
		}
		for what, name := range names {
			_, err := f.store.Lease(f.ctx, "s", name, hour)
			refused[*journal.InvalidError](f, "lease with an owner that is "+what, err)
			it := item("a")
			it.ID = name
			refused[*journal.InvalidError](f, "item with an id that is "+what, f.store.Post(f.ctx, "s", it))
			it = item("a")
			it.Kind = name
			refused[*journal.InvalidError](f, "item with a kind that is "+what, f.store.Post(f.ctx, "s", it))
			refused[*journal.InvalidError](f, "item that closes an id that is "+what,
				f.store.Post(f.ctx, "s", closing("a", "b", name)))
		}
		refused[*journal.InvalidError](f, "item that closes an id twice",
			f.store.Post(f.ctx, "s", closing("a", "b", "c", "b")))
		refused[*journal.InvalidError](f, "item that closes its own id",
			f.store.Post(f.ctx, "s", closing("a", "b", "a")))
		many := closing("a", slices.Repeat([]string{"b"}, journal.MaxCloses+1)...)
		refused[*journal.InvalidError](f, "item that closes too many ids", f.store.Post(f.ctx, "s", many))
		it := item("a")
		it.Time = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
		refused[*journal.InvalidError](f, "item too late", f.store.Post(f.ctx, "s", it))
		it.Time, it.Data = recordTime, make([]byte, journal.MaxRecord+1)
		refused[*journal.InvalidError](f, "item too big", f.store.Post(f.ctx, "s", it))
		f.checkInbox("s", l.Fence)
		f.equal("fence", f.head("s").Fence, l.Fence)
	}},
	{"nothing is done with a context that has ended", func(f *fixture) {
		f.fill("s", 1)
		l := f.lease("s", "a", hour)
		before := f.head("s")
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		_, headErr := f.store.Head(ctx, "s")
		_, leaseErr := f.store.Lease(ctx, "s", "a", hour)
		_, renewErr := f.store.Renew(ctx, l, hour)
		_, takeErr := f.store.Take(ctx, "s", l.Fence)
		var readErr, headsErr error
		for _, readErr = range f.store.Read(ctx, "s", 0) {
		}
		for _, headsErr = range f.store.Heads(ctx, journal.Filter{}) {
		}
		for method, err := range map[string]error{
			"Append": f.store.Append(ctx, journal.Append{Session: "s", After: 1, Fence: l.Fence, Records: recs(2, 2)}),
			"Read":   readErr, "Head": headErr, "Heads": headsErr, "Lease": leaseErr, "Renew": renewErr,
			"Take":    takeErr,
			"Release": f.store.Release(ctx, l),
			"Post":    f.store.Post(ctx, "s", item("a")),
			"Delete":  f.store.Delete(ctx, "s", journal.All),
		} {
			if !errors.Is(err, context.Canceled) || !journal.Unclear(err) {
				f.t.Fatalf("%s with a canceled context: got error %v, want one that wraps context.Canceled", method, err)
			}
		}
		f.checkLog("s", 0, rec(1))
		f.equal("head", f.head("s"), before)
		f.checkInbox("s", l.Fence)
	}},
}
