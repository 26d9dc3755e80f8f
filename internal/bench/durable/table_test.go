package durable

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/pgtest"
)

var (
	runCount = flag.Int("runs", 5, "runs that each side does in a round")
	rounds   = flag.Int("rounds", 1, "rounds, in which the sides take turns")
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.Stop()
	os.Exit(code)
}

func TestTable(t *testing.T) {
	dsn := pgtest.Measured(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	meter := &meter{conn: conn}
	var m made
	t.Run("PostgreSQL", func(t *testing.T) {
		on := func(database string) string {
			_, err := conn.Exec(t.Context(), "DROP DATABASE IF EXISTS "+database)
			require.NoError(t, err)
			_, err = conn.Exec(t.Context(), "CREATE DATABASE "+database)
			require.NoError(t, err)
			return dsn + " dbname=" + database
		}
		compare(t, meter, &m, "DBOS's", []side{
			{"DBOS for Go, a step for each call", "b_dbos", workflows(on("b_dbos"), &m)},
			{"Pawl, `a.Run`", "b_pawl", onPostgres(on("b_pawl"), &m)},
			{fmt.Sprintf("Pawl on River, legs of %d steps", legSteps), "b_legs", legs(on("b_legs"), &m)},
			{"River alone, a job for each call", "b_jobs", callJobs(on("b_jobs"), &m)},
			{"bare statements", "b_bare", bareOnPostgres(on("b_bare"), &m)},
		})
	})
	t.Run("SQLite", func(t *testing.T) {
		dir := t.TempDir()
		compare(t, meter, &m, "the bare statements'", []side{
			{"bare statements", "", bareOnSQLite(filepath.Join(dir, "bare.db"), "full", &m)},
			{"Pawl, `a.Run`", "", onSQLite(filepath.Join(dir, "pawl.db"), sqlite.Power, &m)},
		})
	})
	t.Run("SQLite that a power failure may set back", func(t *testing.T) {
		dir := t.TempDir()
		compare(t, meter, &m, "DBOS's", []side{
			{"DBOS for Go, a step for each call", "", workflows("sqlite:"+filepath.Join(dir, "dbos.db"), &m)},
			{"Pawl, `a.Run`, `Durability: Process`", "", onSQLite(filepath.Join(dir, "pawl.db"), sqlite.Process, &m)},
			{"bare statements", "", bareOnSQLite(filepath.Join(dir, "bare.db"), "normal", &m)},
		})
	})
}

// compare lets sides take turns, each round beginning with another one, and logs a table. The first
// side is the one that the others are compared with. All must make the same calls.
func compare(t *testing.T, by *meter, m *made, whose string, sides []side) {
	t.Helper()
	paces := make([][]pace, len(sides))
	for _, s := range sides {
		_, err := by.measure(t.Context(), s, 1) // makes the tables
		require.NoError(t, err, s.name)
	}
	for round := range *rounds {
		for i := range sides {
			i := (i + round) % len(sides)
			m.models.Store(0)
			m.tools.Store(0)
			p, err := by.measure(t.Context(), sides[i], *runCount)
			require.NoError(t, err, sides[i].name)
			require.EqualValues(t, *runCount*(steps+1), m.models.Load(), sides[i].name)
			require.EqualValues(t, *runCount*steps, m.tools.Load(), sides[i].name)
			paces[i] = append(paces[i], p)
		}
	}
	var text strings.Builder
	head := fmt.Sprintf("\n| | calls a second | of %s | lowest and highest round |", whose)
	line := "\n|---|---|---|---|"
	if sides[0].database != "" {
		head, line = head+" transactions a call | WAL bytes a call |", line+"---|---|"
	}
	text.WriteString(head + line)
	for i, s := range sides {
		r := summarize(paces[i], paces[0])
		fmt.Fprintf(&text, "\n| %s | %.0f | %.2f | %.2f to %.2f |", s.name, r.callsPerSecond, r.share, r.lowest,
			r.highest)
		if s.database != "" {
			fmt.Fprintf(&text, " %.2f | %.0f |", r.transactions, r.wal)
		}
	}
	t.Log(text.String())
}
