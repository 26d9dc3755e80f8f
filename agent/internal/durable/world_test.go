package durable

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	_ "modernc.org/sqlite" // the effects are in a file of it
)

// An Order is the input of the tools: N is another for every call.
type Order struct {
	N int `json:"n"`
}

// A World is a file with the effects of tools and what processes tell each other, apart from the
// store under test.
type World struct{ db *sql.DB }

// OpenWorld opens the world of a directory. It survives the end of a process, and needn't survive
// that of the machine.
func OpenWorld(dir string) (*World, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "effects.db")+
		"?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS paid (n INTEGER, key TEXT, note TEXT);
		CREATE TABLE IF NOT EXISTS marks (n INTEGER PRIMARY KEY, key TEXT, times INTEGER);
		CREATE TABLE IF NOT EXISTS shelf (one INTEGER PRIMARY KEY, version INTEGER);
		INSERT OR IGNORE INTO shelf VALUES (1, 0);
		CREATE TABLE IF NOT EXISTS seen (reader TEXT, seq INTEGER, event TEXT, PRIMARY KEY (reader, seq));
		CREATE TABLE IF NOT EXISTS wrong (text TEXT)`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &World{db}, nil
}

// Close closes the file.
func (w *World) Close() error { return w.db.Close() }

// Paid returns how often an order was paid, which mustn't be more than once, and with what note.
func (w *World) Paid(n int) (times int, note string, err error) {
	err = w.db.QueryRow(`SELECT count(*), coalesce(min(note), '') FROM paid WHERE n = ?`, n).Scan(&times, &note)
	return times, note, err
}

// Marked returns how often a mark was set. It may be set again, under the same key; under another
// it isn't.
func (w *World) Marked(n int) (times int, err error) {
	err = w.db.QueryRow(`SELECT coalesce(sum(times), 0) FROM marks WHERE n = ?`, n).Scan(&times)
	return times, err
}

// Version returns the version of the shelf, on which its tools depend.
func (w *World) Version() (v int, err error) {
	err = w.db.QueryRow(`SELECT version FROM shelf`).Scan(&v)
	return v, err
}

// Change changes the tools on the shelf.
func (w *World) Change() error {
	_, err := w.db.Exec(`UPDATE shelf SET version = version + 1`)
	return err
}

// Seen returns the number of the last fact that a reader was shown.
func (w *World) Seen(reader string) (seq uint64, err error) {
	err = w.db.QueryRow(`SELECT coalesce(max(seq), 0) FROM seen WHERE reader = ?`, reader).Scan(&seq)
	return seq, err
}

// See records a fact that a reader was shown. It must be the next one.
func (w *World) See(reader string, seq uint64, event []byte) error {
	last, err := w.Seen(reader)
	if err != nil {
		return err
	}
	if seq != last+1 {
		return w.Wrong("reader %s was shown fact %d after %d", reader, seq, last)
	}
	_, err = w.db.Exec(`INSERT INTO seen (reader, seq, event) VALUES (?, ?, ?)`, reader, seq, string(event))
	return err
}

// Events returns what a reader was shown.
func (w *World) Events(reader string) (all []string, err error) {
	return w.texts(`SELECT event FROM seen WHERE reader = ? ORDER BY seq`, reader)
}

// Wrong records what must never be. The test finds it.
func (w *World) Wrong(format string, args ...any) error {
	_, err := w.db.Exec(`INSERT INTO wrong (text) VALUES (?)`, fmt.Sprintf(format, args...))
	return err
}

// Wrongs returns what was wrong.
func (w *World) Wrongs() ([]string, error) { return w.texts(`SELECT text FROM wrong`) }

func (w *World) texts(query string, args ...any) (all []string, err error) {
	rows, err := w.db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
