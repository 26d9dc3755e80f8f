package journaltest

import (
	"bytes"
	"context"
	"errors"
	"math"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

const hour = time.Hour

// zone is one that no store keeps.
var zone = time.FixedZone("nowhere", 3*3600+25*60)

var readChecks = []check{
	{"an empty store holds nothing", func(f *fixture) {
		f.checkLog("s", 0)
		f.checkLog("s", 7)
		f.equal("sessions", f.names(journal.Filter{}), nil)
		f.equal("items", f.take("s", 0), nil)
		if _, err := f.store.Head(f.ctx, "s"); !errors.Is(err, journal.ErrNoSession) || journal.Unclear(err) {
			f.t.Fatalf("head of an unknown session: got error %v, want ErrNoSession", err)
		}
	}},
	{"reading starts after the number asked for", func(f *fixture) {
		f.fill("s", 6)
		for after := range 7 {
			f.checkLog("s", uint64(after), recs(after+1, 6)...)
		}
		f.checkLog("s", 7)
		f.checkLog("s", math.MaxInt64)
		f.checkLog("s", math.MaxUint64)
	}},
	{"long logs are read completely", func(f *fixture) {
		for after := 0; after < 3000; after += 750 {
			f.append(journal.Append{Session: "s", After: uint64(after), Records: recs(after+1, after+750)})
		}
		f.checkLog("s", 0, recs(1, 3000)...)
		f.checkLog("s", 1499, recs(1500, 3000)...)
	}},
	{"a sequence can be used again", func(f *fixture) {
		f.fill("s", 1)
		seq := f.store.Read(f.ctx, "s", 0)
		for want := 1; want <= 2; want++ {
			got := 0
			for _, err := range seq {
				if err != nil {
					f.t.Fatalf("read: %v", err)
				}
				got++
			}
			f.equal("records", got, want)
			f.append(journal.Append{Session: "s", After: uint64(want), Records: recs(want+1, want+1)})
		}
	}},
	{"breaking out of reading leaves the store usable", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 400)})
		for i := range 50 {
			for r, err := range f.store.Read(f.ctx, "s", uint64(i)) {
				if err != nil {
					f.t.Fatalf("read: %v", err)
				}
				if r.Seq == uint64(i+3) {
					break
				}
			}
		}
		f.append(journal.Append{Session: "s", After: 400, Records: recs(401, 401)})
		f.checkLog("s", 399, recs(400, 401)...)
	}},
	{"the store may be used while it is read", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 3)})
		last := uint64(0)
		for r, err := range f.store.Read(f.ctx, "s", 0) {
			if err != nil {
				f.t.Fatalf("read: %v", err)
			}
			f.equal("number", r.Seq, last+1)
			last = r.Seq
			if r.Seq <= 3 {
				f.append(journal.Append{Session: "s", After: 2 + r.Seq, Records: recs(int(3+r.Seq), int(3+r.Seq))})
				f.checkLog("s", r.Seq, recs(int(r.Seq+1), int(3+r.Seq))...)
				f.head("s")
			}
		}
		if last < 3 {
			f.t.Fatalf("reading stopped at %d of 3", last)
		}
		f.checkLog("s", 0, recs(1, 6)...)
	}},
	{"reading stops when the context ends", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 5)})
		ctx, cancel := context.WithCancel(f.ctx)
		defer cancel()
		var got []uint64
		var end error
		for r, err := range f.store.Read(ctx, "s", 0) {
			if end != nil {
				f.t.Fatalf("record %d, error %v after error %v", r.Seq, err, end)
			}
			if end = err; err != nil {
				continue
			}
			got = append(got, r.Seq)
			if r.Seq == 2 {
				cancel()
			}
		}
		f.equal("numbers read", got, []uint64{1, 2})
		if !errors.Is(end, context.Canceled) {
			f.t.Fatalf("got error %v, want context.Canceled", end)
		}
	}},
}

var contentChecks = []check{
	{"records are returned unchanged", func(f *fixture) {
		want := []journal.Record{
			{Time: recordTime, Kind: "k", V: 0, Data: []byte("x")},
			{Time: recordTime.Add(1), Kind: "Kind with spaces, ünïcode / and \"quotes\"", V: -1, Data: []byte("x")},
			{Kind: "zero time", V: math.MaxInt32, Data: []byte("x")},
			{Time: time.Unix(0, 0), Kind: "1970", V: math.MinInt32, Data: []byte("x")},
			{Time: time.Date(1678, 1, 1, 0, 0, 0, 1, time.UTC), Kind: "early", Data: []byte("x")},
			{Time: time.Date(2262, 1, 1, 0, 0, 0, 999999999, time.UTC), Kind: "late", Data: []byte("x")},
		}
		f.append(journal.Append{Session: "s", Records: want})
		f.checkLog("s", 0, want...)
	}},
	{"times are returned in UTC", func(f *fixture) {
		now := time.Now() // with a monotonic reading
		r := rec(1)
		r.Time = now.In(zone)
		f.append(journal.Append{
			Session: "s", Records: []journal.Record{r},
			Head: &journal.HeadUpdate{Open: []journal.Open{{ID: "o", Expires: now.In(zone)}, {ID: "never"}}},
		})
		it := item("a")
		it.Time = now.In(zone)
		f.post("s", it)
		want := now.Round(0).UTC()
		f.equal("record's time", f.read("s", 0)[0].Time, want)
		f.equal("item's time", f.take("s", 0)[0].Time, want)
		f.equal("open list", f.head("s").Open, []journal.Open{{ID: "o", Expires: want}, {ID: "never"}})
		f.append(journal.Append{Session: "zero", Records: []journal.Record{{Kind: "k"}}})
		f.equal("zero time", f.read("zero", 0)[0].Time, time.Time{})
	}},
	{"data of any bytes are returned unchanged", func(f *fixture) {
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		var want []journal.Record
		for _, data := range [][]byte{
			nil, {}, {0}, []byte("\n"), []byte("\r\n"), all, []byte("\xff\xfe\xc3\x28"), []byte("\uFEFFbom"),
			[]byte("null"), []byte(`{"a":"<&>"}`),
			[]byte("{ \"a\" : 1.0 ,\n\t\"a\" : 1e2 }\n"), []byte(`"\u003c\ud800"`), []byte("{cut"), []byte("\u2028"),
			[]byte("' \" \\ % _ ; --"),
		} {
			r := rec(len(want))
			r.Data = data
			want = append(want, r)
		}
		f.append(journal.Append{Session: "s", Records: want})
		f.append(journal.Append{Session: "s", Records: want})
		f.checkLog("s", 0, want...)
	}},
	{"big data are returned unchanged", func(f *fixture) {
		want := recs(1, 3)
		want[1].Data = bytes.Repeat([]byte("0123456789abcde\n"), 1<<16) // 1 MiB
		f.append(journal.Append{Session: "s", Records: want})
		f.append(journal.Append{Session: "s", Records: want})
		f.checkLog("s", 0, want...)
	}},
	{"the store keeps copies of what it is passed", func(f *fixture) {
		a := journal.Append{Session: "s", Records: recs(1, 2),
			Head: &journal.HeadUpdate{Open: []journal.Open{{ID: "o"}}}}
		it := item("a")
		f.append(a)
		f.post("s", it)
		a.Records[0].Data[0], a.Records[1], a.Head.Open[0].ID, it.Data[0] = 'X', rec(9), "X", 'X'
		f.checkLog("s", 0, recs(1, 2)...)
		f.equal("open list", f.head("s").Open, []journal.Open{{ID: "o"}})
		f.equal("items", f.take("s", 0), []journal.Item{item("a")})
	}},
	{"the caller owns what the store returns", func(f *fixture) {
		f.append(journal.Append{Session: "s", Records: recs(1, 2),
			Head: &journal.HeadUpdate{Open: []journal.Open{{ID: "o"}}}})
		f.post("s", item("a"))
		for range 2 {
			got, h, items := f.read("s", 0), f.head("s"), f.take("s", 0)
			f.equal("first record", string(got[0].Data), "data 1")
			f.equal("open list", h.Open, []journal.Open{{ID: "o"}})
			f.equal("items", items, []journal.Item{item("a")})
			got[0].Data[0], h.Open[0].ID, items[0].Data[0], items[0].ID = 'X', "X", 'X', "X"
			_ = append(got[0].Data, "overwritten"...)
			for h, err := range f.store.Heads(f.ctx, journal.Filter{}) {
				if err != nil {
					f.t.Fatalf("heads: %v", err)
				}
				f.equal("listed open list", h.Open, []journal.Open{{ID: "o"}})
				h.Open[0].ID = "X"
			}
		}
		f.checkLog("s", 0, recs(1, 2)...)
	}},
}
