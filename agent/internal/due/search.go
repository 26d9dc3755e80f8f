package due

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// most is how many sessions a search takes.
const most = 1000

// next waits for a session to drive, searching when that is asked for: once, so that a search that
// is asked for while another is made doesn't keep sessions waiting. It returns false when ctx has
// ended.
func (l *Loop) next(ctx context.Context, again *time.Timer) (session string, ok bool) {
	for {
		select {
		case <-l.wake:
			l.search(ctx)
			again.Reset(l.cfg.Interval)
			l.markStarted()
		default:
		}
		if ctx.Err() != nil {
			return "", false
		}
		if session, ok := l.take(); ok {
			return session, true
		}
		select {
		case <-l.wake:
			l.request()
		case <-ctx.Done():
		}
	}
}

// take takes the first session of the queue that can be driven.
func (l *Loop) take() (session string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 {
		session, l.queue = l.queue[0].Session, l.queue[1:]
		if !l.blocked(session) {
			l.driven[session] = false
			return session, true
		}
	}
	return "", false
}

// blocked reports whether a session mustn't be driven now. The caller holds mu.
func (l *Loop) blocked(session string) bool {
	_, driven := l.driven[session]
	return driven || l.failures.block(session, time.Now())
}

// search replaces the queue by what is due now.
func (l *Loop) search(ctx context.Context) {
	l.mu.Lock()
	gone := l.failures.over(time.Now())
	for session := range l.driven { // it isn't listed because of that
		delete(gone, session)
	}
	l.mu.Unlock()
	l.queue = nil
	for it, err := range l.cfg.List(ctx) {
		if err != nil && it.Session == "" {
			if ctx.Err() == nil {
				l.cfg.Logger.WarnContext(ctx, "due: looking for sessions that are due", "error", err)
			}
			gone = nil
			break
		}
		delete(gone, it.Session)
		l.mu.Lock()
		blocked := l.blocked(it.Session)
		l.mu.Unlock()
		if blocked {
			continue
		}
		if err != nil {
			l.failed(ctx, it.Session, err)
			continue
		}
		if l.queue = append(l.queue, it); len(l.queue) == most {
			gone = nil
			break
		}
	}
	slices.SortFunc(l.queue, func(x, y Item) int {
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), x.Since.Compare(y.Since), cmp.Compare(x.Session, y.Session))
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	for session := range gone {
		delete(l.failures, session)
	}
}
