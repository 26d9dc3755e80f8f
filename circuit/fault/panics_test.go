package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A touchy error panics in the method that it names.
type touchy struct{ in string }

func (e touchy) try(in string) {
	if e.in == in {
		panic("in " + in)
	}
}

func (e touchy) Error() string      { e.try("Error"); return "touchy" }
func (e touchy) Unwrap() error      { e.try("Unwrap"); return nil }
func (e touchy) Is(error) bool      { e.try("Is"); return false }
func (e touchy) As(any) bool        { e.try("As"); return false }
func (e touchy) Fault() fault.Class { e.try("Fault"); return fault.Transient }
func (e touchy) Timeout() bool      { e.try("Timeout"); return false }

// A forever error wraps itself.
type forever struct{}

func (forever) Error() string { return "endless" }
func (forever) Unwrap() error { return forever{} }

func TestPanicsFindsTheErrorsWhoseMethodsPanic(t *testing.T) {
	for _, in := range []string{"Error", "Unwrap", "Is", "As", "Fault", "Timeout"} {
		for name, err := range map[string]error{
			"bare": touchy{in}, "wrapped": fault.Wrap(fault.Transient, touchy{in}),
			"joined": errors.Join(errors.New("x"), touchy{in}),
		} {
			require.Equal(t, "in "+in, fault.Panics(err), name)
		}
	}
	var none *fs.PathError
	require.NotNil(t, fault.Panics(none))
	require.NotNil(t, fault.Panics(forever{}))
}

func TestPanicsFindsNothingInOrdinaryErrors(t *testing.T) {
	for _, err := range []error{nil, errors.New("x"), context.Canceled, touchy{},
		fmt.Errorf("%w and %w", fs.ErrNotExist, touchy{}), fault.Wrap(fault.Denied, touchy{})} {
		require.Nil(t, fault.Panics(err))
	}
}
