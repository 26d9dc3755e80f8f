package serve

import (
	"context"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// leave is how long after its last reader has left a run is stopped: see Config.StopOnDisconnect.
const leave = 2 * time.Second

// A readers counts the readers of sessions, to stop the runs that no stock client reads any more.
type readers struct {
	server *server

	mu    sync.Mutex // guards what follows
	count map[string]int
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
