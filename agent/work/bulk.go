package work

import (
	"context"
	"iter"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// RetryAll queues the runs again that have failed for good, in the sessions that a filter selects:
// see [Worker.RetryAt]. The filter's Status is ignored.
//
// Each session is changed when the caller's loop asks for it, the most recently changed one first,
// and yielded with the error that kept it from being changed, or nil. Sessions are listed in pages
// of 200. A loop that was left can be continued with the same filter, whose Before and After are
// the Updated and the Session of the last one yielded. It can also begin anew: sessions that were
// changed aren't selected again, except for a run in progress that [Worker.CancelAll] has told to
// end. Errors without a session are as in [agent.Agent.Sessions].
func (w *Worker) RetryAll(ctx context.Context, f agent.SessionFilter,
	at time.Time) iter.Seq2[agent.SessionInfo, error] {
	f.Status = agent.Failed
	return w.all(ctx, f, "", func(s *agent.Session) error { return s.RetryAt(ctx, at) })
}

// CancelAll ends the runs of the sessions that a filter selects: see [agent.Session.Cancel]. The
// filter's Status has to be agent.Queued, Running or Paused. A run in progress is told to end, and
// is selected until it has. Otherwise it is like [Worker.RetryAll].
func (w *Worker) CancelAll(ctx context.Context, f agent.SessionFilter) iter.Seq2[agent.SessionInfo, error] {
	problem := ""
	switch f.Status {
	case agent.Queued, agent.Running, agent.Paused:
	default:
		problem = "its Status has to be agent.Queued, Running or Paused"
	}
	return w.all(ctx, f, problem, func(s *agent.Session) error { return s.Cancel(ctx) })
}

// DeleteAll deletes the sessions that a filter selects: see [agent.Session.Delete]. A filter that
// selects all sessions is refused; one with a time of now in Before selects them. Otherwise it is
// like [Worker.RetryAll].
func (w *Worker) DeleteAll(ctx context.Context, f agent.SessionFilter) iter.Seq2[agent.SessionInfo, error] {
	problem, any := "", f
	if any.Limit, any.After = 0, ""; any == (agent.SessionFilter{}) {
		problem = "it selects all sessions; say which ones"
	}
	return w.all(ctx, f, problem, func(s *agent.Session) error { return s.Delete(ctx) })
}

// all calls do for each session that a filter selects, unless there is a problem with that.
func (w *Worker) all(ctx context.Context, f agent.SessionFilter, problem string,
	do func(*agent.Session) error) iter.Seq2[agent.SessionInfo, error] {
	return func(yield func(agent.SessionInfo, error) bool) {
		switch {
		case w == nil || w.due == nil:
			yield(agent.SessionInfo{}, errNoWorker)
			return
		case problem != "":
			yield(agent.SessionInfo{}, &agent.ArgError{Field: "SessionFilter", Problem: problem})
			return
		}
		defer w.Wake("")
		for info, err := range w.cfg.Agents[0].Sessions(ctx, f) {
			if err == nil {
				err = do(w.cfg.Agents[0].Session(info.Session))
			}
			if !yield(info, err) {
				return
			}
		}
	}
}
