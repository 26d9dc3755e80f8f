package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
)

// RunFor runs an input whose answer is a T: the model is asked for JSON that fits T's schema, and
// its answer is validated and decoded. An answer that doesn't fit is sent back, at most
// Limits.OutputCorrections times (2 by default); then the run fails with an *[OutputError]. Tools
// are called as in any run. The error is nil only if the run completed with a T. It is an
// *[OutputError] if a stop condition ended the run without one, else that of [Agent.Run]. The
// Result is nil only if no run was started. A run that paused is resumed with RunFor, too:
//
//	v, res, err := agent.RunFor[Invoice](ctx, a, in)
//	var paused *agent.PausedError
//	if errors.As(err, &paused) && paused.Started {
//		in = agent.Resume(res.Session, decide(res.Pending)...)
//		v, res, err = agent.RunFor[Invoice](ctx, a, in)
//	}
//
// Providers want objects. A T that isn't one, such as []string, is asked for as an object with the
// one field "value", and taken out of it again. An answer that leaves out the object is accepted
// too, and so is the bare element of a list of one.
func RunFor[T any](ctx context.Context, a *Agent, in Input) (T, *Result, error) {
	var zero T
	s, wrapped, err := outputSchema[T]("RunFor")
	if err != nil {
		return zero, nil, err
	}
	in.output = s
	res, err := a.Run(ctx, in)
	if err != nil {
		return zero, res, err
	}
	answer, err := acceptAnswer(s, res.Text())
	if err != nil { // a stop condition, or a resumed run that was begun without a schema
		return zero, res, &OutputError{Text: res.Text(), Err: err}
	}
	v, err := unwrap[T](answer, wrapped)
	if err != nil {
		return v, res, &OutputError{Text: res.Text(), Err: err}
	}
	return v, res, nil
}

// outputSchema returns the schema of T. Providers require objects, so any other schema is wrapped
// in one. fn is named in the error.
func outputSchema[T any](fn string) (s *schema.Schema, wrapped bool, err error) {
	s, err = schema.Of(reflect.TypeFor[T](), nil)
	if err == nil && !s.IsObject() {
		wrapped = true
		s, err = schema.For[struct {
			Value T `json:"value"`
		}](nil)
	}
	if err != nil {
		return nil, false, &ArgError{Func: fn,
			Problem: fmt.Sprintf("no schema can be made of %s: %v", reflect.TypeFor[T](), err), Err: err}
	}
	return s, wrapped, nil
}

// An OutputError is a structured answer that didn't fit its schema, after the model had its
// corrections.
type OutputError struct {
	Text string // the answer
	Err  error  // what is wrong with it
}

// Error says what is wrong with the answer.
func (e *OutputError) Error() string {
	return fmt.Sprintf("agent: the structured answer doesn't fit its schema: %v", e.Err)
}

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// Fault returns Permanent.
func (e *OutputError) Fault() fault.Class { return fault.Permanent }

// checkOutput checks a structured answer. It returns what the model reads if it should try again.
func (x *driver) checkOutput() (back string, err error) {
	r := x.Run()
	if len(r.Output) == 0 {
		return "", nil
	}
	s, err := schema.Parse(r.Output)
	if err != nil {
		return "", fmt.Errorf("agent: the schema of the answer: %w", err)
	}
	text := x.Machine().Result(Completed, "", nil).Text()
	_, problem := acceptAnswer(s, text)
	switch {
	case problem == nil:
		return "", nil
	case r.Limits.OutputCorrections >= 0 && r.Corrected >= r.Limits.OutputCorrections:
		return "", &OutputError{Text: text, Err: problem}
	}
	return doesNotFit(problem), nil
}

// doesNotFit returns what the model reads about an answer that it should correct.
func doesNotFit(problem error) string {
	return "Your answer doesn't fit the schema that was asked for: " + problem.Error() +
		"\nAnswer again, with nothing but JSON that fits."
}

// acceptAnswer returns the answer in a text as the schema has it, or what is wrong with it. The
// value of an object that has nothing but the field "value" may stand without the object, and the
// element of a list of one without the list.
func acceptAnswer(s *schema.Schema, text string) (json.RawMessage, error) {
	bare := unfence(text)
	answer, problem := s.Accept([]byte(bare))
	if problem == nil || !json.Valid([]byte(bare)) || !isWrapper(s.JSON()) {
		return answer, problem
	}
	for _, wrapped := range []string{`{"value":` + bare + `}`, `{"value":[` + bare + `]}`} {
		if answer, err := s.Accept([]byte(wrapped)); err == nil {
			return answer, nil
		}
	}
	return nil, problem
}

// isWrapper reports whether a schema is that of an object with the one field "value".
func isWrapper(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return json.Unmarshal(schema, &s) == nil && len(s.Properties) == 1 && s.Properties["value"] != nil
}

// unfence returns the JSON in an answer that has it in a code fence.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "```") || !strings.HasSuffix(text, "```") || len(text) < 6 {
		return text
	}
	text = strings.TrimSuffix(text[3:], "```")
	if line, rest, ok := strings.Cut(text, "\n"); ok && !strings.ContainsAny(line, "{[\"") {
		text = rest
	}
	return strings.TrimSpace(text)
}
