package file

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// goldenLines writes a log of format 1 with every kind of line, as this package did when the format was new.
func goldenLines() []byte {
	at := time.Date(2026, 3, 29, 1, 30, 0, 123456789, time.UTC)
	b := appendLog(nil, "0123456789abcdef", `s "1" \ ü`)
	b = appendState(b, 1, 4, &journal.Head{
		Status: "paused", Open: []journal.Open{{ID: "p-1", Kind: "approval", Title: "Delete?", Expires: at}, {ID: "p-2"}},
		Fence: 2, Owner: "w", Until: at, Updated: at,
	})
	b = appendClosed(b, 2, []string{"old-1", "old-2"})
	b = appendPost(b, 3, &journal.Item{ID: "i-1", Kind: "decision", Time: at, Data: []byte(`{"yes":true}`)})
	b = appendPost(b, 4, &journal.Item{ID: "i-2", Kind: "bytes", Data: []byte("\n")})
	b = appendRelease(b, 5, 2)
	b = appendLease(b, 6, 3, "v", at.UnixNano(), 0)
	b = appendRecord(b, 7, 5, 3, &journal.Record{Time: at, Kind: "reply", V: 2, Data: []byte(`{"text":"a <b> & c","n":[1.0,1e2,null]}`)})
	b = appendRecord(b, 7, 6, 3, &journal.Record{Kind: `k"\`, V: -1, Data: []byte("\xff\xfe")})
	b = appendRecord(b, 7, 7, 3, &journal.Record{Time: at.Add(-1e18), Kind: "empty"})
	b = appendAppend(b, 7, 3, at.UnixNano()+1, &journal.HeadUpdate{Status: "running"}, []string{"i-1", "never"})
	b = appendAppend(b, 8, 0, at.UnixNano()+2, nil, []string{"later"})
	return b
}

func TestALogOfFormat1IsReadAsItWas(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "format-1.log"))
	require.NoError(t, err)
	dir, name := t.TempDir(), `s "1" \ ü`
	require.NoError(t, os.WriteFile(filepath.Join(dir, stem(name)+logExt), golden, 0o600))
	st := openAt(t, dir, Config{})
	at := time.Date(2026, 3, 29, 1, 30, 0, 123456789, time.UTC)

	h, err := st.Head(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, journal.Head{
		Session: name, Status: "running", Seq: 7, Pruned: 4, Inbox: 1, Fence: 3, Owner: "v", Until: at, Updated: at.Add(2),
	}, h)
	require.Equal(t, []journal.Record{
		{Seq: 5, Time: at, Kind: "reply", V: 2, Data: []byte(`{"text":"a <b> & c","n":[1.0,1e2,null]}`)},
		{Seq: 6, Kind: `k"\`, V: -1, Data: []byte("\xff\xfe")},
		{Seq: 7, Time: at.Add(-1e18), Kind: "empty"},
	}, read(t, st, name, 4))
	items, err := st.Take(t.Context(), name, 3)
	require.NoError(t, err)
	require.Equal(t, []journal.Item{{ID: "i-2", Kind: "bytes", Data: []byte("\n")}}, items)
	for id, taken := range map[string]bool{"old-1": true, "old-2": true, "i-1": true, "never": true, "later": true, "i-2": false} {
		var posted *journal.PostedError
		require.ErrorAs(t, st.Post(t.Context(), name, journal.Item{ID: id, Kind: "k"}), &posted)
		require.Equal(t, taken, posted.Taken, id)
	}
}

// A change of what is written is a new format: see to it that the old one is still read.
func TestFormat1IsWrittenAsItWas(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "format-1.log"))
	require.NoError(t, err)
	require.Equal(t, string(golden), string(goldenLines()))
	for line := range bytes.Lines(golden) {
		require.True(t, json.Valid(line), "%s", line)
	}
}

func TestALogOfANewerFormatIsRefusedAndLeftAlone(t *testing.T) {
	newer := finish(append(begin(nil), `"log":2,"what":"nobody knows"`...), 0)
	for _, text := range [][]byte{newer, append(newer, "\x00 no line of ours"...)} {
		dir := dirWith(t, text)
		st := openAt(t, dir, Config{})
		_, headErr := st.Head(t.Context(), "s")
		_, leaseErr := st.Lease(t.Context(), "s", "a", time.Hour)
		_, salvageErr := st.Salvage(t.Context(), "s")
		for _, err := range []error{headErr, leaseErr, salvageErr, st.Append(t.Context(), one("s", 0)), st.Delete(t.Context(), "s", 1)} {
			var newer *FormatError
			require.ErrorAs(t, err, &newer)
			require.Equal(t, FormatError{Session: "s", File: logName, Format: 2, Known: 1}, *newer)
			require.ErrorContains(t, err, "has format 2, formats up to 1 can be read")
		}
		require.Equal(t, text, contentOf(t, dir))
	}
}

func TestDataStandsInALineAsItIsWhereThatIsJSON(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{"a":[1,-0.5e+3,"\u00e9\n",true,false,null]}`: true, `[ ]`: true, ` {"a" : 1}	`: true, `"ü"`: true, `0`: true, `-0`: true,
		"": false, "{\n}": false, "{}\r": false, `{"a"}`: false, `{"a":1,}`: false, `[1,]`: false, `01`: false, `1.`: false, `.5`: false, `1e`: false,
		`nul`: false, `nulll`: false, `{} {}`: false, `"\x"`: false, `"\u12"`: false, `"\u12g4"`: false, `"`: false, `"\`: false, "\"\xff\"": false, "\"\t\"": false,
		`{1:2}`: false, `[`: false, `{`: false, "\uFEFF{}": false, `+1`: false, `-`: false,
	} {
		require.Equal(t, want, isJSONLine([]byte(text)), "%q", text)
	}
	deep := bytes.Repeat([]byte("["), 100_000)
	require.False(t, isJSONLine(deep))
}

// FuzzJSON compares with encoding/json.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+3,"\u00e9\n",true,false,null]}`, "{\n}", `"\ud800"`, "\"\xff\"", `[[[]]]`, `1e5`, `{"a":{"a":1}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// json.Valid takes invalid UTF-8, which other programs don't.
		want := json.Valid(data) && !bytes.ContainsAny(data, "\r\n") && bytes.Equal(data, bytes.ToValidUTF8(data, nil))
		got := isJSONLine(data)
		if got && !want {
			t.Fatalf("%q isn't JSON on one line", data)
		}
		if want && !got && bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) < mostDepth {
			t.Fatalf("%q is JSON on one line", data)
		}
	})
}

// FuzzLine: whatever a line with a good checksum holds, parsing it ends, and what has been understood is written the same again.
func FuzzLine(f *testing.F) {
	for line := range bytes.Lines(goldenLines()) {
		f.Add(line[crcLen : len(line)-2])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text := finish(append(begin(nil), body...), 0)
		text = text[:len(text)-1]
		var l, again line
		if l.parse(text) != nil || l.op == opLog && l.format != format {
			return
		}
		if err := again.parse(bytes.TrimSuffix(rewritten(&l), []byte("\n"))); err != nil {
			if _, bad := l.content(); bad == nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
		one, _ := l.content()
		two, _ := again.content()
		if l.op != again.op || l.n != again.n || l.seq != again.seq || l.fence != again.fence || !bytes.Equal(one, two) {
			t.Fatalf("%q: %+v, then %+v", text, l, again)
		}
	})
}

// rewritten writes a line as it was understood.
func rewritten(l *line) []byte {
	data, _ := l.content()
	switch l.op {
	case opLog:
		return appendLog(nil, string(l.id), string(l.session))
	case opRecord:
		return appendRecord(nil, l.n, l.seq, l.fence, &journal.Record{Time: l.when(), Kind: string(l.kind), V: l.v, Data: data})
	case opAppend:
		return appendAppend(nil, l.n, int(l.records), l.at, l.head, l.ids)
	case opLease:
		return appendLease(nil, l.n, l.fence, string(l.owner), l.until, l.at)
	case opRelease:
		return appendRelease(nil, l.n, l.fence)
	case opPost:
		return appendPost(nil, l.n, &journal.Item{ID: string(l.item), Kind: string(l.kind), Time: l.when(), Data: data})
	case opState:
		h := journal.Head{Fence: l.fence, Owner: string(l.owner), Until: instant(l.until), Updated: instant(l.at)}
		if l.head != nil {
			h.Status, h.Open = l.head.Status, l.head.Open
		}
		return appendState(nil, l.n, l.seq, &h)
	default:
		return appendClosed(nil, l.n, l.ids)
	}
}

// FuzzLog: a file of any content is a log, a repaired one, or an error, and what has been repaired needs no second repair.
func FuzzLog(f *testing.F) {
	golden := bytes.Replace(goldenLines(), appendLog(nil, "0123456789abcdef", `s "1" \ ü`), appendLog(nil, "0123456789abcdef", "s"), 1)
	f.Add(golden)
	f.Add(golden[:len(golden)-30])
	f.Add(append(golden, 0, 0, 0, '\n'))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		disk := newMemDisk(1)
		h, err := disk.Open(logName, true)
		require.NoError(t, err)
		_, err = h.WriteAt(text, 0)
		require.NoError(t, err)
		st := open(disk, Config{})
		if err := st.Delete(t.Context(), "s", 0); err != nil {
			require.True(t, typed(err), "%v", err)
			_, err := st.Salvage(t.Context(), "s")
			require.True(t, err == nil || typed(err), "%v", err)
			return
		}
		again := open(disk, Config{OnRepair: func(r Repair) { t.Fatalf("repaired again: %+v", r) }})
		for _, err := range again.Read(t.Context(), "s", 0) {
			require.True(t, err == nil || typed(err), "%v", err)
		}
	})
}
