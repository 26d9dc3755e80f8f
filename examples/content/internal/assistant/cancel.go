package assistant

import (
	"context"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// A driven pipeline is in progress in this process.
type driven struct {
	portfolio.Pipeline
	stop  context.CancelCauseFunc
	ended chan struct{} // is closed when nothing works on it any more
}

// begin makes this process the one that drives a pipeline, until end is called. [Services.Cancel]
// ends the context.
func (s *Services) begin(ctx context.Context, p portfolio.Pipeline) (_ context.Context, end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, busy := s.pipelines[p.Artifact]; busy {
		return nil, nil,
			portfolio.Errorf(portfolio.Conflict, "This artifact is being worked on; wait until that has ended.")
	}
	ctx, stop := context.WithCancelCause(ctx)
	d := &driven{p, stop, make(chan struct{})}
	s.pipelines[p.Artifact] = d
	return ctx, func() {
		s.mu.Lock()
		delete(s.pipelines, p.Artifact)
		s.mu.Unlock()
		stop(nil)
		close(d.ended)
	}, nil
}

// Cancel ends the pipeline of an artifact, if there is one in progress or one that could be tried
// again. What its finished tools did stays, and the tool in progress is undone. If another process
// works on the artifact, the error is a *portfolio.Error of the category Conflict.
func (s *Services) Cancel(ctx context.Context, user, artifact string) error {
	s.mu.Lock()
	d := s.pipelines[artifact]
	s.mu.Unlock()
	if d != nil && d.User == user {
		d.stop(portfolio.Errorf(portfolio.Conflict, "You have canceled this. What was finished is kept."))
		select {
		case <-d.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := s.Store.Unlock(ctx, artifact, d.Name); err != nil {
			return err
		}
	}
	all, err := s.Store.Pipelines(ctx, user, artifact)
	if err != nil || len(all) == 0 {
		return err
	}
	if p := all[0]; p.State == portfolio.PipelineRunning || p.State == portfolio.PipelineFailed {
		if err := s.Store.Lock(ctx, user, artifact, "cancel", 0); err != nil { // it is free: see above
			return err
		}
		if err := s.Store.SetPipeline(ctx, p.Name, portfolio.PipelineCanceled, p.Failed, "canceled"); err != nil {
			return err
		}
		if err := s.Store.Unlock(ctx, artifact, "cancel"); err != nil {
			return err
		}
	}
	_, err = s.Store.RollBackAbandoned(ctx)
	return err
}
