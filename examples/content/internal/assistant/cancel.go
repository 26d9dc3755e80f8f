package assistant

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// A driven pipeline is in progress in this process.
type driven struct {
	Pipeline
	stop  context.CancelCauseFunc
	ended chan struct{} // is closed when nothing works on it any more
}

// begin makes this process the one that drives a pipeline, until end is called. [Services.Cancel]
// ends the context.
func (s *Services) begin(ctx context.Context, p Pipeline) (_ context.Context, end func(), err error) {
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

// Cancel stops the pipeline of an artifact, if it is in progress or has failed. What its finished
// tools did stays, and the tool in progress is undone. [Services.Retry] continues it. If another
// process works on the artifact, the error is a *portfolio.Error of the category Conflict.
func (s *Services) Cancel(ctx context.Context, user, artifact string) error {
	p, err := s.Pipeline(ctx, user, artifact)
	if err != nil || p == nil || p.State != PipelineRunning && p.State != PipelineFailed {
		return err
	}
	s.mu.Lock()
	d := s.pipelines[artifact]
	s.mu.Unlock()
	if d != nil && d.Name == p.Name {
		if err := s.Store.StopPipeline(ctx, p.Name, true); err != nil {
			return err
		}
		d.stop(portfolio.Errorf(portfolio.Conflict, "%s", stopped(p)))
		select {
		case <-d.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := s.Store.Unlock(ctx, artifact, p.Name); err != nil {
			return err
		}
	}
	if err := s.Store.Lock(ctx, user, artifact, "cancel", 0); err != nil { // it is free: see above
		return err
	}
	err = errors.Join(s.Store.StopPipeline(ctx, p.Name, true), s.Store.Unlock(ctx, artifact, "cancel"))
	if err == nil {
		_, err = s.Store.RollBackAbandoned(ctx)
	}
	return err
}

// results are what the tools of pipelines make, for people.
var results = map[string]string{portfolio.TopicResearch: "the research", portfolio.SkeletonCreator: "the outline",
	portfolio.ContentWriter: "the text", portfolio.Humanizer: "the revision", portfolio.VisualsCreator: "the images"}

// stopped says what a pipeline has done, and what it hasn't: "Stopped. Done: the research. Not
// done: the outline, the text."
func stopped(p *Pipeline) string {
	open := slices.DeleteFunc(slices.Clone(p.Tools), func(name string) bool { return slices.Contains(p.Done, name) })
	text := "Stopped."
	if len(p.Done) > 0 {
		text += " Done: " + resultsOf(p.Done) + "."
	}
	return text + " Not done: " + resultsOf(open) + "."
}

// resultsOf names what tools make.
func resultsOf(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, Result(name))
	}
	return strings.Join(all, ", ")
}

// Result names what a tool of a pipeline makes, such as "the outline".
func Result(tool string) string { return results[tool] }
