package due_test

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/agent/internal/due"
)

// A world has sessions that are due, and counts what a Loop does.
type world struct {
	drive func(ctx context.Context, session string) error // nil: it takes a second

	mu       sync.Mutex // guards what follows
	due      map[string]due.Item
	bad      map[string]error // of the list; that of the empty name ends it
	searches []time.Duration  // when each began
	drives   []string         // in the order in which they began
	at       map[string][]time.Duration
	now      map[string]bool // what is being driven
	most     int             // how many were driven at a time
	twice    bool            // a session was driven twice at the same time
	began    time.Time
	log      bytes.Buffer
}

func newWorld(sessions ...string) *world {
	w := &world{due: make(map[string]due.Item), bad: make(map[string]error), at: make(map[string][]time.Duration),
		now: make(map[string]bool), began: time.Now()}
	w.add(sessions...)
	return w
}

// add makes sessions due.
func (w *world) add(sessions ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range sessions {
		w.due[s] = due.Item{Session: s}
	}
}

// remove makes a session not due.
func (w *world) remove(session string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.due, session)
}

// fail makes the list fail for a session, or no more.
func (w *world) fail(session string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bad[session] = err; err == nil {
		delete(w.bad, session)
	}
}

func (w *world) list(context.Context) iter.Seq2[due.Item, error] {
	w.mu.Lock()
	w.searches = append(w.searches, time.Since(w.began))
	items, bad := slices.Collect(maps.Values(w.due)), maps.Clone(w.bad)
	w.mu.Unlock()
	return func(yield func(due.Item, error) bool) {
		for session, err := range bad {
			if !yield(due.Item{Session: session}, err) || session == "" {
				return
			}
		}
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// driveOne drives a session if it is still due, which it isn't any more if that succeeds.
func (w *world) driveOne(ctx context.Context, session string) error {
	w.mu.Lock()
	if _, ok := w.due[session]; !ok { // a search may have listed it just before it was driven
		w.mu.Unlock()
		return nil
	}
	w.drives = append(w.drives, session)
	w.at[session] = append(w.at[session], time.Since(w.began))
	w.twice = w.twice || w.now[session]
	w.now[session] = true
	w.most = max(w.most, len(w.now))
	w.mu.Unlock()
	var err error
	if w.drive != nil {
		err = w.drive(ctx, session)
	} else {
		sleep(time.Second)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.now, session)
	if err == nil {
		delete(w.due, session)
	}
	return err
}

// run starts a Loop that is stopped at the end of the test.
func (w *world) run(t *testing.T, interval time.Duration, parallel int) *due.Loop {
	l := w.loop(interval, parallel)
	l.Start(t.Context())
	t.Cleanup(l.Stop)
	return l
}

func (w *world) loop(interval time.Duration, parallel int) *due.Loop {
	return due.New(due.Config{List: w.list, Drive: w.driveOne, Interval: interval, Parallel: parallel,
		Logger: slog.New(slog.NewTextHandler(&w.log, nil))})
}

// logged counts the lines of the log.
func (w *world) logged() int { return strings.Count(w.log.String(), "\n") }

// sleep is for fake time only.
func sleep(d time.Duration) { <-time.After(d) }

// pass lets time pass, and all that happens in it. Tests read the world before and after it.
func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	timer := time.After(d)
	w.mu.Unlock()
	<-timer
	synctest.Wait()
}
