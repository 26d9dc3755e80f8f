package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

var classes = []struct {
	class     fault.Class
	name      string
	counts    bool
	retryable bool
}{
	{fault.None, "none", false, false},
	{fault.Transient, "transient", true, true},
	{fault.RateLimited, "rate_limited", false, true},
	{fault.Degraded, "degraded", true, true},
	{fault.UserFixable, "user_fixable", false, false},
	{fault.Permanent, "permanent", false, false},
	{fault.Invalid, "invalid", false, false},
	{fault.NotFound, "not_found", false, false},
	{fault.Denied, "denied", false, false},
}

func TestEveryClassHasItsNameAndItsConsequences(t *testing.T) {
	for i, tt := range classes {
		t.Run(tt.name, func(t *testing.T) {
			require.EqualValues(t, i, tt.class)
			require.Equal(t, tt.name, tt.class.String())
			require.Equal(t, tt.counts, tt.class.Counts())
			require.Equal(t, tt.retryable, fault.Retryable(tt.class))
		})
	}
}

func TestAClassSurvivesJSONAsValueAndAsKey(t *testing.T) {
	for _, tt := range classes {
		in := map[fault.Class]fault.Class{tt.class: tt.class}
		text, err := json.Marshal(in)
		require.NoError(t, err)
		require.JSONEq(t, `{"`+tt.name+`":"`+tt.name+`"}`, string(text))

		var out map[fault.Class]fault.Class
		require.NoError(t, json.Unmarshal(text, &out))
		require.Equal(t, in, out)
	}
}

func TestUnknownTextIsAnErrorAndChangesNothing(t *testing.T) {
	for _, text := range []string{"", "Transient", " transient", "class(1)", "1"} {
		c := fault.Denied
		err := c.UnmarshalText([]byte(text))
		require.EqualError(t, err, "fault: unknown class "+strconv.Quote(text))
		require.Equal(t, fault.Invalid, fault.Of(err))
		require.Equal(t, fault.Denied, c)
	}
}

func TestAClassOutOfRangeHasNoText(t *testing.T) {
	for _, c := range []fault.Class{fault.Denied + 1, 255} {
		_, err := c.MarshalText()
		require.EqualError(t, err, "fault: unknown class "+strconv.Quote(c.String()))
		require.False(t, c.Counts())
		require.False(t, fault.Retryable(c))
	}
	require.Equal(t, "class(255)", fault.Class(255).String())
}

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
