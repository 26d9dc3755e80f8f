package agent

import "context"

// spans are the spans of a run.
type spans struct {
	log     *sessionLog
	runEnd  func(error)
	stepEnd func(error)
	step    context.Context // of the step under way
}

// endStep ends the span of the step, which has failed if err isn't nil.
func (s *spans) endStep(err error) {
	if err == nil && s.log.ctx.Err() != nil {
		err = causeOf(s.log.ctx)
	}
	s.step = nil
	s.stepEnd(err)
}

// stepCtx returns the context of the step under way, or that of the run.
func (s *spans) stepCtx() context.Context {
	if s.step != nil {
		return s.step
	}
	return s.log.ctx
}
