package sqlite

import (
	"context"
	"fmt"
)

var (
	ErrFull     = errFull
	ErrReadOnly = errReadOnly
	ErrReplaced = errReplaced
)

// LimitPages lets the file have so many pages of 4 KiB. The limit is of the connection that writes.
func (s *Store) LimitPages(n int) error {
	return s.db.withWriter(context.Background(), func(w *writer) error {
		_, err := w.ExecContext(context.Background(), fmt.Sprint("PRAGMA max_page_count = ", n))
		return err
	})
}
