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

func (l *limit) Ring() {
	if l.clock.Now() < l.over { // there was a sign meanwhile
		l.clock.Set(l, l.over)
		return
	}
	close(l.ended)
}

func Example() {
	clock := alarm.New()
	defer clock.Stop()
	l := &limit{clock: clock, over: time.Millisecond, ended: make(chan struct{})}
	clock.Set(l, l.over)
	<-l.ended
	fmt.Println("ended")
	// Output: ended
}
