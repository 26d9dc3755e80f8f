package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// A modelCall is a call of the provider. It has a goroutine of its own, so that a provider that ignores the end of its context can be
// abandoned like a tool. The driving goroutine waits meanwhile: what is of that goroutine, a chunk may use, until the call is abandoned.
// That includes showing events, so the body of a loop over a stream runs on the goroutine of the model call as well.
type modelCall struct {
	run  func() // driver.callProvider, made once
	take func(provider.Chunk, error) bool
	ctx  context.Context
	req  *provider.Request

	phase atomic.Int32
	over  chan struct{} // receives when the call has ended and wasn't abandoned
	end   callEnd       // how it has ended
}

// The phases of a model call.
const (
	inProvider int32 = iota // the provider is at work
	inChunk                 // a chunk is collected and shown
	callEnded
	callAbandoned
)

// A callEnd says how the loop's body ended the goroutine of a model call, if it did.
type callEnd struct {
	panicked any
	goexit   bool
}

var errProviderGoexit = errors.New("agent: the provider ended its goroutine")

// stream makes a model call. It returns when the call has ended, or when the run's context has ended and the provider has ignored that for 5 s. A
// panic or runtime.Goexit of the loop's body continues on this goroutine; a panic of the provider is an error.
func (x *driver) stream(req *provider.Request) {
	c := &x.reply.call
	c.ctx, c.req = x.stepCtx(), req
	c.phase.Store(inProvider)
	go c.run()
	done := x.ctx.Done()
	var overdue <-chan time.Time
	for {
		select {
		case <-c.over:
			switch {
			case c.end.panicked != nil:
				panic(c.end.panicked)
			case c.end.goexit:
				runtime.Goexit()
			}
			return
		case <-done:
			done, overdue = nil, time.After(grace)
		case <-overdue:
			if c.phase.CompareAndSwap(inProvider, callAbandoned) {
				x.abandonProvider()
				return
			}
			overdue = time.After(grace) // the loop's body is running
		}
	}
}

// abandonProvider gives up a model call. What the provider still yields is dropped.
func (x *driver) abandonProvider() {
	x.agent.abandoned.Add(1)
	x.agent.logger.Error("agent: the provider ignores the end of its context and is abandoned", "session", x.name)
	x.reply.err = fmt.Errorf("agent: the provider ignored the end of its context for %s and was abandoned (%w)", grace, causeOf(x.ctx))
}

// callProvider is the goroutine of a model call.
func (x *driver) callProvider() {
	c := &x.reply.call
	returned := false
	defer func() {
		v := recover()
		switch {
		case x.endCall():
			x.agent.abandoned.Add(-1)
			x.agent.logger.Warn("agent: a model call that was abandoned has ended", "session", x.name)
			return
		case x.yielding: // the loop's body has ended this goroutine
			c.end = callEnd{panicked: v, goexit: v == nil}
		case v != nil:
			x.reply.err = &PanicError{Value: v, Stack: debug.Stack()}
		case !returned:
			x.reply.err = errProviderGoexit
		}
		c.over <- struct{}{}
	}()
	x.agent.provider.Stream(c.ctx, c.req)(c.take)
	returned = true
}

// endCall ends a model call. It reports whether the call was abandoned.
func (x *driver) endCall() (abandoned bool) {
	return x.reply.call.phase.Swap(callEnded) == callAbandoned
}

// takeChunk is take for the provider.
func (x *driver) takeChunk(chunk provider.Chunk, err error) bool {
	c := &x.reply.call
	if !c.phase.CompareAndSwap(inProvider, inChunk) {
		return false // it was abandoned, or the provider yields after its end
	}
	more := x.take(chunk, err)
	c.phase.Store(inProvider)
	return more
}

// prepare makes what the model calls of a run share.
func (c *modelCall) prepare(x *driver) {
	c.run, c.take, c.over = x.callProvider, x.takeChunk, make(chan struct{}, 1)
}
