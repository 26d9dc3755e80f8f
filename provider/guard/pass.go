package guard

import (
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
)

// fits reports whether the chunk is to be shown, and ends the attempt if it isn't. A provider may
// call the loop body after it has returned false, though it must not.
func (c *call) fits(chunk *provider.Chunk, err error) bool {
	if c.failed || c.stopped || c.body {
		return false
	}
	if err == nil && (c.dog.Fired() == nil || c.ended || chunk.Kind == provider.KindEnd) {
		if err = c.grammar.Next(chunk); err == nil {
			c.written += int64(len(chunk.Text))
			if chunk.Kind == provider.KindText && c.written <= c.room || c.suits(chunk, &err) {
				c.show(chunk)
				return true
			}
		}
	}
	c.failed, c.err = true, usable(err)
	return false
}

// suits is the slow path of fits, for chunks that aren't text and for growth beyond the
// reservation.
func (c *call) suits(chunk *provider.Chunk, err *error) bool {
	if !c.guard.guarded {
		return true
	}
	if chunk.Kind != provider.KindText {
		c.weigh(chunk)
		if !c.protect(chunk.Kind) {
			*err = ratelimit.ErrPreempted
			return false
		}
	}
	if c.written > c.room {
		*err = c.topUp()
	}
	return *err == nil
}

// show is called before the consumer gets a chunk, and shown when it is done with it: in between,
// the clock of the silence rests.
func (c *call) show(chunk *provider.Chunk) {
	if chunk.Kind == provider.KindText {
		c.content = true
	} else {
		c.remember(chunk.Kind)
	}
	c.dog.Hold(chunk)
	c.body = true
}

func (c *call) shown(ok bool) bool {
	c.body, c.stopped = false, !ok
	c.dog.Wait()
	return ok
}

// remember records what decides whether the answer may be made again.
func (c *call) remember(kind provider.ChunkKind) {
	switch kind {
	case provider.KindWaiting:
	case provider.KindStart:
		c.begun = true
	case provider.KindReset:
		c.begun, c.content = false, false
	case provider.KindProviderCall:
		c.content, c.effects = true, true
	case provider.KindEnd:
		c.ended = true
	default:
		c.content = true
	}
}

// yieldOwn yields a chunk of the guard's own.
func (c *call) yieldOwn(chunk provider.Chunk) bool {
	if c.grammar.Next(&chunk) != nil {
		return true // can't be: Reset fits everywhere, and Waiting after it
	}
	c.show(&chunk)
	return c.shown(c.yield(chunk, nil))
}
