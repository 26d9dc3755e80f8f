package agent

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/output"
	"github.com/pawlkit/pawl/internal/schema"
)

// RunFor does an [Input] or a [Resumption] whose answer is a T: the model is asked for JSON that
// fits T's schema, and its answer is validated and decoded. An answer that doesn't fit is sent
// back, at most Limits.OutputCorrections times (2 by default); then the run fails with an
// *[OutputError]. Tools are called as in any run. The error is nil only if the run completed with a
// T. It is an *[OutputError] if a stop condition ended the run without a T, or if a run was resumed
// that was started without a T or with another one; else that of [Agent.Run]. The Result is nil
// only if no run was started. A run that paused is resumed with RunFor, too:
//
//	v, res, err := agent.RunFor[Invoice](ctx, a, in)
//	var paused *agent.PausedError
//	if errors.As(err, &paused) && paused.Started {
//		v, res, err = agent.RunFor[Invoice](ctx, a, agent.Resume(res.Session, decide(res.Pending)...))
//	}
//
// Providers want objects. A T that isn't one, such as []string, is asked for as an object with the
// one field "value", and taken out of it again. An answer that leaves out the object is accepted
// too, and so is the bare element of a list of one.
func RunFor[T any](ctx context.Context, a *Agent, w Work) (T, *Result, error) {
	var zero T
	t, err := outputOf[T]("RunFor")
	if err != nil {
		return zero, nil, err
	}
	j, err := a.job(w)
	switch {
	case err != nil:
		return zero, nil, err
	case j.start != nil && j.start.call != nil:
		return zero, nil, &ArgError{Func: "RunFor", Field: "Work", Problem: "a HostCall has no answer of a model; use Run"}
	case j.start != nil:
		j.start.output = t.Schema
	}
	res, err := a.run(ctx, j)
	if err != nil {
		return zero, res, err
	}
	v, err := t.Read(res.Text())
	if err != nil { // a stop condition, or a resumed run that was begun without a schema
		return v, res, &OutputError{Text: res.Text(), Err: err}
	}
	return v, res, nil
}

// outputOf returns the type of an answer. fn is named in the error.
func outputOf[T any](fn string) (output.Type[T], error) {
	t, err := output.Of[T]()
	if err != nil {
		return t, &ArgError{Func: fn, Problem: err.Error(), Err: err}
	}
	return t, nil
}

// checkOutput checks a structured answer. It returns what the model reads if it should try again.
func (x *driver) checkOutput() (back string, err error) {
	r := x.log.Run()
	if len(r.Output) == 0 {
		return "", nil
	}
	s, err := schema.Parse(r.Output)
	if err != nil {
		return "", fmt.Errorf("agent: the schema of the answer: %w", err)
	}
	text := x.log.Machine().Result(Completed, "", nil).Text()
	_, problem := output.Accept(s, text)
	switch {
	case problem == nil:
		return "", nil
	case r.Limits.OutputCorrections >= 0 && r.Corrected >= r.Limits.OutputCorrections:
		return "", &OutputError{Text: text, Err: problem}
	}
	return output.Correction(problem), nil
}
