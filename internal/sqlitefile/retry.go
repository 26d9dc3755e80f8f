package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// Retry runs try until its error isn't [Busy], for at most timeout after the first time, or until
// ctx ends. Each time SQLite has waited for 20 ms, and Retry waits for 1 to 5 ms more. A timeout of
// 0 or less means one try. If ctx has ended, Retry returns ctx.Err() without a try. If it ends
// during a wait or interrupts a try, the error wraps ctx.Err() and that of the last try.
func Retry(ctx context.Context, timeout time.Duration, try func() error) error {
	var began time.Time
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := try()
		switch {
		case err == nil:
			return nil // costs nothing more
		case ctx.Err() != nil && (code(err) == sqlite3.SQLITE_INTERRUPT || errors.Is(err, sql.ErrTxDone)):
			return fmt.Errorf("%w: %w", ctx.Err(), err) // these errors don't always have it
		case !Busy(err):
			return err
		}
		if began.IsZero() {
			began = time.Now()
		}
		if time.Since(began) >= timeout {
			return err
		}
		timer := time.NewTimer(time.Millisecond + rand.N(4*time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}
