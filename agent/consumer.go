package agent

import (
	"context"
	"sync"
	"sync/atomic"
)

// maxQueue is how many events may wait to be shown before a note of the host is left out, and
// before a subagent waits.
const maxQueue = 1024

// A consumer is who ranges over the events of a run.
type consumer struct {
	log      *sessionLog
	yield    func(Event, error) bool
	left     bool        // yield must not be called again
	yielding bool        // the body of the loop is running; stays set if that panics
	busy     bool        // the queue is being shown; guarded
	poked    atomic.Bool // something was posted to the session during the run, or it is to stop
	shown    []Event     // the queue of the last flush, emptied, to be used again

	wake chan struct{} // wakes the driving goroutine while it waits for calls
	room sync.Cond     // the queue was shown
}

// flush shows the queued events. Only the driving goroutine may call it. Events that others queue
// meanwhile are shown by the next flush: there is one after each call and one after the end.
func (c *consumer) flush() {
	c.log.Lock()
	if len(c.log.queue) > 0 { // whoever reads them may take long
		_ = c.log.FlushLocked()
	}
	events := c.log.queue
	c.log.queue, c.shown = c.shown, nil // nil, because show may lead to another flush
	if c.busy = len(events) > 0; c.busy {
		c.room.Broadcast()
	}
	c.log.Unlock()
	for _, ev := range events {
		c.show(ev)
	}
	c.log.Lock()
	c.busy = false
	c.log.Unlock()
	clear(events)
	c.shown = events[:0]
}

// tell shows a note after the events so far. Only the driving goroutine may call it; others queue
// theirs ([sessionLog.note]).
func (c *consumer) tell(ev Event) {
	c.log.Lock()
	c.log.note(ev)
	c.log.Unlock()
	c.flush()
}

// show yields one event, unless the consumer has left. It returns false if the consumer has left.
func (c *consumer) show(ev Event) bool {
	if c.left {
		return false
	}
	c.yielding = true
	if !c.yield(ev, nil) {
		c.left = true
		c.log.Cancel(errLeft)
	}
	c.yielding = false
	return !c.left
}

// Wake wakes the driving goroutine while it waits for calls.
func (c *consumer) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Poke wakes the driving goroutine, and makes it look into the inbox once more after the run.
func (c *consumer) Poke() { c.poked.Store(true); c.Wake() }

// forward shows an event of the work of a call, such as a subagent. If too many events wait to be
// shown, it waits, unless ctx ends. Goroutines of that call call it.
func (c *consumer) forward(ctx context.Context, ev Event) {
	c.log.Lock()
	defer c.log.Unlock()
	if len(c.log.queue) >= maxQueue {
		stop := context.AfterFunc(ctx, func() {
			c.log.Lock()
			defer c.log.Unlock()
			c.room.Broadcast()
		})
		defer stop()
		for len(c.log.queue) >= maxQueue && ctx.Err() == nil {
			c.room.Wait()
		}
	}
	c.log.note(ev)
	c.Wake()
}

// fail yields an error as the last event.
func (c *consumer) fail(err error) {
	c.yield(nil, err)
	c.left = true
}

// memoryWarning shows and logs a warning about the memory.
func (c *consumer) memoryWarning(text string) {
	text = c.log.agent.redact.Text(text)
	c.log.agent.logger.WarnContext(c.log.ctx, "agent: memory", "session", c.log.Name, "run", c.log.Origin().Run,
		"warning", text)
	c.log.Lock()
	defer c.log.Unlock()
	c.log.note(&MemoryWarning{NoteMeta: c.log.noteMeta(), Text: text})
}
