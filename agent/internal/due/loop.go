package due

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"
)

// A Config configures a [Loop]. List and Drive are required.
type Config struct {
	// List yields what is due, in any order. An error with a session is about that session alone;
	// one without ends the list. A search takes the first 1,000 that it can drive, and the sequence
	// may end there.
	List func(ctx context.Context) iter.Seq2[Item, error]
	// Claim, if it isn't nil, takes what an Item without a session stands for: the first of others
	// that wait elsewhere, in an order of their own. It returns the session, which is driven next,
	// or an empty name if there is none any more. A search follows.
	Claim func(ctx context.Context) (session string, err error)
	// PutBack, if it isn't nil, takes back a session that Claim has returned and that is still
	// driven here, so that it can be claimed later.
	PutBack func(ctx context.Context, session string)
	// Drive drives a session until there is nothing to do for it now. It is called from several
	// goroutines at a time, for one session from one. The item may be as old as Interval, so Drive
	// checks what it finds. An error means that the session is tried again later; see [ErrLater].
	Drive func(ctx context.Context, session string) error
	// Interval is the time from the end of a search to the next; 0: 1 s.
	Interval time.Duration
	Parallel int          // how many sessions are driven at a time; 0: 8
	Logger   *slog.Logger // nil: nothing is logged
}

// An Item is a session that is due, or, without one, what Config.Claim takes.
type Item struct {
	Session  string
	Priority int       // a higher one comes first
	Since    time.Time // when it became due, or near that; of one priority, the earliest comes first
}

// ErrLater is for a Config.Drive that has left a session alone, because another process drives it,
// for example. The session is tried again after two to three intervals at most, and nothing is
// logged.
var ErrLater = errors.New("due: the session is left alone for now")

// A Loop finds sessions that are due, and drives them. Make one with [New]. Its methods may be
// called in any order, and are safe for concurrent use. A Loop that was stopped stays stopped.
type Loop struct {
	cfg   Config        // fixed at creation
	wake  chan struct{} // asks for a search; holds one
	slots chan struct{} // holds one for each session that is driven
	work  sync.WaitGroup

	queue []Item // what is due and isn't driven yet; of the goroutine that searches

	mu       sync.Mutex      // guards what follows
	stop     func()          // ends searching; nil before Start and Stop
	driven   map[string]bool // the sessions that are driven; true: poked meanwhile
	failures map[string]failure
}

// New returns a Loop, which does nothing before [Loop.Start].
func New(cfg Config) *Loop {
	cfg.Interval, cfg.Parallel = cmp.Or(cfg.Interval, time.Second), cmp.Or(cfg.Parallel, 8)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Loop{cfg: cfg, wake: make(chan struct{}, 1), slots: make(chan struct{}, cfg.Parallel),
		driven: make(map[string]bool), failures: make(map[string]failure)}
}

// Start begins to search, at once for the first time. ctx is that of all searches and drives; its
// end stops the Loop as [Loop.Stop] does. A second call, or one after Stop, does nothing.
func (l *Loop) Start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		return
	}
	searching, stop := context.WithCancel(ctx)
	l.stop = stop
	l.request()
	l.work.Go(func() {
		defer stop()
		l.run(searching, ctx)
	})
}

// Stop ends searching at once. It doesn't interrupt what is driven, but waits for it: end the
// context of [Loop.Start], or drain what Config.Drive uses, to make that short.
func (l *Loop) Stop() {
	l.mu.Lock()
	if l.stop == nil {
		l.stop = func() {}
	}
	stop := l.stop
	l.mu.Unlock()
	stop()
	l.work.Wait()
}

// Poke says that something was posted to a session. A search is made as soon as a session can be
// driven, and what the session failed at before doesn't count. A Poke before Start does nothing.
func (l *Loop) Poke(session string) {
	l.mu.Lock()
	delete(l.failures, session)
	if _, driven := l.driven[session]; driven {
		l.driven[session] = true // it may have looked for posts for the last time
	}
	l.mu.Unlock()
	l.request()
}

// Drives reports whether this Loop drives a session, or has begun to. To Config.List that is what
// it was when the search began, but for sessions that are over.
func (l *Loop) Drives(session string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, driven := l.driven[session]
	return driven
}

// request asks for a search.
func (l *Loop) request() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run searches and drives until searching ends.
func (l *Loop) run(searching, driving context.Context) {
	again := time.AfterFunc(l.cfg.Interval, l.request)
	defer again.Stop()
	for {
		select {
		case l.slots <- struct{}{}:
		case <-searching.Done():
			return
		}
		session, ok := l.next(searching, again)
		if !ok {
			return
		}
		l.work.Go(func() {
			defer func() { <-l.slots }()
			err := errGoexit
			defer func() { l.ended(driving, session, err) }()
			err = l.cfg.Drive(driving, session)
		})
	}
}

// errGoexit is the error of a Config.Drive that has called runtime.Goexit.
var errGoexit = errors.New("due: Drive ended its goroutine")

// ended notes that a session isn't driven any more.
func (l *Loop) ended(ctx context.Context, session string, err error) {
	if err != nil {
		l.failed(ctx, session, err)
	}
	l.mu.Lock()
	poked := l.driven[session]
	delete(l.driven, session)
	if err == nil {
		delete(l.failures, session)
	}
	l.mu.Unlock()
	if poked {
		l.Poke(session)
	}
}
