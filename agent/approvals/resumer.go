package approvals

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// A ResumerConfig makes a [Resumer]. The zero ResumerConfig works.
type ResumerConfig struct {
	// Parallel is how many runs continue at a time; 0: 8.
	Parallel int
	// Queue is how many sessions may wait for their turn; 0: 1,000.
	Queue int
	// Each, if it isn't nil, is told what became of each session that was resumed, and of those that couldn't be. It may
	// be called from several goroutines at a time, and mustn't wait for Close, which waits for it.
	Each func(agent.Recovered)
}

// Defaults of a [ResumerConfig].
const (
	DefaultParallel = 8
	DefaultQueue    = 1000
)

// What a Resumer does with a session that another run holds: it tries again, because that run may be about to pause
// without having seen the decision, or its process may be dead. A lease lasts 30 s.
const (
	busyEvery = time.Second
	busyFor   = 90 * time.Second
)

var (
	// ErrClosed says that a [Resumer] takes nothing up any more. What was decided stays in the journal for
	// [agent.Agent.Recover].
	ErrClosed = errors.New("approvals: the resumer is closed")
	// ErrQueueFull says that too many sessions wait. What was decided stays in the journal for [agent.Agent.Recover].
	ErrQueueFull = errors.New("approvals: too many sessions wait to continue; Agent.Recover takes up what is left")
)

// A Resumer lets runs continue that somebody has decided on. It owns their goroutines: Close waits for them. What it doesn't get
// to, because its process dies for example, is taken up by [agent.Agent.Recover], which a host calls from time to time.
type Resumer struct {
	// fixed at creation
	each     func(agent.Recovered)
	parallel int
	most     int
	ctx      context.Context // of the runs
	cancel   context.CancelCauseFunc
	idle     chan struct{} // closed when the resumer is closed and nothing runs

	mu      sync.Mutex // guards what follows
	known   map[resumption]*turn
	queue   []*turn
	working int
	closed  bool
}

// A resumption is a session to resume, and the agent to do it.
type resumption struct {
	agent   *agent.Agent
	session string
}

// A turn is a resumption that waits or is under way.
type turn struct {
	resumption
	again bool        // it was asked for once more while it was under way
	since time.Time   // when it was first found to be busy
	timer *time.Timer // when it is tried again
}

// NewResumer returns a Resumer. It starts no goroutine before there is something to do.
func NewResumer(cfg ResumerConfig) *Resumer {
	r := &Resumer{each: cfg.Each, parallel: cfg.Parallel, most: cfg.Queue, idle: make(chan struct{}), known: make(map[resumption]*turn)}
	if r.each == nil {
		r.each = func(agent.Recovered) {}
	}
	if r.parallel <= 0 {
		r.parallel = DefaultParallel
	}
	if r.most <= 0 {
		r.most = DefaultQueue
	}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	return r
}

// Decided resumes the session of a decision: it is a Config.OnDecided. What can't be taken up is told to Each.
func (r *Resumer) Decided(_ context.Context, d Decided) {
	if err := r.Go(d.Agent, d.Session); err != nil {
		r.each(agent.Recovered{Session: d.Session, Err: err})
	}
}

// Go resumes a session, soon, and returns at once. A session that waits already is resumed once; one that is being
// resumed is looked at again afterwards. The error is [ErrClosed] or [ErrQueueFull].
func (r *Resumer) Go(a *agent.Agent, session string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	key := resumption{a, session}
	if t := r.known[key]; t != nil {
		t.again = true
		return nil
	}
	if len(r.known) >= r.parallel+r.most {
		return ErrQueueFull
	}
	t := &turn{resumption: key}
	r.known[key] = t
	r.enqueue(t)
	return nil
}

// enqueue lets a turn wait for a goroutine. mu is held.
func (r *Resumer) enqueue(t *turn) {
	r.queue = append(r.queue, t)
	if r.working < r.parallel {
		r.working++
		go r.work()
	}
}

// work resumes what waits until nothing does.
func (r *Resumer) work() {
	for {
		r.mu.Lock()
		if r.closed || len(r.queue) == 0 {
			r.working--
			r.rest()
			r.mu.Unlock()
			return
		}
		t := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		t.again = false
		r.mu.Unlock()
		r.resume(t)
	}
}

// resume resumes a session once.
func (r *Resumer) resume(t *turn) {
	res, err := t.agent.Run(r.ctx, agent.Continue(t.session))
	var (
		busy   *agent.BusyError
		none   *agent.NothingOpenError
		paused *agent.PausedError
	)
	held := res == nil && errors.As(err, &busy)
	idle := res == nil && (errors.As(err, &none) || errors.As(err, &paused)) // somebody else has resumed it
	if r.over(t, held) && !idle {
		r.each(agent.Recovered{Session: t.session, Result: res, Err: err})
	}
}

// over ends a turn, or lets it wait for another try. It reports whether the outcome is to be told.
func (r *Resumer) over(t *turn, held bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if held && t.since.IsZero() {
		t.since = now
	}
	switch {
	case r.closed:
		delete(r.known, t.resumption)
	case held && now.Sub(t.since) < busyFor:
		t.timer = time.AfterFunc(busyEvery, func() { r.retry(t) })
		return false
	case t.again:
		t.since = time.Time{}
		r.enqueue(t)
	default:
		delete(r.known, t.resumption)
	}
	return true
}

func (r *Resumer) retry(t *turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.enqueue(t)
	}
}

// rest closes idle if nothing runs and nothing will. mu is held.
func (r *Resumer) rest() {
	if r.closed && r.working == 0 {
		close(r.idle)
	}
}

// Close takes nothing up any more and waits for the runs under way. If ctx ends first, it stops them at once and waits for
// that. To let them pause instead of stop, drain their agents before: see [agent.Agent.Drain]. What still waited stays in
// the journal. Closing again waits, too.
func (r *Resumer) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		for _, t := range r.known {
			if t.timer != nil {
				t.timer.Stop()
			}
		}
		r.queue = nil
		r.rest()
	}
	r.mu.Unlock()
	var err error
	select {
	case <-r.idle:
	case <-ctx.Done():
		err = context.Cause(ctx)
		r.cancel(err)
		<-r.idle
	}
	r.cancel(nil)
	return err
}
