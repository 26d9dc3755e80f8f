package agent

import (
	"context"

	"github.com/pawlkit/pawl/agent/machine"
)

// Deliver calls tell for each queued run of the session that has ended and that wasn't delivered
// yet, oldest first, and records that it was. If tell returns an error, Deliver returns it, and the
// run isn't delivered. A process that dies meanwhile may have told without recording it: tell is
// called at least once for each run. [Result.Session] and [Result.Start] together name the run, so
// that a second call can be told from the first. A run that was retried ends again under the same
// name.
//
// The session is held meanwhile: other inputs get [ErrBusy] after two seconds. If the log of a run
// was pruned, the Result has only the names, the status, the code and the reason. Deliver returns
// how many runs were delivered.
func (s *Session) Deliver(ctx context.Context, tell func(context.Context, *Result) error) (n int, err error) {
	if ctx, err = s.ready(ctx); err != nil {
		return 0, err
	}
	if tell == nil {
		return 0, &ArgError{Func: "Deliver", Field: "tell", Problem: "it is nil; give a function"}
	}
	ctx, l, err := s.hold(ctx)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	for len(l.State().Ends) > 0 && ctx.Err() == nil {
		end := l.State().Ends[0]
		res, err := s.agent.endOf(ctx, s.id, &end)
		if err == nil {
			err = contained(func() error { return tell(ctx, res) })
		}
		if err == nil {
			err = l.append(&machine.Delivered{Ended: end.Run})
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, causeOf(ctx)
}

// endOf returns the result of a run that has ended.
func (a *Agent) endOf(ctx context.Context, session string, end *machine.EndState) (*Result, error) {
	m, err := a.upTo(ctx, session, end.Run)
	if err != nil {
		return nil, err
	}
	if m != nil {
		return m.LastResult(), nil
	}
	return &Result{Session: session, Run: end.Run, Start: end.Start, Status: end.Status, Code: end.Code,
		Reason: end.Reason, Limit: end.Limit, Missing: end.Missing}, nil
}
