package postgres_test

import (
	"database/sql"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
)

var claimOfA = journal.Claim{Agents: []string{"a"}}

// locks runs a statement in a transaction that hangs until the test has ended.
func locks(t *testing.T, dsn, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	tx, err := db.Begin()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tx.Rollback()) })
	_, err = tx.Exec(statement)
	require.NoError(t, err)
}

// claimsNow claims until there is nothing, and returns the sessions.
func claimsNow(t *testing.T, s journal.Queue) (names []string) {
	t.Helper()
	for {
		q, _, err := s.Claim(t.Context(), claimOfA, "w", time.Hour)
		require.NoError(t, err)
		if q.Session == "" {
			return names
		}
		names = append(names, q.Session)
	}
}

// TestATransactionThatHangsStopsNoClaims: it has locked the sessions, or also their places in the
// queue.
func TestATransactionThatHangsStopsNoClaims(t *testing.T) {
	for name, statement := range map[string]string{
		"session": `SELECT 1 FROM "%[1]s".sessions WHERE name LIKE 'locked%' FOR UPDATE`,
		"session and place": `WITH s AS (SELECT id FROM "%[1]s".sessions WHERE name LIKE 'locked%' FOR UPDATE)
			UPDATE "%[1]s".queue SET tries = tries WHERE session IN (SELECT id FROM s)`,
		"deleted": `DELETE FROM "%[1]s".sessions WHERE name LIKE 'locked%'`,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := empty(t)
			cfg.Timeout = 10 * time.Second
			s := open(t, cfg)
			for _, session := range []string{"locked 1", "locked 2", "next", "last"} {
				precedence := map[string]int{"next": -1, "last": -2}[session]
				enqueue(t, s, session, journal.Place{Precedence: precedence}, time.Time{})
			}
			locks(t, cfg.DSN, strings.ReplaceAll(statement, "%[1]s", cfg.Schema))
			require.Equal(t, []string{"next", "last"}, claimsNow(t, s))
		})
	}
}

func TestALockedSessionIsClaimedSoonAfterItsTransaction(t *testing.T) {
	cfg := empty(t)
	s := open(t, cfg)
	enqueue(t, s, "locked", journal.Place{}, time.Time{})
	t.Run("locked", func(t *testing.T) {
		locks(t, cfg.DSN, `SELECT 1 FROM "`+cfg.Schema+`".sessions FOR UPDATE`)
		require.Empty(t, claimsNow(t, s))
	})
	for len(claimsNow(t, s)) == 0 { // until it is claimed
		runtime.Gosched()
	}
}

func TestAPlaceThatIsLockedAndDueKeepsNoOtherWaiting(t *testing.T) {
	cfg := empty(t)
	s := open(t, cfg)
	fillQueue(t, cfg.Schema, "due", 1, "''", "99", "1", "0")
	for _, session := range []string{"1", "2", "3"} {
		enqueue(t, s, session, journal.Place{}, time.Time{})
	}
	locks(t, cfg.DSN, `UPDATE "`+cfg.Schema+`".queue SET tries = tries WHERE state = 0`)
	require.Equal(t, []string{"1", "2", "3"}, claimsNow(t, s))
}

// TestAClaimThatEndsWhileItIsLookedAt has a clock that goes on with each reading. A row of the
// queue is ready, or has a time at which it is looked at again.
func TestAClaimThatEndsWhileItIsLookedAt(t *testing.T) {
	cfg := empty(t)
	s := open(t, cfg)
	clock := `"` + cfg.Schema + `".clock`
	sqlExec(t, "CREATE SEQUENCE "+clock)
	ticking := postgres.WithClock(s, "nextval('"+clock+"')")
	fillQueue(t, cfg.Schema, "s", 10, "''", "1", "0", "2")
	sqlExec(t, fmt.Sprintf(`UPDATE "%[1]s".queue SET due = 0;
		UPDATE "%[1]s".sessions SET owner = 'w', until = updated`, cfg.Schema)) // from 1 to 10
	c := journal.Claim{Agents: []string{"a"}, PerGroup: 1}
	_, err := ticking.Due(t.Context(), c, func(journal.Head) bool { return true })
	require.NoError(t, err)
	var ready, claimed, others int
	db := postgres.Pool(s)
	require.NoError(t, db.QueryRow(fmt.Sprintf(`SELECT count(*) FILTER (WHERE state = 1 AND due IS NULL),
		count(*) FILTER (WHERE state = 2 AND due > 0), count(*) FILTER (WHERE (state = 2) <> (due IS NOT NULL))
		FROM "%s".queue`, cfg.Schema)).Scan(&ready, &claimed, &others))
	require.Positive(t, ready)
	require.Positive(t, claimed)
	require.Zero(t, others)
}
