package site

import (
	"log/slog"
	"time"
)

// An Outage says once that something can't be done, because the database doesn't answer for
// example, and once that it can be done again. Its zero value with a Log and a Doing is ready. It
// isn't safe for concurrent use.
type Outage struct {
	Log   *slog.Logger
	Doing string // as in "deciding"

	since time.Time // zero: it can be done
	wait  time.Duration
}

// longest is the longest time between two tries during an outage.
const longest = 30 * time.Second

// After notes whether a try has succeeded, and returns how long to wait before the next: usual, or
// after errors twice as long each time, up to 30 s.
func (o *Outage) After(err error, usual time.Duration) time.Duration {
	switch {
	case err == nil && !o.since.IsZero():
		o.Log.Info(o.Doing+" works again", "after", time.Since(o.since).Round(time.Second))
		o.since = time.Time{}
	case err != nil && o.since.IsZero():
		o.Log.Error(o.Doing+" fails; it is tried again until it works", "error", err)
		o.since, o.wait = time.Now(), usual
	}
	if err == nil {
		return usual
	}
	o.wait = min(2*o.wait, longest)
	return o.wait
}
