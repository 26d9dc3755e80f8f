package alarm_test

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/internal/alarm"
)

// A limit ends something after a while without a sign of life.
type limit struct {
	clock *alarm.Clock
	over  time.Duration
	ended chan struct{}
}

func (l *limit) Ring(*alarm.Clock) {
	if now := l.clock.Now(); now < l.over { // there was a sign meanwhile
		l.clock.Set(l, now, l.over-now)
		return
	}
	close(l.ended)
}

func Example() {
	clock := alarm.New()
	defer clock.Stop()
	l := &limit{clock: clock, over: time.Millisecond, ended: make(chan struct{})}
	clock.Set(l, 0, l.over)
	<-l.ended
	fmt.Println("ended")
	// Output: ended
}
