package cmstools

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// same returns an error unless got equals want.
func same[T comparable](what string, want, got T) error {
	if want != got {
		return fmt.Errorf("the %s is %v, not %v", what, got, want)
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
		if value := got[key]; !reflect.DeepEqual(want[key], value) {
			return fmt.Errorf("%s is %v, not %v", key, value, want[key])
		}
	}
	return nil
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

// unlessGone returns the error of an undo, or nil if the object is gone, because the undo may have run before.
func unlessGone(err error) error {
	var e *site.Error
	if errors.As(err, &e) && e.Code == site.CodeNotFound {
		return nil
	}
	return err
}
