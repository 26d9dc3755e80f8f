package durable

import (
	"database/sql"
	"encoding/json"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver of the bare statement

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// BenchmarkDurableAppend encodes and appends the result of a call to a leased session in SQLite
// that survives a power failure, and in turn inserts a row of the same size with a bare statement,
// with the same settings. The metric "share" is how many times as long the append takes.
func BenchmarkDurableAppend(b *testing.B) {
	store, err := sqlite.Open(filepath.Join(b.TempDir(), "runs.db"), sqlite.Config{Durability: sqlite.Power})
	require.NoError(b, err)
	defer store.Close()
	lease, err := store.Lease(b.Context(), "s", "one", time.Hour)
	require.NoError(b, err)
	settings := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"}}
	bare, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?"+settings.Encode())
	require.NoError(b, err)
	defer bare.Close()
	bare.SetMaxOpenConns(1)
	_, err = bare.ExecContext(b.Context(),
		"CREATE TABLE records (session TEXT, seq INTEGER, time INTEGER, kind TEXT, v INTEGER, data BLOB, PRIMARY KEY "+
			"(session, seq)) WITHOUT ROWID")
	require.NoError(b, err)
	insert, err := bare.PrepareContext(b.Context(), "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)")
	require.NoError(b, err)
	defer insert.Close()

	call := &provider.ToolCall{ID: "r-1.1.0", Name: "add", Input: json.RawMessage(`{"n":7}`)}
	res := &machine.ToolResult{Status: tools.OK, ToolResult: provider.ToolResult{CallID: call.ID, Name: call.Name,
		Parts: []provider.Part{provider.TextPart(`{"n":8}`)}}}
	var durable, plain time.Duration
	for seq := uint64(1); b.Loop(); seq++ {
		meta := machine.Meta{Origin: &machine.Origin{Session: "s", Run: "r-1"}, Seq: seq, Time: time.Now(), Step: 1,
			Call: call.ID}
		began := time.Now()
		rec, err := machine.Encode(&machine.ToolFinished{Meta: meta, Call: call, Result: res})
		if err == nil {
			err = store.Append(b.Context(),
				journal.Append{Session: "s", After: seq - 1, Fence: lease.Fence, Records: []journal.Record{rec}})
		}
		middle := time.Now()
		if err == nil {
			_, err = insert.ExecContext(b.Context(), "s", seq, rec.Time.UnixNano(), rec.Kind, rec.V, rec.Data)
		}
		if err != nil {
			b.Fatal(err)
		}
		durable, plain = durable+middle.Sub(began), plain+time.Since(middle)
	}
	b.ReportMetric(float64(durable)/float64(plain), "share")
}
