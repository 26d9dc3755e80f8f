package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/internal/pgtest"
)

func one(session string, after uint64) journal.Append {
	return journal.Append{Session: session, After: after,
		Records: []journal.Record{{Time: time.Unix(int64(after), 0), Kind: "k", V: 1,
			Data: fmt.Appendf(nil, "data %d", after+1)}}}
}

// holds checks that a session has exactly the records 1 to n.
func holds(t *testing.T, s journal.Store, session string, n uint64) {
	t.Helper()
	last := uint64(0)
	for r, err := range s.Read(context.Background(), session, 0) {
		require.NoError(t, err)
		last++
		require.Equal(t, last, r.Seq)
		require.Equal(t, fmt.Sprintf("data %d", last), string(r.Data))
	}
	require.Equal(t, n, last)
}

func TestACommitWhoseAnswerIsLostIsSettledByTheSameAppendAgain(t *testing.T) {
	cfg := empty(t)
	p := newProxy(t, cfg.DSN)
	direct := open(t, cfg)
	cfg.DSN = p.through(cfg.DSN)
	s := open(t, cfg)
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	for n, c := range []struct {
		cutAt  string
		change func(*journal.Append)
	}{
		{"data 2", func(*journal.Append) {}}, // a single statement, which is its own transaction
		{"commit\x00", func(a *journal.Append) { a.Taken = []string{"item"} }},
		{"data 4", func(a *journal.Append) { a.Head = &journal.HeadUpdate{Status: "running"} }},
	} {
		a := one("s", uint64(n+1))
		c.change(&a)
		p.arm(c.cutAt)
		err := s.Append(t.Context(), a)
		require.Error(t, err, c.cutAt)
		require.True(t, journal.Unclear(err), "%v", err)
		require.Equal(t, n+1, p.cuts())
		holds(t, direct, "s", uint64(n+2)) // it was kept
		require.NoError(t, s.Append(t.Context(), a), c.cutAt)
		holds(t, s, "s", uint64(n+2))
	}
}

func TestAPostWhoseAnswerIsLostIsSettledByTheSamePostAgain(t *testing.T) {
	cfg := empty(t)
	p := newProxy(t, cfg.DSN)
	direct := open(t, cfg)
	cfg.DSN = p.through(cfg.DSN)
	s := open(t, cfg)
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	it := journal.Item{ID: "i", Kind: "k", Closes: []string{"q-1", "q-2"}}
	p.arm("commit\x00")
	err := s.Post(t.Context(), "s", it)
	require.Error(t, err)
	require.True(t, journal.Unclear(err), "%v", err)
	require.Equal(t, &journal.PostedError{Session: "s", ID: "i"}, s.Post(t.Context(), "s", it))
	err = direct.Post(t.Context(), "s", journal.Item{ID: "q-2", Kind: "k"})
	require.Equal(t, &journal.PostedError{Session: "s", ID: "q-2", Taken: true}, err)
}

func TestTerminatedBackendsLoseNothing(t *testing.T) {
	const sessions, each = 4, 50
	cfg := empty(t)
	cfg.DSN += " application_name=" + cfg.Schema
	s := open(t, cfg)
	unclear := make([]int, sessions)
	tries := make(chan struct{})
	var killer, all sync.WaitGroup
	killer.Go(func() {
		n := 0
		for range tries {
			if n++; n%10 == 0 {
				sqlExec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
					cfg.Schema)
			}
		}
	})
	for i := range sessions {
		all.Go(func() {
			name := fmt.Sprint("s-", i)
			for after := uint64(0); after < each; {
				a := one(name, after)
				if after%3 == 0 {
					a.Taken = []string{fmt.Sprint(after)} // begins and commits in messages of their own
				}
				tries <- struct{}{} // which may end it, or one of the others
				err := s.Append(t.Context(), a)
				switch {
				case err == nil:
					after++
				case journal.Unclear(err):
					unclear[i]++
				default:
					t.Errorf("append after %d: %v", after, err)
					return
				}
			}
		})
	}
	all.Wait()
	close(tries)
	killer.Wait()
	t.Log("unclear:", unclear)
	sqlExec(t, "SELECT 1")
	fresh := open(t, cfg)
	for i := range sessions {
		holds(t, fresh, fmt.Sprint("s-", i), each)
	}
}

func TestSerializationFailuresAreTriedAgain(t *testing.T) {
	const writers, each = 8, 25
	cfg := empty(t)
	cfg.DSN += " default_transaction_isolation=serializable"
	s := open(t, cfg)
	var all sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		all.Go(func() {
			for n, after := 0, uint64(0); n < each && errs[w] == nil; {
				a := one("s", after)
				a.Records[0].V = w
				err := s.Append(context.Background(), a)
				var conflict *journal.ConflictError
				switch {
				case errors.As(err, &conflict):
					after = conflict.HaveSeq
				case err != nil:
					errs[w] = err
				default:
					n++
					after++
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	holds(t, s, "s", writers*each)
}

func TestACallThatGetsNoAnswerEndsInTime(t *testing.T) {
	cfg := empty(t)
	s := open(t, cfg)
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	cfg.Timeout = time.Second
	hurried := open(t, cfg)
	db, err := sql.Open("pgx", cfg.DSN)
	require.NoError(t, err)
	defer db.Close()
	tx, err := db.Begin()
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.Exec(`SELECT 1 FROM "` + cfg.Schema + `".sessions FOR UPDATE`)
	require.NoError(t, err)

	err = hurried.Append(t.Context(), one("s", 1))
	require.ErrorContains(t, err, "Config.Timeout")
	require.True(t, journal.Unclear(err))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Append(ctx, one("s", 1)), context.DeadlineExceeded)
	holds(t, s, "s", 1) // readers don't wait

	require.NoError(t, tx.Rollback())
	require.NoError(t, s.Append(t.Context(), one("s", 1)))
	holds(t, s, "s", 2)
}

func TestAServerThatTakesNoChangesSaysSo(t *testing.T) {
	cfg := empty(t)
	require.NoError(t, open(t, cfg).Append(t.Context(), one("s", 0)))
	cfg.DSN += " default_transaction_read_only=on"
	s := open(t, cfg)
	for what, a := range map[string]journal.Append{"one statement": one("s", 1), "a transaction": one("t", 0)} {
		err := s.Append(t.Context(), a)
		require.ErrorIs(t, err, postgres.ErrReadOnly, what)
	}
	holds(t, s, "s", 1)
	cfg.Schema = "pawl_test_none"
	_, err := postgres.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "read-only")
}

func TestNoMoreConnectionsAreOpenThanAllowed(t *testing.T) {
	cfg := empty(t)
	cfg.MaxConns = 2
	s := open(t, cfg)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := s.Append(context.Background(), one(fmt.Sprint(i), 0)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	stats := postgres.Pool(s).Stats()
	require.Equal(t, 2, stats.MaxOpenConnections)
	require.LessOrEqual(t, stats.OpenConnections, 2)
	require.NoError(t, s.Close())
	require.Error(t, s.Append(t.Context(), one("s", 0)), "closed")
}

func TestTheServersSettingsDontMakeAppendsLessDurable(t *testing.T) {
	for want, c := range map[string]struct {
		server string
		d      postgres.Durability
	}{
		"on":           {"off", postgres.Power},
		"remote_apply": {"remote_apply", postgres.Power},
		"off":          {"on", postgres.Process},
	} {
		cfg := empty(t)
		cfg.DSN += " synchronous_commit=" + c.server
		cfg.Durability = c.d
		var got string
		require.NoError(t, postgres.Pool(open(t, cfg)).QueryRow("SHOW synchronous_commit").Scan(&got))
		require.Equal(t, want, got)
	}
}

func TestConfigurationsThatMakeNoSenseAreRefused(t *testing.T) {
	for field, cfg := range map[string]postgres.Config{
		"Schema": {Schema: `x"; DROP TABLE`}, "Durability": {Durability: 7}, "MaxConns": {MaxConns: -1},
		"Timeout": {Timeout: -1}, "DSN": {DSN: "postgres://ann:secret@host:port/db"},
	} {
		_, err := postgres.Open(t.Context(), cfg)
		require.ErrorContains(t, err, "Config."+field)
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := postgres.Open(t.Context(),
		postgres.Config{DSN: "host=127.0.0.1 port=1 user=ann password=secret sslmode=disable"})
	require.ErrorContains(t, err, "postgres: opening: ")
	require.NotContains(t, err.Error(), "secret")
}

func TestTablesThatAreThereNeedNoRightToMakeThem(t *testing.T) {
	cfg := empty(t)
	require.NoError(t, open(t, cfg).Append(t.Context(), one("s", 0)))
	role := cfg.Schema + "_user"
	sqlExec(t, "DROP ROLE IF EXISTS "+role)
	sqlExec(t, "CREATE ROLE "+role)
	in := ` "` + cfg.Schema + `" TO ` + role
	sqlExec(t, "GRANT USAGE ON SCHEMA"+in)
	sqlExec(t, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA"+in)
	sqlExec(t, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA"+in)
	t.Cleanup(func() {
		sqlExec(t, "DROP OWNED BY "+role)
		sqlExec(t, "DROP ROLE "+role)
	})
	cfg.DSN += " role=" + role
	s := open(t, cfg)
	_, err := s.Lease(t.Context(), "t", "a", time.Minute)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), one("s", 1)))
	require.NoError(t, s.Delete(t.Context(), "s", journal.All))
}

func TestOtherVersionsOfTheTables(t *testing.T) {
	cfg := empty(t)
	require.NoError(t, open(t, cfg).Append(t.Context(), one("s", 0)))
	later := []string{"ALTER TABLE @sessions ADD COLUMN more text"}

	undo := postgres.WithMigrations(later, []string{"ALTER TABLE @nothing ADD COLUMN more text"})
	_, err := postgres.Open(t.Context(), cfg)
	undo()
	require.ErrorContains(t, err, fmt.Sprintf("migrating the journal's tables to version %d", postgres.Versions()+2), "one that fails")
	holds(t, open(t, cfg), "s", 1) // as if nothing had been

	undo = postgres.WithMigrations(later)
	careful := cfg
	careful.NoMigrate = true
	_, err = postgres.Open(t.Context(), careful)
	require.ErrorIs(t, err, postgres.ErrOlder)
	errs := make([]error, 4)
	var all sync.WaitGroup
	for i := range errs { // several at once, of which one migrates
		all.Go(func() {
			s, err := postgres.Open(context.Background(), cfg)
			if errs[i] = err; err == nil {
				errs[i] = s.Close()
			}
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	undo()
	_, err = postgres.Open(t.Context(), cfg)
	require.ErrorIs(t, err, postgres.ErrNewer)
	require.ErrorContains(t, err, fmt.Sprintf("they have version %d, this one knows up to %[2]d", postgres.Versions()+1,
		postgres.Versions()))
}

func TestADatabaseThatIsNotInUTF8IsRefused(t *testing.T) {
	dsn := pgtest.DSN(t)
	if !strings.Contains(dsn, "dbname=postgres") {
		t.Skip("takes a server of the test's own, where it may make databases")
	}
	sqlExec(t, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
	_, err := postgres.Open(t.Context(),
		postgres.Config{DSN: strings.Replace(dsn, "dbname=postgres", "dbname=latin", 1)})
	require.ErrorContains(t, err, "encoding is LATIN1")
	sqlExec(t, "DROP DATABASE latin WITH (FORCE)")
}

func TestAppendsTooBigForOneMessageAreWhole(t *testing.T) {
	s := open(t, empty(t))
	a := journal.Append{Session: "s"}
	for i := range 5 {
		data := make([]byte, 7<<20)
		data[0] = byte(i)
		a.Records = append(a.Records, journal.Record{Kind: "k", Data: data})
	}
	require.NoError(t, s.Append(t.Context(), a))
	require.NoError(t, s.Append(t.Context(), a))
	n := 0
	for r, err := range s.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.Len(t, r.Data, 7<<20)
		require.Equal(t, byte(n), r.Data[0])
		n++
	}
	require.Equal(t, 5, n)
}

// A pooler that gives a transaction another connection has the statements of others, or none.
func TestStatementsThatAPoolerMixesUpNameTheRemedy(t *testing.T) {
	cfg := empty(t)
	cfg.MaxConns = 1
	s := open(t, cfg)
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	_, err := postgres.Pool(s).Exec("DEALLOCATE ALL")
	require.NoError(t, err)
	err = s.Append(t.Context(), one("s", 1))
	require.ErrorIs(t, err, postgres.ErrPrepared)
	require.ErrorContains(t, err, "default_query_exec_mode=exec")

	if strings.Contains(cfg.DSN, "://") {
		cfg.DSN += "?default_query_exec_mode=exec"
	} else {
		cfg.DSN += " default_query_exec_mode=exec"
	}
	s = open(t, cfg)
	_, err = postgres.Pool(s).Exec("DEALLOCATE ALL")
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), one("s", 1)))
}
