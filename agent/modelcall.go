package agent

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// A modelCall is what the goroutines of a run share of the model call under way. A run has a
// goroutine of its own, and the goroutine of Run or Stream waits for it. So a provider that ignores
// the end of its context can be abandoned like a tool, with the goroutine that it holds; the
// waiting goroutine then ends the run. Until it is abandoned, the loop's goroutine alone uses the
// driver.
type modelCall struct {
	take func(provider.Chunk, error) bool // driver.takeChunk, made once
	req  *provider.Request

	phase atomic.Int32
	over  chan struct{} // closed when the run's goroutine ends
	end   loopEnd       // how it has ended, if not normally
}

// The phases of a model call.
const (
	betweenCalls int32 = iota
	inProvider         // the provider is at work
	inChunk            // a chunk is collected and shown
	givenUp            // the loop's goroutine no longer counts: it was abandoned, or runtime.Goexit ended it
)

// A loopEnd says why a run's goroutine has ended early: the run couldn't begin, or a function of
// the host has ended the goroutine.
type loopEnd struct {
	refused  error
	panicked any
	goexit   bool
}

var errProviderGoexit = errors.New("agent: the provider ended its goroutine")

// drive performs a run, and returns when it has ended. A panic or runtime.Goexit of the host's loop
// over the stream continues on this goroutine.
func (x *driver) drive(in *Input) {
	c := &x.reply.call
	c.take, c.over = x.takeChunk, make(chan struct{})
	done := x.ctx.Done()
	go x.runLoop(in)
	defer func() {
		if x.begun {
			x.close()
		}
	}()
	var overdue <-chan time.Time
	for {
		select {
		case <-c.over:
			switch {
			case c.end.panicked != nil:
				panic(c.end.panicked)
			case c.end.goexit:
				runtime.Goexit()
			case c.end.refused != nil:
				x.yield(nil, c.end.refused)
			case c.phase.Load() == givenUp:
				x.takeOver(errProviderGoexit)
			}
			return
		case <-done:
			done, overdue = nil, time.After(grace)
		case <-overdue: // a model call under way began before the context ended
			if c.phase.CompareAndSwap(inProvider, givenUp) {
				x.agent.abandoned.Add(1)
				x.agent.logger.Error("agent: the provider ignores the end of its context and is abandoned",
					"session", x.name)
				x.takeOver(
					fmt.Errorf("agent: the provider ignored the end of its context for %s and was abandoned (%w)",
						grace, causeOf(x.ctx)))
				return
			}
			overdue = time.After(grace)
		}
	}
}

// runLoop is a run's goroutine. Everything that needs a large stack happens here, so that the
// waiting goroutine stays small.
func (x *driver) runLoop(in *Input) {
	c := &x.reply.call
	finished := false
	defer func() {
		if !finished && c.phase.Load() != givenUp {
			v := recover()
			c.end.panicked, c.end.goexit = v, v == nil
		}
		close(c.over)
	}()
	if c.end.refused = x.begin(in); c.end.refused == nil {
		x.beginRun(in.resumes())
		x.flush()
		x.loop()
	}
	finished = true
}

// takeOver ends the run on the waiting goroutine, after the loop's goroutine was lost in a model
// call.
func (x *driver) takeOver(err error) {
	func() {
		defer x.endStep()
		x.reply.err = err
		if !x.leaseLost() {
			x.stepFailed(err, x.reply.call.req)
		}
	}()
	x.loop()
}

// stream shows the chunks of a reply and collects them. It contains a panic of the provider, but
// not one of the consumer. If the call was abandoned meanwhile, it ends the goroutine.
func (x *driver) stream(req *provider.Request) {
	c := &x.reply.call
	c.req = req
	ctx, returned := x.stepCtx(), false
	c.phase.Store(inProvider) // from here on, the driver may belong to the waiting goroutine
	defer func() {
		if !c.phase.CompareAndSwap(inProvider, betweenCalls) && c.phase.Load() == givenUp {
			// it was abandoned: the driver isn't ours any more
			_ = recover()
			x.agent.abandoned.Add(-1)
			x.agent.logger.Warn("agent: a model call that was abandoned has ended", "session", x.name)
			runtime.Goexit()
		}
		if x.yielding && !returned {
			return // the body of the host's loop has ended this goroutine
		}
		if v := recover(); v != nil {
			x.reply.err = panicked(v)
		} else if !returned {
			c.phase.Store(givenUp) // the provider has ended this goroutine
		}
	}()
	x.agent.provider.Stream(ctx, req)(c.take)
	returned = true
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
