package journaltest

import (
	"context"
	"errors"
	"fmt"
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

// tooEarly and tooLate are times that no store keeps.
var (
	tooEarly = time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)
	tooLate  = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
)

// errorsOf calls each method for a session that has a record and perhaps a lease, and returns what
// it returns.
func (f *fixture) errorsOf(ctx context.Context, session string, l journal.Lease) map[string]error {
	_, head := f.store.Head(ctx, session)
	_, lease := f.store.Lease(ctx, session, "a", hour)
	_, renewed := f.store.Renew(ctx, journal.Lease{Session: session, Owner: "a", Fence: max(l.Fence, 1)}, hour)
	_, taken := f.store.Take(ctx, session, l.Fence)
	var read error
	for _, read = range f.store.Read(ctx, session, 0) {
	}
	return map[string]error{
		"Head": head, "Lease": lease, "Renew": renewed, "Take": taken, "Read": read,
		"Append":  f.store.Append(ctx, journal.Append{Session: session, After: 1, Fence: l.Fence, Records: recs(2, 2)}),
		"Release": f.store.Release(ctx, journal.Lease{Session: session, Owner: "a", Fence: max(l.Fence, 1)}),
		"Post":    f.store.Post(ctx, session, item("a")),
		"Delete":  f.store.Delete(ctx, session, journal.All),
	}
}

// badHeads are refused in an append.
func badHeads() map[string]journal.HeadUpdate {
	many := map[string]string{}
	for i := range journal.MaxLabels + 1 {
		many[fmt.Sprint(i)] = "v"
	}
	open := func(list ...journal.Open) journal.HeadUpdate { return journal.HeadUpdate{Open: list} }
	label := func(key, value string) journal.HeadUpdate {
		return journal.HeadUpdate{Labels: map[string]string{key: value}}
	}
	bad := map[string]journal.HeadUpdate{
		"a title that is too long": {Title: strings.Repeat("n", journal.MaxTitle+1)},
		"too many labels":          {Labels: many},
		"an empty key":             label("", "v"),
		"an empty value":           label("k", ""),
		"a key that is too long":   label(strings.Repeat("k", journal.MaxLabelKey+1), "v"),
		"a value that is too long": label("k", strings.Repeat("k", journal.MaxLabelValue+1)),
		"a time too late":          {Due: tooLate},
		"too much info":            {Info: make([]byte, journal.MaxInfo+1)},
		"an open without id":       open(journal.Open{ID: "a"}, journal.Open{Kind: "k"}),
		"an open too late":         open(journal.Open{ID: "a", Expires: tooLate}),
		"too much open":            open(slices.Repeat([]journal.Open{{ID: "a"}}, journal.MaxOpen+1)...),
	}
	for what, name := range badNames {
		bad["a status that is "+what] = journal.HeadUpdate{Status: name}
		bad["a parent that is "+what] = journal.HeadUpdate{Parent: name}
		bad["a kind that is "+what] = journal.HeadUpdate{Kind: name}
		bad["a title that is "+what] = journal.HeadUpdate{Title: name}
		bad["a key that is "+what] = label(name, "v")
		bad["a value that is "+what] = label("k", name)
		bad["an open's id that is "+what] = open(journal.Open{ID: name})
		bad["an open's kind that is "+what] = open(journal.Open{ID: "a", Kind: name})
		bad["an open's title that is "+what] = open(journal.Open{ID: "a", Title: name})
		bad["an open's words that are "+what] = open(journal.Open{ID: "a", What: name})
		bad["an open's answerer that is "+what] = open(journal.Open{ID: "a", For: name})
	}
	return bad
}

var refusalChecks = []check{
	{"names of the full length are accepted", func(f *fixture) {
		long := strings.Repeat("ü/", journal.MaxName/3) // fills up to two bytes of the limit
		long += strings.Repeat("n", journal.MaxName-len(long))
		r := rec(1)
		r.Kind = long
		open := journal.Open{ID: long, Kind: long, Title: long, For: long, Expires: recordTime}
		f.do(fmt.Sprintf("lease %s %s", long, long), "f1")
		l := f.leases[0]
		f.append(journal.Append{Session: long, Fence: l.Fence, Records: []journal.Record{r}, Head: &journal.HeadUpdate{
			Status: long, Open: []journal.Open{open},
		}})
		it := item(long)
		it.Kind, it.Closes = long, []string{long[:len(long)-1] + "N"}
		f.post(long, it)
		f.checkLog(long, r)
		it.Closes = nil
		f.equal("items", f.take(long, l.Fence), []journal.Item{it})
		h := f.head(long)
		f.equal("owner and status", [2]string{h.Owner, h.Status}, [2]string{long, long})
		f.equal("open list", h.Open, []journal.Open{open})
	}},
	{"bad session names are refused everywhere, and no session has them", func(f *fixture) {
		names := map[string]string{"empty": ""}
		for what, name := range badNames {
			names[what] = name
			f.equal("sessions with a label that is "+what,
				f.names(journal.Filter{Label: journal.Label{Key: name, Value: "ann"}}), nil)
		}
		for what, name := range names {
			for method, err := range f.errorsOf(f.ctx, name, journal.Lease{}) {
				refused[*journal.InvalidError](f, method+" with a session name that is "+what, err)
			}
		}
	}},
	{"bad appends are refused", func(f *fixture) {
		f.do("fill s 1", "")
		record := func(change func(*journal.Record)) journal.Append {
			two := recs(2, 3)
			change(&two[1])
			return journal.Append{After: 1, Records: two}
		}
		bad := map[string]journal.Append{
			"nothing":              {After: 1},
			"a number below":       record(func(r *journal.Record) { r.Seq = 2 }),
			"a number above":       record(func(r *journal.Record) { r.Seq = 4 }),
			"no kind":              record(func(r *journal.Record) { r.Kind = "" }),
			"too early a time":     record(func(r *journal.Record) { r.Time = tooEarly }),
			"too late a time":      record(func(r *journal.Record) { r.Time = tooLate }),
			"too much data":        record(func(r *journal.Record) { r.Data = make([]byte, journal.MaxRecord+1) }),
			"an empty id taken":    {After: 1, Taken: []string{"a", ""}},
			"the largest number":   {After: math.MaxUint64, Records: recs(2, 2)},
			"a number over 63 bit": {After: math.MaxInt64, Records: recs(2, 2)},
			"the largest fence":    {After: 1, Fence: math.MaxUint64, Records: recs(2, 2)},
		}
		for what, name := range badNames {
			bad["a kind of record that is "+what] = record(func(r *journal.Record) { r.Kind = name })
			bad["an id taken that is "+what] = journal.Append{After: 1, Taken: []string{name}}
		}
		for what, head := range badHeads() {
			bad[what] = journal.Append{After: 1, Head: &head}
		}
		for what, a := range bad {
			a.Session = "s"
			refused[*journal.InvalidError](f, "append with "+what, f.store.Append(f.ctx, a))
		}
		f.do("log s", "1")
	}},
	{"bad leases and items are refused", func(f *fixture) {
		f.do("fill s 1", "")
		f.do("lease s a", "f1")
		l := f.leases[0]
		for _, other := range []journal.Lease{{Session: "s", Owner: "a"}, {Session: "t", Owner: "a", Fence: l.Fence}} {
			f.equal("releasing what isn't leased", f.store.Release(f.ctx, other), nil)
		}
		for what, ttl := range map[string]time.Duration{"none": 0, "negative": -1, "too long": journal.MaxTTL + 1} {
			_, err := f.store.Lease(f.ctx, "s", "a", ttl)
			refused[*journal.InvalidError](f, "lease with a ttl that is "+what, err)
			_, err = f.store.Renew(f.ctx, l, ttl)
			refused[*journal.InvalidError](f, "renewal with a ttl that is "+what, err)
		}
		_, err := f.store.Renew(f.ctx, journal.Lease{Session: "s", Owner: "a"}, hour)
		refused[*journal.InvalidError](f, "renewal of no lease", err)
		bad := map[string]journal.Item{
			"closes an id twice":      closing("a", "b", "c", "b"),
			"closes its own id":       closing("a", "b", "a"),
			"closes too many ids":     closing("a", slices.Repeat([]string{"b"}, journal.MaxCloses+1)...),
			"is too late":             {ID: "a", Kind: "k", Time: tooLate},
			"is too big":              {ID: "a", Kind: "k", Data: make([]byte, journal.MaxRecord+1)},
			"has no id":               {Kind: "k"},
			"has no kind":             {ID: "a"},
			"closes an id of no text": closing("a", "b", ""),
		}
		for what, name := range badNames {
			bad["has an id that is "+what] = journal.Item{ID: name, Kind: "k"}
			bad["has a kind that is "+what] = journal.Item{ID: "a", Kind: name}
			bad["closes an id that is "+what] = closing("a", "b", name)
			_, err := f.store.Lease(f.ctx, "s", name, hour)
			refused[*journal.InvalidError](f, "lease with an owner that is "+what, err)
		}
		_, err = f.store.Lease(f.ctx, "s", "", hour)
		refused[*journal.InvalidError](f, "lease without an owner", err)
		for what, it := range bad {
			refused[*journal.InvalidError](f, "item that "+what, f.store.Post(f.ctx, "s", it))
		}
		f.equal("items", f.take("s", l.Fence), nil)
		h := f.head("s")
		f.equal("lease", journal.Lease{Session: "s", Owner: h.Owner, Fence: h.Fence, Until: h.Until}, l)
	}},
	{"nothing is done with a context that has ended", func(f *fixture) {
		f.do("fill s 1", "")
		f.do("lease s a", "f1")
		l := f.leases[0]
		before := f.head("s")
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		all := f.errorsOf(ctx, "s", l)
		for _, err := range f.store.Heads(ctx, journal.Filter{}) {
			all["Heads"] = err
		}
		f.equal("methods", len(all), 10)
		for method, err := range all {
			if !errors.Is(err, context.Canceled) || !journal.Unclear(err) {
				f.t.Fatalf("%s with a canceled context: got error %v, want one that wraps context.Canceled", method, err)
			}
		}
		f.do("log s", "1")
		f.equal("head", f.head("s"), before)
		f.equal("items", f.take("s", l.Fence), nil)
	}},
}
