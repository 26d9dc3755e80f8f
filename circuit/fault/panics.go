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
	defer func() {
		if v := recover(); v != nil {
			value = v
		}
	}()
	left := maxVisited
	return try(err, &left)
}

func try(err error, left *int) (value any) {
	for err != nil {
		if *left--; *left < 0 {
			return fmt.Sprintf("an error of type %T wraps itself without end", err)
		}
		_ = err.Error()
		if e, ok := err.(interface{ Is(error) bool }); ok {
			e.Is(errTried)
		}
		if e, ok := err.(interface{ As(any) bool }); ok {
			e.As(new(*triedError))
		}
		explicit(err)
		inferred(err)
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				if value := try(inner, left); value != nil {
					return value
				}
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

// errTried and triedError are what no error is.
var errTried = errors.New("fault: tried")

type triedError struct{}

func (*triedError) Error() string { return "fault: tried" }
