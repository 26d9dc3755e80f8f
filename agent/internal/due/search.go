package due

import (
	"cmp"
	"context"
	"maps"
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
		default:
		}
		if ctx.Err() != nil {
			return "", false
		}
		if session, ok := l.take(); session != "" {
			return session, true
		} else if ok {
			if session := l.claim(ctx); session != "" {
				return session, true
			}
			continue
		}
		select {
		case <-l.wake:
			l.request()
		case <-ctx.Done():
		}
	}
}

// claim claims a session. What else waits is found by the next search, which may be made at once.
func (l *Loop) claim(ctx context.Context) string {
	session, err := l.cfg.Claim(ctx)
	if err != nil && ctx.Err() == nil {
		l.cfg.Logger.WarnContext(ctx, "due: claiming a session", "error", err)
	}
	if session == "" {
		return ""
	}
	l.request()
	l.mu.Lock()
	_, driven := l.driven[session]
	if !driven {
		l.driven[session] = false
	}
	l.mu.Unlock()
	if !driven {
		return session
	}
	if l.cfg.PutBack != nil {
		l.cfg.PutBack(ctx, session)
	}
	return ""
}

// take takes the first item of the queue whose session can be driven, or that has none.
func (l *Loop) take() (session string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 {
		session, l.queue = l.queue[0].Session, l.queue[1:]
		if session == "" {
			return "", true
		}
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
	return driven || time.Now().Before(l.failures[session].until)
}

// search replaces the queue by what is due now. If the search is complete, it forgets the failures
// of sessions that aren't due any more.
func (l *Loop) search(ctx context.Context) {
	began, listed, complete := time.Now(), make(map[string]bool), true
	l.queue = nil
	for it, err := range l.cfg.List(ctx) {
		if err != nil && it.Session == "" {
			if ctx.Err() == nil {
				l.cfg.Logger.WarnContext(ctx, "due: looking for sessions that are due", "error", err)
			}
			complete = false
			break
		}
		if it.Session == "" {
			l.queue = append(l.queue, it)
			continue
		}
		listed[it.Session] = true
		l.mu.Lock()
		blocked := l.blocked(it.Session)
		l.mu.Unlock()
		switch {
		case blocked:
		case err != nil:
			l.failed(ctx, it.Session, err)
		default:
			l.queue = append(l.queue, it)
		}
		if complete = len(l.queue) < most; !complete {
			break
		}
	}
	slices.SortFunc(l.queue, func(x, y Item) int {
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), x.Since.Compare(y.Since), cmp.Compare(x.Session, y.Session))
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.failures, func(session string, f failure) bool {
		_, driven := l.driven[session] // then it isn't listed because of that
		return complete && !listed[session] && !driven && !began.Before(f.until)
	})
}
