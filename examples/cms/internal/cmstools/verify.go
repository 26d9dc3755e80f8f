package cmstools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

// same returns an error unless got equals want.
func same[T comparable](what string, want, got T) error {
	if want != got {
		return differs{fmt.Sprintf("the %s is %v, not %v", what, got, want),
			tools.Mismatch{Expected: fmt.Sprintf("%s %v", what, want), Actual: fmt.Sprint(got)}}
	}
	return nil
}

// samePointer is same for an optional field of a request.
func samePointer[T comparable](what string, want *T, got T) error {
	if want == nil {
		return nil
	}
	return same(what, *want, got)
}

// sameContent returns an error unless got has the values of want. Both come from JSON.
func sameContent(want, got map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value := got[key]; !stored(want[key], value) {
			return differs{fmt.Sprintf("%s is %v, not %v", key, value, want[key]),
				tools.Mismatch{Expected: fmt.Sprintf("%s %v", key, want[key]), Actual: fmt.Sprint(value)}}
		}
	}
	return nil
}

// A differs is a failed verification: its text is for people, and the record of the call has the
// parts.
type differs struct {
	text string
	tools.Mismatch
}

func (d differs) Error() string { return d.text }
func (d differs) Unwrap() error { return d.Mismatch }

// A conflict is an error of the site with what a model needs to correct the call, as JSON in a
// second line.
type conflict struct{ cause *site.Error }

func (c conflict) Unwrap() error { return c.cause }

func (c conflict) Error() string {
	observation, err := json.Marshal(struct {
		Error      string `json:"error"`
		Expected   string `json:"expected"`
		Actual     string `json:"actual"`
		Suggestion string `json:"suggestion"`
	}{"CONFLICT", c.cause.Expected, c.cause.Actual, c.cause.Hint})
	if err != nil {
		return c.cause.Error()
	}
	return c.cause.Error() + "\n" + string(observation)
}

// observed is run, with its conflicts as observations.
func observed[In, Out any](run func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		out, err := run(ctx, in)
		var e *site.Error
		if errors.As(err, &e) && e.Expected != "" {
			err = conflict{e}
		}
		return out, err
	}
}

// manyResources is how many resources a call may touch without approval, less one.
const manyResources = 10

// bulk returns why a call needs approval that touches n resources, or "" if it touches few.
func bulk(n int, what string) string {
	if n < manyResources {
		return ""
	}
	return fmt.Sprintf("it touches %d %s at once", n, what)
}

// stored reports whether got is want. An object may have more fields, because the site fills in the
// addresses of media.
func stored(want, got any) bool {
	object, ok := want.(map[string]any)
	have, _ := got.(map[string]any)
	if !ok || have == nil {
		return reflect.DeepEqual(want, got)
	}
	for key, v := range object {
		if !stored(v, have[key]) {
			return false
		}
	}
	return true
}

// firstError returns the first error that isn't nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// unlessGone returns the error of an undo, or nil if the object is gone, because the undo may have
// run before.
func unlessGone(err error) error {
	var e *site.Error
	if errors.As(err, &e) && e.Code == site.CodeNotFound {
		return nil
	}
	return err
}
