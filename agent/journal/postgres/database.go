package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/pgpool"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// maxMessage is about how many bytes of records are sent to the server at once; a message has at
// most a gigabyte.
const maxMessage = 16 << 20

// A database runs the statements of a [sqljournal.Store] on a pool of connections.
type database struct {
	pool    *sql.DB
	timeout time.Duration
	dialect sqljournal.Dialect

	which atomic.Value // which database it is: see identify

	append          [3]string // without a head, with one, and with one that has a place in the queue
	insert, replace string
}

var _ sqljournal.Database = (*database)(nil)

// prepare creates the schema and the tables, or brings them up to date.
func (db *database) prepare(ctx context.Context, cfg Config) error {
	if err := cfg.connections().Check(ctx, db.pool); err != nil {
		return err
	}
	// if the tables are up to date, no permission to create any is needed
	if current, err := sqljournal.Current(ctx, db.pool, db.dialect, hasMeta, migrations); current || err != nil {
		return err
	}
	if cfg.NoMigrate {
		return ErrOlder
	}
	return pgpool.Transaction(ctx, db.pool, func(ctx context.Context, tx *sql.Tx) error {
		// A second process waits here, and then finds the tables up to date.
		if err := pgpool.LockSchema(ctx, tx, cfg.Schema); err != nil {
			return err
		}
		return sqljournal.Migrate(ctx, sqljournal.Of(tx), db.dialect,
			[]string{fmt.Sprintf(makeSchema, cfg.Schema), makeMeta, fillMeta}, migrations)
	})
}

// Write implements [sqljournal.Database].
func (db *database) Write(ctx context.Context, fn func(context.Context, sqljournal.Tx) error) error {
	return db.retry(ctx, func(ctx context.Context) error {
		return pgpool.Transaction(ctx, db.pool, func(ctx context.Context, tx *sql.Tx) error {
			return fn(ctx, sqljournal.Of(tx))
		})
	})
}

// retry runs try again if it failed because of another transaction, within the timeout of a call.
func (db *database) retry(ctx context.Context, try func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, db.timeout)
	defer cancel()
	return wrapError(ctx, pgpool.Retry(limited, try))
}

// Query implements [sqljournal.Database].
func (db *database) Query(ctx context.Context, query string, args []any,
	each func(scan func(...any) error) error) error {
	limited, cancel := context.WithTimeout(ctx, db.timeout)
	defer cancel()
	rows, err := db.pool.QueryContext(limited, query, args...)
	if err == nil {
		err = sqljournal.Each(rows, each)
	}
	return wrapError(ctx, err)
}

// notify sends a notice.
func (db *database) notify(ctx context.Context, payload string) error {
	limited, cancel := context.WithTimeout(ctx, min(db.timeout, probeTime))
	defer cancel()
	_, err := db.pool.ExecContext(limited, "SELECT pg_notify('"+channel+"', $1)", payload)
	return err
}

// TryAppend implements [sqljournal.Database]. An append to a session with the right fence and
// number is one statement, and one round trip.
func (db *database) TryAppend(ctx context.Context, a journal.Append) (done bool, err error) {
	if len(a.Records) == 0 || len(a.Taken) > 0 || sqljournal.DataSize(a.Records) > maxMessage {
		return false, nil
	}
	head, err := headColumns(a.Head)
	if err != nil {
		return false, fmt.Errorf("postgres: %w", err)
	}
	args := append([]any{a.Session, int64(a.Fence), int64(a.After), len(a.Records)}, head...)
	args = append(append(args, columns(a.Records)...), a.Quiet)
	statement := db.append[0]
	if a.Head != nil {
		statement = db.append[1]
	}
	if a.Head != nil && a.Head.Queue != nil {
		statement = db.append[2]
		args = append(args, sqljournal.QueueColumns(a.Head)...)
	}
	err = db.retry(ctx, func(ctx context.Context) error {
		result, err := db.pool.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		done = n == int64(len(a.Records))
		return err
	})
	return done && err == nil, err
}

// headColumns returns the columns that a head update sets: NULL for those that stay as they are.
func headColumns(h *journal.HeadUpdate) ([]any, error) {
	if h == nil {
		var text *string
		return []any{text, text, (*int)(nil), text, text, text, text, (*int64)(nil), []byte(nil)}, nil
	}
	var head journal.Head
	head.Set(h)
	open, err := sqljournal.EncodeOpen(h.Open)
	if err != nil {
		return nil, err
	}
	labels, err := sqljournal.EncodeLabels(h.Labels)
	return []any{h.Status, open, len(h.Open), h.Kind, h.Title, labels, h.Parent,
		sqljournal.Nanos(head.Due), sqljournal.Blob(h.Info)}, err
}

// Insert implements [sqljournal.Database].
func (db *database) Insert(ctx context.Context, tx sqljournal.Tx, rows sqljournal.Batch) error {
	return inMessages(rows.Records, func(records []journal.Record) error {
		args := append([]any{rows.Session, rows.After, rows.Fence, rows.At}, columns(records)...)
		_, err := tx.ExecContext(ctx, db.insert, args...)
		rows.After += int64(len(records))
		return err
	})
}

// Replace implements [sqljournal.Database].
func (db *database) Replace(ctx context.Context, tx sqljournal.Tx, rows sqljournal.Batch) error {
	return inMessages(rows.Records, func(records []journal.Record) error {
		numbers, data := make([]int64, len(records)), make([][]byte, len(records))
		for i := range records {
			numbers[i], data[i] = int64(records[i].Seq), sqljournal.Blob(records[i].Data)
		}
		_, err := tx.ExecContext(ctx, db.replace, rows.Session, numbers, data)
		return err
	})
}

// inMessages calls send with as many records at once as a message may have.
func inMessages(records []journal.Record, send func([]journal.Record) error) error {
	for len(records) > 0 {
		n, size := 1, len(records[0].Data)
		for ; n < len(records) && size+len(records[n].Data) <= maxMessage; n++ {
			size += len(records[n].Data)
		}
		if err := send(records[:n]); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// columns returns the times, kinds, versions and data of records as arrays.
func columns(records []journal.Record) []any {
	times, kinds := make([]*int64, len(records)), make([]string, len(records))
	versions, data := make([]int64, len(records)), make([][]byte, len(records))
	for i := range records {
		r := &records[i]
		times[i], kinds[i], versions[i], data[i] = sqljournal.Nanos(r.Time), r.Kind, int64(r.V), sqljournal.Blob(r.Data)
	}
	return []any{times, kinds, versions, data}
}
