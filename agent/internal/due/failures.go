package due

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The longest time after a failure, without the part that is random, unless the interval is longer:
// 16 intervals, and 5 minutes at most. What a session lacks, such as the tools of a server that is
// down, may be there again at any time.
const (
	longestIntervals = 16
	longest          = 5 * time.Minute
)

// failures are the sessions that failed, and when they are tried again.
type failures map[string]failure

type failure struct {
	count int // in a row
	until time.Time
}

// add counts a failure, and returns the time until the session is tried again.
func (f failures) add(session string, interval time.Duration) (count int, wait time.Duration) {
	count, wait = f[session].count+1, interval
	most := min(longestIntervals*interval, longest)
	for n := 1; n < count && wait < most; n++ {
		wait = min(2*wait, most)
	}
	wait += rand.N(wait/2 + 1) // processes that failed together don't come back together
	f[session] = failure{count, time.Now().Add(wait)}
	return count, wait
}

// block reports whether it is too early to try a session again.
func (f failures) block(session string, now time.Time) bool { return now.Before(f[session].until) }

// over returns the sessions that may be tried again. Those that a search doesn't find any more can
// be forgotten.
func (f failures) over(now time.Time) map[string]bool {
	over := make(map[string]bool)
	for session := range f {
		if !f.block(session, now) {
			over[session] = true
		}
	}
	return over
}

// failed notes that a session has failed. It does nothing when ctx has ended, which is then why.
func (l *Loop) failed(ctx context.Context, session string, err error) {
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	count, wait := l.failures.add(session, l.cfg.Interval)
	l.mu.Unlock()
	if !errors.Is(err, ErrLater) {
		l.cfg.Logger.WarnContext(ctx, "due: a session has failed, and is left alone for a while", "session", session,
			"failures", count, "wait", wait, "error", err)
	}
}
