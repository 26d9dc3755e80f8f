package sqlitefile

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retry runs try until its error isn't [Busy], for at most timeout after the first time, or until
// ctx ends. Each time SQLite has waited for 20 ms, and Retry waits for 1 to 5 ms more. A timeout of
// 0 or less means one try. If ctx has ended, Retry returns ctx.Err() without a try; if it ends
// during a wait, the error wraps that of the last try, too.
func Retry(ctx context.Context, timeout time.Duration, try func() error) error {
	var began time.Time
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := try()
		if err == nil || !Busy(err) { // the first costs nothing
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
