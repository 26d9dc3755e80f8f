package guard

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// errHedged is the cause with which the slower of two calls is canceled. It is no failure.
var errHedged = fault.New(fault.None, "guard: another call has answered first")

// A race is a relay with a goroutine for each call in progress: at most two, of which the first one
// with content wins. The consumer is called in its own goroutine. All goroutines have ended when
// the race is over.
type race struct {
	*relay
	running []*runner // in the order in which they were started
	won     bool      // content was shown, by the one that still runs
	next    int       // the provider to ask next
	timer   *time.Timer
	done    sync.WaitGroup
}

// A runner is one call in progress.
type runner struct {
	member int
	cancel context.CancelCauseFunc
	items  chan item     // closed when the call is over
	gone   chan struct{} // closed when the consumer no longer receives
	start  provider.Chunk
	held   bool
}

type item struct {
	chunk provider.Chunk
	err   error
}

// hedged is run for a chain with a Hedge.
func (r *relay) hedged() {
	x := &race{relay: r}
	defer x.stop()
	x.timer = time.NewTimer(r.chain.cfg.Hedge)
	x.launch(0)
	for len(x.running) > 0 {
		from, it, ok := x.receive()
		switch {
		case from == nil:
			x.hedge()
		case !ok:
			x.lost(from, nil)
		case it.err != nil:
			x.lost(from, usable(it.err))
		default:
			x.take(from, it.chunk)
		}
		if r.stopped {
			return
		}
	}
}

// stop ends all calls and waits for them. It is deferred: the loop body may have panicked.
func (x *race) stop() {
	x.timer.Stop()
	for _, run := range x.running {
		run.end(errLeft)
	}
	x.done.Wait()
}

func (run *runner) end(cause error) {
	close(run.gone)
	run.cancel(cause)
}

// launch starts a call of that provider.
func (x *race) launch(i int) {
	ctx, cancel := context.WithCancelCause(x.ctx)
	run := &runner{member: i, cancel: cancel, items: make(chan item), gone: make(chan struct{})}
	x.running = append(x.running, run)
	x.next = max(x.next, i+1)
	m, req := x.member(i), x.req
	hinted := x.hinted(ctx, i)
	x.done.Go(func() { run.produce(hinted, m, req) })
}

// produce is the goroutine of a call. What the provider yields after gone is closed is dropped.
func (run *runner) produce(ctx context.Context, m *member, req *provider.Request) {
	returned := false
	defer close(run.items)
	defer run.cancel(nil)
	defer func() {
		if v := recover(); v != nil {
			run.send(provider.Chunk{}, stream.NewPanicError("the provider", v))
		} else if !returned {
			run.send(provider.Chunk{}, errGoexit)
		}
	}()
	if seq := m.provider.Stream(ctx, own(req, m.foreign)); seq != nil {
		seq(func(chunk provider.Chunk, err error) bool { return run.send(chunk, err) && err == nil })
	}
	returned = true
}

func (run *runner) send(chunk provider.Chunk, err error) bool {
	select {
	case <-run.gone:
		return false
	default:
	}
	select {
	case run.items <- item{chunk, err}:
		return true
	case <-run.gone:
		return false
	}
}

// receive returns the next chunk and its call; none if it is time for a second call.
func (x *race) receive() (*runner, item, bool) {
	var hedge <-chan time.Time
	if !x.won && len(x.running) == 1 {
		hedge = x.timer.C
	}
	var second chan item
	if len(x.running) > 1 {
		second = x.running[1].items
	}
	select {
	case it, ok := <-x.running[0].items:
		return x.running[0], it, ok
	case it, ok := <-second:
		return x.running[1], it, ok
	case <-hedge:
		return nil, item{}, false
	}
}

// hedge starts a second call: of the next provider, or of the same if there is none.
func (x *race) hedge() {
	first := x.running[0].member
	i := first
	if x.next < len(x.chain.members) {
		i = x.next
	}
	tell(x.ctx, x.chain.cfg.OnEvent,
		Hedged{From: x.member(first).name, To: x.member(i).name, After: x.chain.cfg.Hedge})
	x.launch(i)
}

// take yields a chunk of a call, or holds it back until a call has won.
func (x *race) take(run *runner, chunk provider.Chunk) {
	if x.won {
		x.pass(chunk)
		return
	}
	switch chunk.Kind {
	case provider.KindWaiting:
		if run == x.running[0] { // if both calls wait, only one Waiting is shown
			x.show(chunk)
		}
	case provider.KindStart:
		run.start, run.held = chunk, true
	case provider.KindReset:
		run.held = false
	default:
		for _, other := range x.running {
			if other != run {
				other.end(errHedged)
			}
		}
		x.running, x.won = append(x.running[:0], run), true
		x.relay.start, x.relay.held = run.start, run.held
		x.pass(chunk)
	}
}

// lost ends a call that has ended or failed. If it was the only one, the next provider is called.
func (x *race) lost(run *runner, err error) {
	run.end(nil)
	x.running = slices.DeleteFunc(x.running, func(other *runner) bool { return other == run })
	if err == nil {
		if x.won && x.ended {
			return
		}
		err = provider.ErrIncomplete
	}
	x.err = err
	if len(x.running) > 0 {
		if x.ctx.Err() == nil && movesOn(err) { // the other one may answer yet
			x.record(run.member, err)
			return
		}
		x.running[0].end(errHedged)
		x.running = nil
	}
	if x.moveOn(run.member, x.next) {
		x.held, x.won = false, false
		x.timer.Reset(x.chain.cfg.Hedge)
		x.launch(x.next)
	}
}
