package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// channel is that of the notices. The payload of one is the store's schema, a space and a
	// session, or, for a probe, the schema, an exclamation mark and a random text.
	channel = "pawl_inbox"
	// probeEvery is how often the listener tries whether notices arrive, and probeTime how long one
	// may take.
	probeEvery = 10 * time.Second
	probeTime  = 5 * time.Second
	// pollEvery is how often all are woken while notices don't arrive.
	pollEvery = 500 * time.Millisecond
	// listenAgain is how long after a failure the listener connects again, and listenSeldom how
	// long if notices don't arrive: behind a pooler each try leaves a LISTEN on one of its
	// connections.
	listenAgain  = 15 * time.Second
	listenSeldom = 10 * time.Minute
)

// errNoNotices says that notices don't arrive, as behind a pooler in transaction mode.
var errNoNotices = errors.New("postgres: the server's notices don't arrive")

// A listener says to which sessions something was posted. It has a connection of its own, from the
// first call of Posted on. While notices don't arrive, it says so of all sessions, twice a second.
type listener struct {
	connect func(context.Context) (*pgx.Conn, error)
	notify  func(ctx context.Context, payload string) error // by another connection
	schema  string
	every   time.Duration // probeEvery

	ctx  context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex // guards what follows
	started bool
	heard   bool                       // notices arrive
	waiting map[string][]chan struct{} // by session
}

func newListener(l *listener) *listener {
	l.every = probeEvery
	l.ctx, l.end = context.WithCancel(context.Background())
	l.waiting = make(map[string][]chan struct{})
	return l
}

// Posted implements [journal.Notifier].
func (s *Store) Posted(session string) (posted <-chan struct{}, stop func()) {
	l, wake := s.listener, make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[session] = append(l.waiting[session], wake)
	if !l.started && l.ctx.Err() == nil {
		l.started = true
		l.work.Go(l.run)
		l.work.Go(l.poll)
	}
	return wake, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		rest := slices.DeleteFunc(l.waiting[session], func(w chan struct{}) bool { return w == wake })
		if l.waiting[session] = rest; len(rest) == 0 {
			delete(l.waiting, session)
		}
	}
}

// close ends the listener.
func (l *listener) close() {
	l.mu.Lock()
	l.end()
	l.mu.Unlock()
	l.work.Wait()
}

// run listens, again and again.
func (l *listener) run() {
	for {
		wait := listenAgain
		err := l.listen()
		l.mu.Lock()
		if errors.Is(err, errNoNotices) && !l.heard {
			wait = listenSeldom
		}
		l.heard = false // inboxes are polled meanwhile
		l.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-l.ctx.Done():
			return
		}
	}
}

// poll wakes all who wait while notices don't arrive.
func (l *listener) poll() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		l.mu.Lock()
		if !l.heard {
			l.tellAll()
		}
		l.mu.Unlock()
	}
}

// listen passes on notices until it fails.
func (l *listener) listen() error {
	ctx, cancel := context.WithTimeout(l.ctx, probeTime)
	defer cancel()
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+channel, pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	for first := true; ; first = false {
		probe := l.schema + "!" + rand.Text()
		if err := l.notify(l.ctx, probe); err != nil {
			return err
		}
		if err := l.pass(conn, probeTime, probe); err != nil {
			return fmt.Errorf("%w: %w", errNoNotices, err)
		}
		if first { // something may have been posted before the LISTEN
			l.mu.Lock()
			l.heard = true
			l.tellAll()
			l.mu.Unlock()
		}
		if err := l.pass(conn, l.every, ""); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

// pass passes on notices until the time is over, which is an error, or until one has the payload.
func (l *listener) pass(conn *pgx.Conn, most time.Duration, until string) error {
	ctx, cancel := context.WithTimeout(l.ctx, most)
	defer cancel()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		}
		if session, ok := strings.CutPrefix(n.Payload, l.schema+" "); ok {
			l.tell(session)
		}
		if n.Payload == until {
			return nil
		}
	}
}

// tell wakes those who wait for a session.
func (l *listener) tell(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wakeAll(l.waiting[session])
}

// tellAll wakes all. The caller holds the lock.
func (l *listener) tellAll() {
	for _, list := range l.waiting {
		wakeAll(list)
	}
}

func wakeAll(list []chan struct{}) {
	for _, wake := range list {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}
