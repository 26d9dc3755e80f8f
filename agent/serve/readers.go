package serve

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
)

// leave is how long after its last reader has left a run is stopped: see Config.StopOnDisconnect.
const leave = 2 * time.Second

// readersRetry is how many seconds a client is asked to wait after codeReaders.
const readersRetry = "10"

// A readers counts the readers of users, to refuse too many, and those of sessions, to stop the
// runs that no stock client reads any more.
type readers struct {
	server *server

	mu    sync.Mutex     // guards what follows
	count map[string]int // by session
	users map[string]int
}

// enter counts a stream of a user until it calls leave, or says why the user may open no other one:
// see Config.MaxReaders.
func (rs *readers) enter(user string) (leave func(), p *problem) {
	most := rs.server.cfg.MaxReaders
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if most >= 0 && rs.users[user] >= most {
		p := fail(http.StatusTooManyRequests, codeReaders, fault.RateLimited,
			"you have %d streams of events open, and at most %d are allowed; close one first", rs.users[user], most)
		p.header = http.Header{"Retry-After": {readersRetry}}
		return nil, p
	}
	if rs.users == nil {
		rs.users = make(map[string]int)
	}
	rs.users[user]++
	return func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		if rs.users[user]--; rs.users[user] == 0 {
			delete(rs.users, user)
		}
	}, nil
}

// join counts a reader of a session until it calls left: with the run that was in progress if it
// has disconnected, and else with "".
func (rs *readers) join(session string) (left func(run string)) {
	if !rs.server.cfg.StopOnDisconnect {
		return func(string) {}
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.count == nil {
		rs.count = make(map[string]int)
	}
	rs.count[session]++
	return func(run string) {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		if rs.count[session]--; rs.count[session] > 0 {
			return
		}
		delete(rs.count, session)
		if run != "" {
			time.AfterFunc(leave, func() { rs.stop(session, run) })
		}
	}
}

// stop stops a run, if it is still in progress and nobody has come back.
func (rs *readers) stop(session, run string) {
	rs.mu.Lock()
	n := rs.count[session]
	rs.mu.Unlock()
	select {
	case <-rs.server.hub.Closing(): // it goes on in another process
		return
	default:
	}
	if n > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	own := rs.server.agent.Session(session)
	res, err := own.Result(ctx)
	if err == nil && (res.Run != run || res.Status != agent.Running) {
		return
	}
	if err == nil {
		err = own.Cancel(ctx)
	}
	if err != nil {
		rs.server.log.WarnContext(ctx, "serve: a run that nobody reads wasn't stopped", "session", session, "error", err)
	}
}
