package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/internal/pgtest"
)

// told returns the changes after a cursor, as in "s 0-1", and the cursor after them.
func told(t *testing.T, s journal.Store, cursor string) (all []string, next string) {
	t.Helper()
	for {
		changes, after, err := journal.Changes(t.Context(), s, cursor)
		require.NoError(t, err)
		cursor = after
		if len(changes) == 0 {
			return all, cursor
		}
		for _, c := range changes {
			all = append(all, fmt.Sprintf("%s %d-%d", c.Session, c.After, c.Seq))
			cursor = c.Cursor
		}
	}
}

func paused(session string, after uint64) journal.Append {
	a := one(session, after)
	a.Head = &journal.HeadUpdate{Status: fmt.Sprint("paused at ", after+1)}
	return a
}

// Whoever begins first commits last: a reader that remembers the highest number it saw would miss
// it. It isn't waited for, either.
func TestAChangeThatIsCommittedLateIsNotMissed(t *testing.T) {
	cfg := empty(t)
	s := open(t, cfg)
	require.NoError(t, s.Append(t.Context(), paused("slow", 0)))
	require.NoError(t, s.Append(t.Context(), paused("slower", 0)))
	_, cursor := told(t, s, "")

	db, err := sql.Open("pgx", pgtest.DSN(t))
	require.NoError(t, err)
	defer db.Close()
	begin := func(session string) *sql.Tx {
		tx, err := db.Begin()
		require.NoError(t, err)
		t.Cleanup(func() { _ = tx.Rollback() })
		_, err = tx.Exec(fmt.Sprintf(`UPDATE "%s".sessions SET seq = 2, status = 'late' WHERE name = '%s'`, cfg.Schema, session))
		require.NoError(t, err)
		_, err = tx.Exec(fmt.Sprintf(`INSERT INTO "%[1]s".records SELECT id, 2, 0, 1, 1, 'k', 1, '' FROM "%[1]s".sessions
			WHERE name = '%[2]s'`, cfg.Schema, session))
		require.NoError(t, err)
		return tx
	}
	slow, slower := begin("slow"), begin("slower")
	require.NoError(t, s.Append(t.Context(), paused("fast", 0)))
	all, cursor := told(t, s, cursor)
	require.Equal(t, []string{"fast 0-1"}, all)

	require.NoError(t, slow.Commit())
	require.NoError(t, s.Append(t.Context(), paused("fast", 1)))
	all, cursor = told(t, s, cursor)
	require.Equal(t, []string{"slow 1-2", "fast 1-2"}, all)
	require.NoError(t, slower.Commit())
	all, cursor = told(t, s, cursor)
	require.Equal(t, []string{"slower 1-2"}, all)
	all, _ = told(t, s, cursor)
	require.Empty(t, all)
}

// Transactions of another server have higher numbers than those to come.
func TestADumpThatIsRestoredOnAnotherServerIsToldAgain(t *testing.T) {
	cfg := empty(t)
	s := open(t, cfg)
	require.NoError(t, s.Append(t.Context(), paused("a", 0)))
	require.NoError(t, s.Append(t.Context(), paused("b", 0)))
	sqlExec(t, `UPDATE "`+cfg.Schema+`".changes SET tx = '123456789012'`)
	all, cursor := told(t, s, "")
	require.Equal(t, []string{"a 0-1", "b 0-1"}, all)
	require.NoError(t, s.Append(t.Context(), paused("a", 1)))
	all, _ = told(t, s, cursor)
	require.Equal(t, []string{"a 1-2"}, all)
	for _, elsewhere := range []string{"postgres:123456789012:123456789012://",
		"postgres:5:5:/5:123456789012:5,7/5.1.1"} {
		all, cursor = told(t, s, elsewhere)
		require.Equal(t, []string{"a 0-1", "b 0-1", "a 1-2"}, all)
		all, _ = told(t, s, cursor)
		require.Empty(t, all)
	}
}

// A role that was given rights to the tables of a version before may append, and the change is
// told.
func TestAppendsNeedNoRightToTheTableOfChanges(t *testing.T) {
	cfg := empty(t)
	undo := postgres.WithVersion(4)
	old, err := postgres.Open(context.Background(), cfg)
	undo()
	require.NoError(t, err)
	require.NoError(t, old.Close())
	role := cfg.Schema + "_user"
	sqlExec(t, "DROP ROLE IF EXISTS "+role)
	sqlExec(t, "CREATE ROLE "+role)
	t.Cleanup(func() {
		sqlExec(t, "DROP OWNED BY "+role)
		sqlExec(t, "DROP ROLE "+role)
	})
	in := `"` + cfg.Schema + `"`
	sqlExec(t, "GRANT USAGE ON SCHEMA "+in+" TO "+role)
	for _, table := range []string{"meta", "sessions", "records", "items"} {
		sqlExec(t, "GRANT SELECT, INSERT, UPDATE, DELETE ON "+in+"."+table+" TO "+role)
	}
	sqlExec(t, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA "+in+" TO "+role)
	direct := open(t, cfg) // which gives the role the same rights to the queue
	cfg.DSN += " role=" + role
	s := open(t, cfg)
	for n := range uint64(3) {
		require.NoError(t, s.Append(t.Context(), paused("s", n)))
	}
	require.NoError(t, s.Delete(t.Context(), "s", 1))
	require.NoError(t, s.Append(t.Context(), paused("t", 0)))
	require.NoError(t, s.Delete(t.Context(), "t", journal.All))
	all, _ := told(t, direct, "")
	require.Equal(t, []string{"s 1-2", "s 2-3"}, all)
	_, err = s.Due(t.Context(), journal.Claim{Agents: []string{"a"}}, func(journal.Head) bool { return true })
	require.NoError(t, err)
	_, _, err = s.Changes(t.Context(), "")
	require.ErrorContains(t, err, "permission denied")

	sqlExec(t, "GRANT SELECT ON "+in+".changes TO "+role)
	all, _ = told(t, s, "")
	require.Equal(t, []string{"s 1-2", "s 2-3"}, all, "who reads needs no other right")
	sqlExec(t, "UPDATE "+in+".changes SET tx = '123456789012'") // as by a dump of another server
	_, _, err = s.Changes(t.Context(), "")
	require.ErrorContains(t, err, "permission denied")
	told(t, direct, "") // whoever may update it does so once
	all, _ = told(t, s, "")
	require.Equal(t, []string{"s 1-2", "s 2-3"}, all)
}

func TestSessionsOfAnOlderVersionAreChanges(t *testing.T) {
	cfg := empty(t)
	undo := postgres.WithVersion(3)
	old, err := postgres.Open(context.Background(), cfg)
	undo()
	require.NoError(t, err)
	defer func() { require.NoError(t, old.Close()) }()
	// the store is of this version, and takes sessions out of a table that older ones didn't have
	sqlExec(t, `CREATE TABLE "`+cfg.Schema+`".queue (session bigint PRIMARY KEY)`)
	for n := range uint64(4) {
		require.NoError(t, old.Append(t.Context(), paused("a", n)))
	}
	require.NoError(t, old.Append(t.Context(), one("b", 0)))
	require.NoError(t, old.Delete(t.Context(), "a", 2))
	sqlExec(t, `DROP TABLE "`+cfg.Schema+`".queue`)
	s := open(t, cfg)
	all, cursor := told(t, s, "")
	require.Equal(t, []string{"a 2-4", "b 0-1"}, all)
	require.NoError(t, old.Append(t.Context(), paused("b", 1)), "a process of the older version goes on")
	all, _ = told(t, s, cursor)
	require.Equal(t, []string{"b 1-2"}, all)
}
