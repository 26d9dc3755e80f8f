package durable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A pace is what a round of a side took. Transactions and WAL are 0 for a side without a database
// on the server.
type pace struct {
	callsPerSecond, transactions, wal float64 // the last two of each call
}

// A meter measures sides. It has a connection of its own to another database of the server, whose
// transactions don't count.
type meter struct {
	conn *pgx.Conn
	n    int // rounds, so that no two runs have the same name
}

// measure lets a side do the work of some runs.
//
// The server counts a connection's transactions for certain only when that is closed. So those that
// are needed to open and close are counted in a round without runs, and subtracted.
func (m *meter) measure(ctx context.Context, s side, runs int) (pace, error) {
	empty, _, _, err := m.round(ctx, s, 0)
	if err != nil {
		return pace{}, err
	}
	commits, wal, took, err := m.round(ctx, s, runs)
	if err != nil {
		return pace{}, err
	}
	all := float64(runs * calls)
	return pace{all / took.Seconds(), float64(commits-empty) / all, float64(wal) / all}, nil
}

// round opens a side, does runs, and closes it. It returns the commits of all that, and the bytes
// of WAL and the time of the runs.
func (m *meter) round(ctx context.Context, s side, runs int) (commits, wal int64,
	took time.Duration, err error) {
	m.n++
	names := make([]string, runs)
	for i := range names {
		names[i] = fmt.Sprintf("%d-%d", m.n, i)
	}
	before, err := m.commits(ctx, s.database)
	if err != nil {
		return 0, 0, 0, err
	}
	d, err := s.open(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	from, err := m.position(ctx)
	if err == nil && runs > 0 {
		begin := time.Now()
		err = d.do(ctx, names)
		took = time.Since(begin)
	}
	to, posErr := m.position(ctx)
	if err := errors.Join(err, posErr, d.close()); err != nil {
		return 0, 0, 0, err
	}
	after, err := m.commits(ctx, s.database)
	return after - before, to - from, took, err
}

// position returns where the server's write-ahead log ends.
func (m *meter) position(ctx context.Context) (bytes int64, err error) {
	err = m.conn.QueryRow(ctx, "SELECT (pg_current_wal_lsn() - '0/0')::bigint").Scan(&bytes)
	return bytes, err
}

// commits waits until nobody is connected to a database, and returns how many transactions were
// committed there.
func (m *meter) commits(ctx context.Context, database string) (n int64, err error) {
	if database == "" {
		return 0, nil
	}
	for {
		var connected int
		if err := m.conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = $1",
			database).Scan(&connected); err != nil {
			return 0, err
		}
		if connected == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	err = m.conn.QueryRow(ctx, "SELECT xact_commit FROM pg_stat_database WHERE datname = $1", database).Scan(&n)
	return n, err
}

// A row is what the table shows of a side: medians of its rounds, and how its calls a second relate
// to those of another side in the same round.
type row struct {
	pace
	share, lowest, highest float64
}

// summarize returns the row of paces beside those of another side.
func summarize(paces, other []pace) row {
	median := func(of func(i int) float64) (middle, lowest, highest float64) {
		all := make([]float64, len(paces))
		for i := range all {
			all[i] = of(i)
		}
		slices.SortFunc(all, cmp.Compare[float64])
		return all[len(all)/2], all[0], all[len(all)-1]
	}
	var r row
	r.callsPerSecond, _, _ = median(func(i int) float64 { return paces[i].callsPerSecond })
	r.transactions, _, _ = median(func(i int) float64 { return paces[i].transactions })
	r.wal, _, _ = median(func(i int) float64 { return paces[i].wal })
	r.share, r.lowest, r.highest = median(func(i int) float64 {
		return paces[i].callsPerSecond / other[i].callsPerSecond
	})
	return r
}
