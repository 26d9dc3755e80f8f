package sqlite

import "fmt"

var (
	ErrFull     = errFull
	ErrReadOnly = errReadOnly
	ErrReplaced = errReplaced
)

// LimitPages lets the file have so many pages of 4 KiB.
func (s *Store) LimitPages(n int) error {
	s.db.pool.SetMaxOpenConns(1) // the limit is of a connection
	_, err := s.db.pool.Exec(fmt.Sprint("PRAGMA max_page_count = ", n))
	return err
}
