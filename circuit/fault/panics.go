package fault

import (
	"errors"
	"fmt"
)

// Panics calls the methods of err and of all errors that it wraps, and returns what one of them
// panics with; nil if none does. It also returns a value for an error that wraps itself without
// end. The methods are Error, Unwrap, Is and As, and those that [Of] uses.
//
// Most such errors are nil pointers. [errors.Is] and [errors.As] don't contain such a panic; the
// functions of this package do. Code that gets errors from others checks them with Panics once,
// where it gets them, and passes on something else in their place.
func Panics(err error) (value any) {
	left := maxVisited
	value, _ = search(err, panicOf, &left)
	if value == nil && left == 0 {
		return fmt.Sprintf("an error of type %T wraps others without end", err)
	}
	return value
}

// panicOf returns what a method of err panics with, and whether one does.
func panicOf(err error) (value any, panics bool) {
	defer func() {
		if v := recover(); v != nil {
			value, panics = v, true
		}
	}()
	_ = err.Error()
	if e, ok := err.(interface{ Is(error) bool }); ok {
		e.Is(errTried)
	}
	if e, ok := err.(interface{ As(any) bool }); ok {
		e.As(new(*triedError))
	}
	explicit(err)
	inferred(err)
	unwrap(err)
	return nil, false
}

// errTried and triedError are what no error is.
var errTried = errors.New("fault: tried")

type triedError struct{}

func (*triedError) Error() string { return "fault: tried" }
