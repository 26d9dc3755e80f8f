package sqljournal

import (
	"context"
	"database/sql"
	"strings"

	"github.com/pawlkit/pawl/agent/journal"
)

// A Store is a [journal.Store] in the tables of a [Database].
type Store struct {
	db      Database
	dialect Dialect
	q       statements
	sign    string // prefix of the number of a parameter

	label, updated string // of [Dialect]
}

var _ journal.Store = (*Store)(nil)

// New returns the store in db, whose tables exist.
func New(db Database, d Dialect) *Store {
	return &Store{db: db, dialect: d, q: d.statements(), sign: d.SQL("?"), label: d.Label, updated: d.SQL(d.Updated)}
}

// A Tx runs statements in one transaction.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) Row
}

// Rows are the rows of a statement, as [sql.Rows] has them.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// A Row is the first row of a statement, as [sql.Row] has it.
type Row interface{ Scan(dest ...any) error }

// SQL is what *sql.Tx has, and *sql.DB and *sql.Conn, too.
type SQL interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Of returns the Tx of a transaction of package database/sql.
func Of(tx SQL) Tx { return sqlTx{tx} }

type sqlTx struct{ tx SQL }

func (t sqlTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return t.tx.ExecContext(ctx, query, args...)
}

func (t sqlTx) QueryContext(ctx context.Context, query string, args ...any) (Rows, error) {
	rows, err := t.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (t sqlTx) QueryRowContext(ctx context.Context, query string, args ...any) Row {
	return t.tx.QueryRowContext(ctx, query, args...)
}

// A Database is where a [Store] keeps its tables. Its methods return errors of package journal
// unchanged, wrap others, and return an error that wraps ctx.Err() once ctx has ended.
type Database interface {
	// Write runs fn in a transaction, with the context of its statements, and commits it if fn
	// returns nil. It may run fn again after a failure that a retry can avoid. No other transaction
	// changes a row that fn has selected until the transaction ends.
	Write(ctx context.Context, fn func(context.Context, Tx) error) error
	// Query runs one statement that only reads, and calls each for every row of its result, until
	// that returns [ErrStop] or another error. All rows are of one snapshot. A column is scanned
	// into a *string or a sql.Scanner.
	Query(ctx context.Context, query string, args []any, each func(scan func(dest ...any) error) error) error
	// TryAppend appends a with as few statements as the database allows, and reports whether it
	// did. If it didn't, a may still be valid: the store then checks and appends it with Write.
	TryAppend(ctx context.Context, a journal.Append) (bool, error)
	// Insert inserts the rows of records into the log of a session.
	Insert(ctx context.Context, tx Tx, rows Batch) error
	// Replace sets the data of records, by their numbers, in the log of a session.
	Replace(ctx context.Context, tx Tx, rows Batch) error
}

// A Batch is records about to be inserted, or whose data is replaced, which needs no more than
// Session and Records.
type Batch struct {
	Session int64 // id of the row in sessions
	Fence   int64
	At      int64 // when the store appended them
	After   int64 // the number before the first
	Records []journal.Record
}

// A Dialect has the differences between the statements of the databases. Expressions may use s for
// the row in sessions, and @ for Prefix.
type Dialect struct {
	// Prefix is put before the name of every table: pawl_ or pawl., for example.
	Prefix string
	// Dollar is set if parameters are written $1 instead of ?1.
	Dollar bool
	// Lock is added to the statement that selects a session for a change. It is empty if a
	// transaction excludes all others.
	Lock string
	// Now is an expression for the time in nanoseconds. If it is empty, the time is that of
	// time.Now.
	Now string
	// Seq and Updated are expressions for the number of the last record and the time of the last
	// append.
	Seq, Updated string
	// Label is a condition: the session has the label whose key is the parameter %[1]s and whose
	// value is %[2]s. It is taken as it is: no @ in it stands for Prefix.
	Label string
	// NextFence is a statement that returns a fence above all those that it returned before.
	NextFence string
	// Posted is a statement that tells other processes that something is posted to the session
	// whose name is its parameter. Without one they aren't told.
	Posted string
	// Greatest is the function that returns the greatest of its arguments.
	Greatest string
	// Text has a parameter for %s, as a text that is compared byte by byte, and List a table e with
	// the column value, of the strings of the JSON array that is a parameter for %s.
	Text, List string
	// Labeled is a condition: the session r.session has one of the labels of the parameter %s, a
	// JSON array of arrays with a key and a value.
	Labeled string
	// Claiming is a statement after which no other transaction claims from the queue until this one
	// has ended. It is empty if a transaction excludes all others.
	Claiming string
}

// SQL returns a statement with @ and ? replaced by the dialect's prefix and parameters.
func (d Dialect) SQL(statement string) string {
	if d.Dollar {
		statement = strings.ReplaceAll(statement, "?", "$")
	}
	return strings.ReplaceAll(statement, "@", d.Prefix)
}

// updatedColumn is the number of the column with the time of the last append.
const updatedColumn = "18"

// erasing are the statements of a [journal.Eraser].
type erasing struct{ item, allowances, drop string }

type statements struct {
	find, lock, heads, idle, owned   string
	insert, update                   string
	repeated, page                   string
	nextFence, posted                string
	inbox, taken, post, close, empty string
	prune, drop                      string
	erasing                          erasing
	dropAll                          [2]string
	queueing                         queueing
}

func (d Dialect) statements() statements {
	now := d.Now
	if now == "" {
		now = "0"
	}
	// The columns are those of scanRow, in its order. updatedColumn is the number of d.Updated.
	columns := "SELECT s.id, s.name, s.status, s.open, s.kind, s.title, s.labels, s.parent, s.info, s.expires, " + d.Seq +
		", s.pruned, s.inbox, s.fence, s.owner, s.until, s.created, "
	from := " FROM @sessions s WHERE "
	q := statements{
		find:  columns + d.Updated + ", 0" + from + "s.name = ?1",
		lock:  columns + d.Updated + ", " + now + from + "s.name = ?1" + d.Lock,
		heads: columns + d.Updated + ", 0" + from + "1 = 1",
		idle:  columns + "s.idle, 0" + from + "s.idle IS NOT NULL",
		owned: columns + d.Updated + ", 0" + from + "s.owner <> ''",
		insert: `INSERT INTO @sessions (name, status, open, opens, seq, pruned, inbox, fence, owner, until, updated, kind, title, labels, parent, expires,
				idle, info, created)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19) RETURNING id`,
		update: `UPDATE @sessions SET status = ?2, open = ?3, opens = ?4, seq = ?5, pruned = ?6, inbox = ?7, fence = ?8, owner = ?9,
			until = ?10, updated = ?11, kind = ?12, title = ?13, labels = ?14, parent = ?15, expires = ?16, idle = ?17, info = ?18
			WHERE id = ?1`,
		repeated: "SELECT seq, fence, time, kind, v, data FROM @records WHERE session = ?1 AND seq > ?2 AND seq <= " +
			"?3 ORDER BY seq",
		page: "SELECT seq, time, kind, v, data FROM @records WHERE session = ?1 AND seq > ?2 AND seq <= ?3 " +
			"ORDER BY seq",
		nextFence: d.NextFence,
		posted:    d.Posted,
		inbox: `SELECT ` + d.Seq + `, s.fence, s.owner, s.until, i.id, i.kind, i.time, i.data
			FROM @sessions s LEFT JOIN @items i ON i.session = s.id AND i.taken = 0 WHERE s.name = ?1 ORDER BY i.n`,
		taken: "SELECT taken FROM @items WHERE session = ?1 AND id = ?2",
		post:  "INSERT INTO @items (session, id, kind, time, data, taken) VALUES (?1, ?2, ?3, ?4, ?5, 0)",
		close: "INSERT INTO @items (session, id, kind, time, data, taken) VALUES (?1, ?2, '', NULL, ?3, 1) ON " +
			"CONFLICT (session, id) DO NOTHING",
		empty: "UPDATE @items SET kind = '', time = NULL, data = ?3, taken = 1 WHERE session = ?1 AND id = ?2 AND " +
			"taken = 0",
		prune: "DELETE FROM @records WHERE session = ?1 AND seq <= ?2",
		drop:  "DELETE FROM @sessions WHERE id = ?1",
		erasing: erasing{
			item:       "UPDATE @items SET data = ?3 WHERE session = ?1 AND id = ?2 AND taken = 0",
			allowances: "SELECT name, key FROM @allowances",
			drop:       "DELETE FROM @allowances WHERE name = ?1 AND key = ?2",
		},
		queueing: d.queueing(columns, from, now),
		dropAll:  [2]string{"DELETE FROM @records WHERE session = ?1", "DELETE FROM @items WHERE session = ?1"},
	}
	for _, p := range []*string{
		&q.find, &q.lock, &q.heads, &q.idle, &q.owned,
		&q.insert, &q.update, &q.repeated, &q.page, &q.nextFence, &q.posted, &q.inbox, &q.taken,
		&q.post,
		&q.close, &q.empty, &q.prune, &q.drop, &q.dropAll[0], &q.dropAll[1],
		&q.erasing.item, &q.erasing.allowances, &q.erasing.drop,
		&q.queueing.enter, &q.queueing.leave, &q.queueing.later, &q.queueing.claim, &q.queueing.tries,
		&q.queueing.delay, &q.queueing.claiming, &q.queueing.lock, &q.queueing.putOff,
		&q.queueing.ready, &q.queueing.depths,
		&q.queueing.due[0], &q.queueing.due[1],
	} {
		*p = d.SQL(*p)
	}
	return q
}
