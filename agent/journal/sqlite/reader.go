package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// A reader is a connection that reads, with its statements. One goroutine uses it at a time. It
// calls the driver directly, because database/sql takes as long for a row as SQLite does.
type reader struct {
	pool *sql.DB

	conn  *sql.Conn // nil until it is needed
	stmts map[string]driver.Stmt
	row   []driver.Value
}

func (r *reader) query(ctx context.Context, query string, args []any, each func(scan func(...any) error) error) error {
	if r.conn == nil {
		conn, err := r.pool.Conn(ctx)
		if err != nil {
			return err
		}
		r.conn, r.stmts = conn, make(map[string]driver.Stmt)
	}
	return r.conn.Raw(func(conn any) error {
		stmt, err := r.stmt(ctx, conn, query)
		if err != nil {
			return err
		}
		values := make([]driver.NamedValue, len(args))
		for i, arg := range args {
			v, err := driver.DefaultParameterConverter.ConvertValue(arg)
			if err != nil {
				return err
			}
			values[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
		}
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, values)
		if err != nil {
			return err
		}
		return errors.Join(r.rows(rows, each), rows.Close())
	})
}

// rows calls each for every row. An error after the first row isn't retried, because each has seen
// rows already.
func (r *reader) rows(rows driver.Rows, each func(scan func(...any) error) error) error {
	if n := len(rows.Columns()); cap(r.row) < n {
		r.row = make([]driver.Value, n)
	} else {
		r.row = r.row[:n]
	}
	for first := true; ; first = false {
		switch err := rows.Next(r.row); {
		case err == io.EOF:
			return nil
		case err != nil && first:
			return err
		case err != nil:
			return sqlitefile.Final(err)
		}
		if err := each(r.scan); errors.Is(err, sqljournal.ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// scan copies the columns of the row to dest.
func (r *reader) scan(dest ...any) error {
	if len(dest) != len(r.row) {
		return fmt.Errorf("%d columns for %d destinations", len(r.row), len(dest))
	}
	for i, d := range dest {
		var err error
		switch d := d.(type) {
		case sql.Scanner:
			v := r.row[i]
			if data, ok := v.([]byte); ok { // a copy that the driver made for this row
				v = sqljournal.OwnedBytes(data)
			}
			err = d.Scan(v)
		case *string:
			text, ok := r.row[i].(string)
			if !ok {
				err = fmt.Errorf("%T instead of a text", r.row[i])
			}
			*d = text
		default:
			err = fmt.Errorf("can't scan into a %T", d)
		}
		if err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

// stmt returns a prepared statement, and keeps it for later calls.
func (r *reader) stmt(ctx context.Context, conn any, query string) (driver.Stmt, error) {
	if stmt := r.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err == nil {
		r.stmts[query] = stmt
	}
	return stmt, err
}

func (r *reader) close() error {
	if r.conn == nil {
		return nil
	}
	err := r.conn.Raw(func(any) (err error) {
		for _, stmt := range r.stmts {
			err = errors.Join(err, stmt.Close())
		}
		return err
	})
	return errors.Join(err, r.conn.Close())
}
