package alarm

import (
	"math"
	"sync"
	"time"
)

// A Ringer is told when its alarm rings: at the time it was set for, or earlier, by the Clock that it was set with. It is on a
// goroutine of the Clock's. Its type has to be comparable.
type Ringer interface{ Ring(*Clock) }

// A Clock has alarms, and one timer for all of them. It counts from Start. It is safe for concurrent use, and must not be copied after
// its first use.
type Clock struct {
	start time.Time // fixed after Start

	mu     sync.Mutex // guards what follows
	timer  *time.Timer
	rings  time.Duration // when the timer fires; 0: it doesn't run; closed: it never does again
	alarms []alarm
	room   [3]alarm
}

// An alarm is set for a time; 0: it isn't set.
type alarm struct {
	of Ringer
	at time.Duration
}

// New returns a Clock that counts from now.
func New() *Clock {
	c := new(Clock)
	c.Start()
	return c
}

// Start has the Clock count from now. It is called once, before all else.
func (c *Clock) Start() {
	c.start = time.Now()
	c.alarms = c.room[:0]
}

// Now returns the time since Start.
func (c *Clock) Now() time.Duration { return time.Since(c.start) }

// At returns a time as the Clock counts it.
func (c *Clock) At(t time.Time) time.Duration { return t.Sub(c.start) }

// Time is the opposite of At.
func (c *Clock) Time(at time.Duration) time.Time { return c.start.Add(at) }

// forever is longer than anything takes, and short enough to add to a time.
const forever = math.MaxInt64 / 2

// closed is when the timer of a Clock fires that is closed.
const closed = -1

// Set has r rung within a time from now, which is what Now has returned. If it is to be rung earlier than that already, or the
// Clock is closed, nothing changes.
func (c *Clock) Set(r Ringer, now, within time.Duration) {
	at := max(now+min(within, forever), 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rings == closed {
		return
	}
	a := c.alarm(r)
	if a.at != 0 && a.at <= at {
		return
	}
	a.at = at
	if c.rings == 0 || at < c.rings {
		c.arm(now, at)
	}
}

// alarm returns the alarm of r. mu is held.
func (c *Clock) alarm(r Ringer) *alarm {
	for i := range c.alarms {
		if c.alarms[i].of == r {
			return &c.alarms[i]
		}
	}
	c.alarms = append(c.alarms, alarm{of: r})
	return &c.alarms[len(c.alarms)-1]
}

// firstLook is when the timer fires first at the latest, for nobody: the alarms that follow the first are most often for
// earlier than that one, and to move a timer takes almost as long as to make it.
const firstLook = 5 * time.Second

// arm has the timer fire at a time. mu is held.
func (c *Clock) arm(now, at time.Duration) {
	if c.timer == nil {
		c.rings = min(at, now+firstLook)
		c.timer = time.AfterFunc(c.rings-now, c.fire)
		return
	}
	c.rings = at
	c.timer.Reset(at - now)
}

// fire is the timer's. It rings the alarm whose time has come, and leaves the next to another timer.
func (c *Clock) fire() {
	c.mu.Lock()
	if c.rings <= 0 { // stopped meanwhile
		c.mu.Unlock()
		return
	}
	c.rings = 0
	var due Ringer
	next, now := time.Duration(0), c.Now()
	for i := range c.alarms {
		switch a := &c.alarms[i]; {
		case a.at == 0:
		case a.at <= now && due == nil:
			due, a.at = a.of, 0
		case next == 0 || a.at < next:
			next = a.at
		}
	}
	if next != 0 {
		c.arm(now, next)
	}
	c.mu.Unlock()
	if due != nil {
		due.Ring(c)
	}
}

// Running reports whether the timer runs.
func (c *Clock) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rings > 0
}

// Stop forgets all alarms. The Clock may be used again.
func (c *Clock) Stop() { c.stop(0) }

// Close forgets all alarms, also those that whoever is being rung sets from now on.
func (c *Clock) Close() { c.stop(closed) }

func (c *Clock) stop(rings time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.rings != closed {
		c.rings = rings
	}
	for i := range c.alarms {
		c.alarms[i].at = 0
	}
}
