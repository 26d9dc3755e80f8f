package abandon

import (
	"context"
	"sync/atomic"
	"time"
)

// Grace is how long a function has to return after its context has ended, before it is abandoned.
const Grace = 5 * time.Second

// Reports are called when a function is abandoned. The zero value is valid.
type Reports struct {
	Grace time.Duration // the time that the function has to return; 0: Grace
	// Abandoned, if it isn't nil, is called by the goroutine that has waited for the function.
	Abandoned func()
	// Returned, if it isn't nil, is called when an abandoned function has returned after all, or
	// ended its goroutine, by that goroutine and after Abandoned has returned.
	Returned func()
}

// Do calls f on a goroutine of its own and waits for it. If f hasn't returned within the grace
// period after the end of ctx, f is abandoned, and Do returns false: from then on, the caller must
// not read what f writes. Do returns true if f has returned, or ended its goroutine
// (runtime.Goexit). A panic of f isn't recovered.
func Do(ctx context.Context, r Reports, f func()) (returned bool) {
	c := begin(r, f)
	select {
	case <-c.done:
		return true
	case <-ctx.Done():
		return c.leave()
	}
}

// A call is a function that runs on a goroutine of its own.
type call struct {
	Reports
	done     chan struct{} // closed when the function has returned in time
	reported chan struct{} // closed when Abandoned has returned
	decided  atomic.Bool   // the function has returned in time, or was abandoned
}

func begin(r Reports, f func()) *call {
	if r.Grace <= 0 {
		r.Grace = Grace
	}
	c := &call{Reports: r, done: make(chan struct{}), reported: make(chan struct{})}
	go func() {
		defer func() { // also if f ends this goroutine
			if !c.decided.Swap(true) {
				close(c.done)
				return
			}
			<-c.reported
			if c.Returned != nil {
				c.Returned()
			}
		}()
		f()
	}()
	return c
}

// leave waits for the function, whose context has ended, and reports whether it has returned in
// time.
func (c *call) leave() bool {
	late := time.NewTimer(c.Grace)
	defer late.Stop()
	select {
	case <-c.done:
		return true
	case <-late.C:
	}
	if c.decided.Swap(true) { // just in time
		<-c.done
		return true
	}
	defer close(c.reported)
	if c.Abandoned != nil {
		c.Abandoned()
	}
	return false
}
