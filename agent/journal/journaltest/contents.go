package journaltest

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

const hour = time.Hour

// zone is one that no store keeps.
var zone = time.FixedZone("nowhere", 3*3600+25*60)

// unchanged appends records twice, and checks that they are in the log once, as they were.
func (f *fixture) unchanged(want ...journal.Record) {
	f.t.Helper()
	f.append(journal.Append{Session: "s", Records: want})
	f.append(journal.Append{Session: "s", Records: want})
	f.checkLog("s", want...)
}

// similar are names that are different, though not for every file system, database or alphabet.
var similar = []string{
	"s", "S", "s ", " s", "s.", "s-1", "s-10", "s/1", "s\\1", "..", ".", "/", "../s", "a%b", "a_b", "a%2Fb",
	"a*b", "'; --", `"s"`, "\u00e9", "e\u0301", "straße", "STRASSE", "日本", "🙂", "con", "NUL", "s.lock", "s.jsonl",
	"-", "0", "00", "1e0", "true",
}

var contentChecks = []check{
	{"sessions with similar names are separate", func(f *fixture) {
		for i, name := range similar {
			f.append(journal.Append{Session: name, Records: recs(i, i),
				Head: &journal.HeadUpdate{Status: fmt.Sprint(i)}})
		}
		for i, name := range similar {
			f.checkLog(name, rec(i))
			h := f.head(name)
			f.equal("name and status", [2]string{h.Session, h.Status}, [2]string{name, fmt.Sprint(i)})
		}
		f.equal("number of sessions", len(f.names(journal.Filter{})), len(similar))
	}},
	{"records are returned unchanged", func(f *fixture) {
		f.unchanged(
			journal.Record{Time: recordTime, Kind: "k", V: 0, Data: []byte("x")},
			journal.Record{Time: recordTime.Add(1), Kind: "Kind with spaces, ünïcode / and \"quotes\"", V: -1},
			journal.Record{Kind: "zero time", V: math.MaxInt32, Data: []byte("x")},
			journal.Record{Time: time.Unix(0, 0), Kind: "1970", V: math.MinInt32, Data: []byte("x")},
			journal.Record{Time: time.Date(1678, 1, 1, 0, 0, 0, 1, time.UTC), Kind: "early", Data: []byte("x")},
			journal.Record{Time: time.Date(2262, 1, 1, 0, 0, 0, 999999999, time.UTC), Kind: "late"},
		)
	}},
	{"data of any bytes are returned unchanged", func(f *fixture) {
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		var want []journal.Record
		for _, data := range []string{
			"", "\x00", "\n", "\r\n", string(all), "\xff\xfe\xc3\x28", "\uFEFFbom", "null", `{"a":"<&>"}`,
			"{ \"a\" : 1.0 ,\n\t\"a\" : 1e2 }\n", `"\u003c\ud800"`, "{cut", "\u2028", "' \" \\ % _ ; --",
			strings.Repeat("0123456789abcde\n", 1<<16), // 1 MiB
		} {
			r := rec(len(want))
			r.Data = []byte(data)
			want = append(want, r)
		}
		want = append(want, journal.Record{Kind: "no data"})
		f.unchanged(want...)
	}},
	{"times are returned in UTC", func(f *fixture) {
		now := time.Now() // with a monotonic reading
		r, it := rec(1), item("a")
		r.Time, it.Time = now.In(zone), now.In(zone)
		f.append(journal.Append{
			Session: "s", Records: []journal.Record{r, {Kind: "k"}},
			Head: &journal.HeadUpdate{Open: []journal.Open{{ID: "o", Expires: now.In(zone)}, {ID: "never"}}},
		})
		f.post("s", it)
		want := now.Round(0).UTC()
		f.equal("record's time", f.read("s", 0)[0].Time, want)
		f.equal("no time", f.read("s", 0)[1].Time, time.Time{})
		f.equal("item's time", f.take("s", 0)[0].Time, want)
		f.equal("open list", f.head("s").Open, []journal.Open{{ID: "o", Expires: want}, {ID: "never"}})
	}},
	{"items of any bytes are returned unchanged", func(f *fixture) {
		f.do("fill s 1", "")
		want := []journal.Item{
			{ID: "a/b c'%", Kind: "ünïcode", Time: recordTime.Add(1), Data: []byte("\x00\xff\n{")},
			{ID: "A/b c'%", Kind: "k", Time: recordTime, Data: []byte(" { } ")},
			{ID: "a/b c'% ", Kind: "k", Data: make([]byte, 1<<20)},
		}
		f.post("s", want...)
		f.equal("items", f.take("s", 0), want)
		f.post("s", journal.Item{ID: "empty", Kind: "k"})
		f.equal("length of no data", len(f.take("s", 0)[3].Data), 0)
	}},
	{"what a head and an item have of the full length is accepted", func(f *fixture) {
		var ids []string
		for i := range journal.MaxCloses {
			ids = append(ids, fmt.Sprint("q-", i))
		}
		h := journal.HeadUpdate{Kind: strings.Repeat("k", journal.MaxName),
			Title: strings.Repeat("ü", journal.MaxTitle/2), Labels: map[string]string{},
			Info: bytes.Repeat([]byte{7}, journal.MaxInfo)}
		for i := range journal.MaxLabels {
			key := fmt.Sprintf("%02d", i)
			key += strings.Repeat("k", journal.MaxLabelKey-len(key))
			h.Labels[key] = strings.Repeat("ü", journal.MaxLabelValue/2)
		}
		f.append(journal.Append{Session: "s", Records: recs(1, 1), Head: &h})
		f.do("lease s a", "f1")
		f.do("append s 1 2-3 fence=f1", "")
		f.do("release f1", "")
		f.post("s", closing("a", ids...))
		f.do("delete s 2", "")
		got := f.head("s")
		f.equal("head", got, journal.Head{Session: "s", Kind: h.Kind, Title: h.Title, Labels: h.Labels, Info: h.Info,
			Seq: 3, Pruned: 2, Inbox: 1, Fence: got.Fence, Created: got.Created, Updated: got.Updated})
		last := ids[len(ids)-1]
		f.do("post s "+last, "taken "+last)
	}},
}
