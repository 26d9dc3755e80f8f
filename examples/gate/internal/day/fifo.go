package day

import (
	"context"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A limiter limits concurrent calls and calls per minute, first come first served, as many services
// do. It doesn't know who waits.
type limiter struct {
	slots chan struct{} // goroutines that wait for room in a channel get it in the order in which they came

	mu        sync.Mutex // guards what follows
	perMinute float64
	level     float64 // requests that may go at once; less than 0: how many wait for their time
	at        time.Time
}

func newLimiter(slots, perMinute int) *limiter {
	return &limiter{slots: make(chan struct{}, slots), perMinute: float64(perMinute), level: float64(perMinute),
		at: time.Now()}
}

// acquire waits for a slot, and then for the rate.
func (l *limiter) acquire(ctx context.Context) error {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !pass(ctx, l.reserve()) {
		l.release()
		return context.Cause(ctx)
	}
	return nil
}

// reserve takes a request from the rate, and returns how long it must wait.
func (l *limiter) reserve() time.Duration {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.level = min(l.level+now.Sub(l.at).Minutes()*l.perMinute, l.perMinute)
	l.at = now
	l.level--
	if l.level >= 0 {
		return 0
	}
	return time.Duration(-l.level / l.perMinute * float64(time.Minute))
}

func (l *limiter) release() { <-l.slots }

// A naive caller calls a model behind a limiter, and retries as often as a guard does: after the
// provider's Retry-After, or after delays that double. It releases its slot before it waits, and
// then queues again behind all others.
type naive struct {
	model   *Model
	limiter *limiter
}

// The attempts by class, and the first and the longest delay.
const (
	limitedAttempts  = 10
	limitedDelay     = time.Second
	limitedLongest   = time.Minute
	degradedAttempts = 3
	degradedDelay    = 5 * time.Second
	degradedLongest  = 30 * time.Second
)

// call makes the call, and passes its chunks to onChunk.
func (n *naive) call(ctx context.Context, c *Call, onChunk func(provider.Chunk)) error {
	for attempt := 1; ; attempt++ {
		err := n.once(ctx, c, onChunk)
		if err == nil || ctx.Err() != nil {
			return err
		}
		attempts, wait, longest := 1, time.Duration(0), time.Duration(0)
		switch fault.Of(err) {
		case fault.RateLimited:
			attempts, wait, longest = limitedAttempts, limitedDelay, limitedLongest
		case fault.Degraded:
			attempts, wait, longest = degradedAttempts, degradedDelay, degradedLongest
		}
		if attempt >= attempts {
			return err
		}
		wait = min(wait<<(attempt-1), longest)
		if advice, ok := fault.RetryAfter(err); ok {
			wait = advice
		}
		if !pass(ctx, wait) {
			return context.Cause(ctx)
		}
	}
}

func (n *naive) once(ctx context.Context, c *Call, onChunk func(provider.Chunk)) error {
	if err := n.limiter.acquire(ctx); err != nil {
		return err
	}
	defer n.limiter.release()
	return listen(n.model.Stream(ctx, c.request()), onChunk)
}

// fifo is the side without Pawl: a limiter of the same size for each provider. Calls that finally
// failed at the primary go to the backup.
type fifo struct{ primary, backup naive }

func newFIFO(p *Plan) *fifo {
	primary, backup := p.models()
	return &fifo{naive{primary, newLimiter(primarySlots, primaryRate)},
		naive{backup, newLimiter(backupSlots, backupRate)}}
}

func (f *fifo) call(ctx context.Context, c *Call, onChunk func(provider.Chunk)) error {
	err := f.primary.call(ctx, c, onChunk)
	if fault.Retryable(fault.Of(err)) {
		err = f.backup.call(ctx, c, onChunk)
	}
	return err
}

func (f *fifo) models() (primary, backup *Model) { return f.primary.model, f.backup.model }

func (f *fifo) look(*SideTick) {}

func (f *fifo) close(*SideReport) {}
