package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

func TestAConstructedErrorHasItsTextClassAndCause(t *testing.T) {
	for _, tt := range classes {
		plain := fault.New(tt.class, "plain")
		require.EqualError(t, plain, "plain")
		require.Equal(t, tt.class, fault.Of(plain))

		formatted := fault.Errorf(tt.class, "n=%d: %w", 7, io.EOF)
		require.EqualError(t, formatted, "n=7: EOF")
		require.Equal(t, tt.class, fault.Of(formatted))
		require.ErrorIs(t, formatted, io.EOF)

		wrapped := fault.Wrap(tt.class, formatted)
		require.EqualError(t, wrapped, "n=7: EOF")
		require.Equal(t, tt.class, fault.Of(wrapped))
		require.ErrorIs(t, wrapped, formatted)
	}
}

func TestTwoErrorsOfTheSameTextAreDifferentErrors(t *testing.T) {
	require.NotErrorIs(t, fault.New(fault.Invalid, "x"), fault.New(fault.Invalid, "x"))
}

func TestWrappingNilIsNil(t *testing.T) {
	require.NoError(t, fault.Wrap(fault.Permanent, nil))
}

func TestAFixableErrorSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	tests := []struct {
		message, remedy string
		cause           error
		want            string
	}{
		{"no key", "set PAWL_KEY", io.EOF, "no key (remedy: set PAWL_KEY)"},
		{"no key", "", io.EOF, "no key"},
		{"", "set PAWL_KEY", io.EOF, "EOF (remedy: set PAWL_KEY)"},
		{"", "", nil, "fault: something that a person must fix"},
	}
	for _, tt := range tests {
		err := fault.NewFixable(tt.message, tt.remedy, tt.cause)
		require.EqualError(t, err, tt.want)
		require.Equal(t, fault.UserFixable, fault.Of(err))
		require.Equal(t, tt.cause, errors.Unwrap(err))
	}
}

func TestARemedyIsFoundWhereverItIs(t *testing.T) {
	known := fault.NewFixable("no key", "set PAWL_KEY", nil)
	for _, err := range []error{
		known,
		fmt.Errorf("call: %w", known),
		errors.Join(io.EOF, known),
		fault.Wrap(fault.Permanent, known),
		fault.NewFixable("the call failed", "", known),
	} {
		remedy, ok := fault.Remedy(err)
		require.True(t, ok)
		require.Equal(t, "set PAWL_KEY", remedy)
	}
	for _, err := range []error{nil, io.EOF, fault.NewFixable("no key", "", nil)} {
		remedy, ok := fault.Remedy(err)
		require.False(t, ok)
		require.Empty(t, remedy)
	}
}
