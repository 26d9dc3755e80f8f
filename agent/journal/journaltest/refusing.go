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

// tooLate is a time that no store keeps.
var tooLate = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)

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
	{"requests that aren't valid are refused, and change nothing", func(f *fixture) {
		f.do("fill s 1", "")
		f.do("lease s a", "f1")
		l, before := f.leases[0], f.head("s")
		for _, name := range []string{"", "a\x00b", "a\xffb", strings.Repeat("n", journal.MaxName+1)} {
			for method, err := range f.errorsOf(f.ctx, name, journal.Lease{}) {
				refused[*journal.InvalidError](f, fmt.Sprintf("%s with the session name %.9q", method, name), err)
			}
		}
		for what, a := range map[string]journal.Append{
			"nothing":           {},
			"a bad kind":        {Records: []journal.Record{rec(2), {Kind: "a\x00b"}}},
			"a time too late":   {Records: []journal.Record{rec(2), {Kind: "k", Time: tooLate}}},
			"too much data":     {Records: []journal.Record{{Kind: "k", Data: make([]byte, journal.MaxRecord+1)}}},
			"a bad id taken":    {Taken: []string{"a", "a\x00b"}},
			"a bad head":        {Head: &journal.HeadUpdate{Status: "a\x00b"}},
			"too long a title":  {Head: &journal.HeadUpdate{Title: strings.Repeat("n", journal.MaxTitle+1)}},
			"an open too late":  {Head: &journal.HeadUpdate{Open: []journal.Open{{ID: "a", Expires: tooLate}}}},
			"the largest fence": {Fence: math.MaxUint64, Records: recs(2, 2)},
		} {
			if a.Session, a.After = "s", 1; a.Fence == 0 {
				a.Fence = l.Fence
			}
			refused[*journal.InvalidError](f, "append with "+what, f.store.Append(f.ctx, a))
		}
		for what, it := range map[string]journal.Item{
			"has a bad id":        {ID: "a\x00b", Kind: "k"},
			"is too late":         {ID: "a", Kind: "k", Time: tooLate},
			"is too big":          {ID: "a", Kind: "k", Data: make([]byte, journal.MaxRecord+1)},
			"closes an id twice":  closing("a", "b", "c", "b"),
			"closes its own id":   closing("a", "b", "a"),
			"closes too many ids": closing("a", slices.Repeat([]string{"b"}, journal.MaxCloses+1)...),
		} {
			refused[*journal.InvalidError](f, "item that "+what, f.store.Post(f.ctx, "s", it))
		}
		for _, ttl := range []time.Duration{0, -1, journal.MaxTTL + 1} {
			_, err := f.store.Lease(f.ctx, "s", "a", ttl)
			refused[*journal.InvalidError](f, fmt.Sprint("lease for ", ttl), err)
			_, err = f.store.Renew(f.ctx, l, ttl)
			refused[*journal.InvalidError](f, fmt.Sprint("renewal for ", ttl), err)
		}
		_, err := f.store.Lease(f.ctx, "s", "a\x00b", hour)
		refused[*journal.InvalidError](f, "lease with a bad owner", err)
		_, err = f.store.Renew(f.ctx, journal.Lease{Session: "s", Owner: "a"}, hour)
		refused[*journal.InvalidError](f, "renewal of no lease", err)
		for _, other := range []journal.Lease{{Session: "s", Owner: "a"}, {Session: "t", Owner: "a", Fence: l.Fence}} {
			f.equal("releasing what isn't leased", f.store.Release(f.ctx, other), nil)
		}
		f.equal("sessions with a label that none can have",
			f.names(journal.Filter{Label: journal.Label{Key: "a\x00b", Value: "ann"}}), nil)
		f.do("log s", "1")
		f.equal("items", f.take("s", l.Fence), nil)
		f.equal("head", f.head("s"), before)
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
