package due

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/pawlkit/pawl/internal/backoff"
)

// The longest time after a failure, without the part that is random, unless the interval is longer:
// 16 intervals, and 5 minutes at most. What a session lacks, such as the tools of a server that is
// down, may be there again at any time.
const (
	longestIntervals = 16
	longest          = 5 * time.Minute
)

// A failure is what is known of a session that has failed.
type failure struct {
	count int       // in a row
	until time.Time // when the session is tried again
}

// failed notes that a session has failed. It does nothing when ctx has ended, which is then why.
func (l *Loop) failed(ctx context.Context, session string, err error) {
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	count := l.failures[session].count + 1
	if errors.Is(err, ErrLater) { // somebody may decide at any time
		count = min(count, 2)
	}
	every := l.cfg.Interval
	wait := backoff.Delays{Min: every, Max: max(every, min(longestIntervals*every, longest))}.After(count)
	wait += rand.N(wait/2 + 1) // processes that failed together don't come back together
	l.failures[session] = failure{count, time.Now().Add(wait)}
	l.mu.Unlock()
	if !errors.Is(err, ErrLater) {
		l.cfg.Logger.WarnContext(ctx, "due: a session has failed, and is left alone for a while", "session", session,
			"failures", count, "wait", wait, "error", err)
	}
}
