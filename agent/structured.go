package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/pawlkit/pawl/internal/schema"
)

// RunFor runs an input whose answer is a T: the model is asked for JSON that fits T's schema, and what it says is validated
// and decoded. An answer that doesn't fit is sent back, Limits.OutputCorrections times; then the run has failed with an
// *[OutputError]. The error is also set if the run ended without an answer: it is that of [Result.Err] then. Tools are
// called on the way as in any run.
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
	if res.Status != Completed {
		return zero, res, res.Err()
	}
	answer, err := s.Accept([]byte(unfence(res.Text())))
	if err != nil { // a stop condition, or a resumed run that was begun without a schema
		return zero, res, &OutputError{Text: res.Text(), Err: err}
	}
	if wrapped {
		var w struct {
			Value T `json:"value"`
		}
		err = json.Unmarshal(answer, &w)
		return w.Value, res, asOutputError(res, err)
	}
	var v T
	err = json.Unmarshal(answer, &v)
	return v, res, asOutputError(res, err)
}

func asOutputError(res *Result, err error) error {
	if err == nil {
		return nil
	}
	return &OutputError{Text: res.Text(), Err: err}
}

// outputSchema returns the schema of T. Providers want objects, so anything else is put into one. field
// says in an error what wants it.
func outputSchema[T any](field string) (s *schema.Schema, wrapped bool, err error) {
	s, err = schema.Of(reflect.TypeFor[T](), nil)
	if err == nil && !s.IsObject() {
		wrapped = true
		s, err = schema.For[struct {
			Value T `json:"value"`
		}](nil)
	}
	if err != nil {
		return nil, false, &ConfigError{Field: field, Problem: fmt.Sprintf("no schema can be made of %s: %v", reflect.TypeFor[T](), err), Err: err}
	}
	return s, wrapped, nil
}
