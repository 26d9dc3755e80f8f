package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// goldenLines returns a log with every kind of line.
func goldenLines(t testing.TB, session string) []byte {
	at := time.Date(2026, 3, 29, 1, 30, 0, 123456789, time.UTC)
	first := &change{Format: format, ID: "ABCDEFGHIJKLMNOPQRSTUVWXYZ", Session: session, State: &snapshot{
		Head: journal.Head{
			Session: session, Status: "paused", Seq: 4, Pruned: 4, Inbox: 1, Fence: 2, Owner: "w", Until: at,
			Updated: at,
			Open:    []journal.Open{{ID: "p-1", Kind: "approval", Title: "Delete <it>?", Expires: at}, {ID: "p-2"}},
		},
		Taken: []string{"old-1", "old-2"},
		Inbox: []*item{newItem(&journal.Item{ID: "i-0", Kind: "decision", Time: at, Data: []byte(`{"yes":true}`)})},
	}}
	changes := []*change{
		first,
		{Post: newItem(&journal.Item{ID: "i-1", Kind: "decision", Time: at, Data: []byte(`"<yes>"`),
			Closes: []string{"q-1", "q-2"}})},
		{Post: newItem(&journal.Item{ID: "i-2", Kind: "bytes", Data: []byte("\n")})},
		{Release: true},
		{Lease: &lease{Fence: 3, Owner: "v", Until: at}},
		{Append: &appended{
			After: 4, Fence: 3, Head: &journal.HeadUpdate{Status: "running"}, Taken: []string{"i-0", "i-1", "never"},
			Records: []record{
				newRecord(&journal.Record{Time: at, Kind: "reply", V: 2,
					Data: []byte(`{"text":"a <b> & c","n":[1.0,1e2,null]}`)}),
				newRecord(&journal.Record{Kind: `k"\`, V: -1, Data: []byte("\xff\xfe")}),
				newRecord(&journal.Record{Time: at.Add(-1e18), Kind: "empty"}),
			},
		}},
		{Append: &appended{After: 7, Fence: 3, Taken: []string{"later"}}},
	}
	var b []byte
	for i, c := range changes {
		c.N, c.At = uint64(i+1), at.Add(time.Duration(i))
		b = append(b, encoded(t, c)...)
	}
	return b
}

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	line, err := encodeLine(v)
	require.NoError(t, err)
	return line
}

func TestTheGoldenLogIsRead(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "format-2.log"))
	require.NoError(t, err)
	dir, name := t.TempDir(), `s "1" \ ü`
	require.NoError(t, os.WriteFile(filepath.Join(dir, baseName(name)+logExt), golden, 0o600))
	st := openAt(t, dir, Config{})
	at := time.Date(2026, 3, 29, 1, 30, 0, 123456789, time.UTC)

	h, err := st.Head(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, journal.Head{
		Session: name, Status: "running", Seq: 7, Pruned: 4, Inbox: 1, Fence: 3, Owner: "v", Until: at,
		Updated: at.Add(6),
	}, h)
	require.Equal(t, []journal.Record{
		{Seq: 5, Time: at, Kind: "reply", V: 2, Data: []byte(`{"text":"a <b> & c","n":[1.0,1e2,null]}`)},
		{Seq: 6, Kind: `k"\`, V: -1, Data: []byte("\xff\xfe")},
		{Seq: 7, Time: at.Add(-1e18), Kind: "empty"},
	}, read(t, st, name, 4))
	items, err := st.Take(t.Context(), name, 3)
	require.NoError(t, err)
	require.Equal(t, []journal.Item{{ID: "i-2", Kind: "bytes", Data: []byte("\n")}}, items)
	for id, taken := range map[string]bool{
		"old-1": true, "old-2": true, "i-0": true, "i-1": true, "q-1": true, "q-2": true, "never": true, "later": true,
		"i-2": false,
	} {
		var posted *journal.PostedError
		require.ErrorAs(t, st.Post(t.Context(), name, journal.Item{ID: id, Kind: "k"}), &posted)
		require.Equal(t, taken, posted.Taken, id)
	}
}

// Whoever changes what is written has to give it a new format number.
func TestTheGoldenLogIsWrittenTheSame(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "format-2.log"))
	require.NoError(t, err)
	require.Equal(t, string(golden), string(goldenLines(t, `s "1" \ ü`)))
	for line := range bytes.Lines(golden) {
		require.True(t, json.Valid(line), "%s", line)
	}
}

func TestALogOfAnotherFormatIsRefusedAndLeftAlone(t *testing.T) {
	newer := encoded(t, map[string]any{"log": 3, "session": []int{1}, "what": "unknown"})
	older := encoded(t, map[string]any{"log": 1, "id": "0123456789abcdef", "session": "s"})
	for _, c := range []struct {
		text   []byte
		format uint64
	}{{newer, 3}, {append(newer, "\x00 another line"...), 3}, {older, 1}} {
		dir := dirWith(t, c.text)
		st := openAt(t, dir, Config{})
		_, headErr := st.Head(t.Context(), "s")
		_, leaseErr := st.Lease(t.Context(), "s", "a", time.Hour)
		_, salvageErr := st.Salvage(t.Context(), "s")
		for _, err := range []error{headErr, leaseErr, salvageErr, st.Append(t.Context(), one("s", 0)),
			st.Delete(t.Context(), "s", 1)} {
			var other *FormatError
			require.ErrorAs(t, err, &other)
			require.Equal(t, FormatError{Session: "s", File: logName, Format: c.format, Known: 2}, *other)
			require.ErrorContains(t, err, fmt.Sprintf("has format %d, this version reads format 2", c.format))
		}
		require.Equal(t, c.text, contentOf(t, dir))
	}
}

func TestDataIsWrittenAsItIsIfItIsCompactJSON(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{"a":[1,-0.5e+3,"\u00e9\n",true,false,null]}`: true, `[]`: true, `"ü"`: true, `0`: true,
		`-0`: true, `null`: true,
		`"<&>"`: true, "\"\u2028\"": true, `"\ud800"`: true, `{"crc":"00000000","n":1}`: true,
		"": false, "{\n}": false, "{} ": false, `{"a":1,}`: false, `01`: false, `nul`: false, `{} {}`: false,
		`"`: false, "\"\xff\"": false,
		`[ ]`: false, "\uFEFF{}": false, strings.Repeat("[", 100_000): false,
		strings.Repeat("[", 9990) + strings.Repeat("]", 9990): false, strings.Repeat("[", 8999) +
			strings.Repeat("]", 8999): true,
	} {
		c := newContent([]byte(text))
		require.Equal(t, want, len(c.JSON) > 0, "%.50q", text)
		var back record
		require.NoError(t, decodeLine(encoded(t, record{content: c}), &back), "%.50q", text)
		require.Equal(t, text, string(back.bytes()))
	}
}

// FuzzContent: any data comes back as it was, in a line that is one line of JSON.
func FuzzContent(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+3,"\u00e9\n",true,false,null]}`, "{\n}", `"\ud800"`, "\"\xff\"",
		`[[[]]]`, `1e5`, `{"a":{"a":1}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		line := encoded(t,
			&change{N: 1, Append: &appended{Records: []record{newRecord(&journal.Record{Kind: "k", Data: data})}}})
		require.True(t, utf8.Valid(line))
		require.True(t, json.Valid(line))
		require.Equal(t, len(line)-1, bytes.IndexByte(line, '\n'))
		require.True(t, intact(line))
		var back change
		require.NoError(t, decodeLine(line, &back))
		require.Equal(t, string(data), string(back.Append.Records[0].bytes()))
	})
}

// FuzzLine: a line with a good checksum is read or refused, and what was read is written the same
// again.
func FuzzLine(f *testing.F) {
	for line := range bytes.Lines(goldenLines(f, "s")) {
		f.Add(line[crcLen : len(line)-2])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		line := slices.Concat([]byte(crcOpen+checksum(slices.Concat(body, []byte("}")))+crcClose), body, []byte("}\n"))
		require.True(t, intact(line))
		var c, again change
		if decodeLine(line, &c) != nil {
			return
		}
		text, err := encodeLine(&c)
		if err != nil {
			return // a time that JSON can't hold
		}
		require.NoError(t, decodeLine(text, &again))
		require.Equal(t, string(text), string(encoded(t, &again)))
	})
}

// FuzzLog: a file of any content is a log, a repaired one, or an error, and what was repaired needs
// no second repair.
func FuzzLog(f *testing.F) {
	golden := goldenLines(f, "s")
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
