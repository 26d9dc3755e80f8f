package fault

// maxVisited is how many errors one search visits, so that it ends even if an error wraps itself.
// Ordinary errors wrap only a few others.
const maxVisited = 10_000

// find calls look for err and for what it wraps until look returns true. It visits an error before
// the errors that it wraps, and visits those in order, depth first. An error whose methods panic
// (usually a nil pointer) is skipped together with what it wraps.
func find[T any](err error, look func(error) (T, bool)) (T, bool) {
	left := maxVisited
	return search(err, look, &left)
}

func search[T any](err error, look func(error) (T, bool), left *int) (T, bool) {
	for err != nil && *left > 0 {
		*left--
		if found, ok := ask(err, look); ok {
			return found, true
		}
		many, one := wrapped(err)
		for _, e := range many {
			if found, ok := search(e, look, left); ok {
				return found, true
			}
		}
		err = one
	}
	var none T
	return none, false
}

func ask[T any](err error, look func(error) (T, bool)) (found T, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return look(err)
}

func wrapped(err error) (many []error, one error) {
	defer func() {
		if recover() != nil {
			many, one = nil, nil
		}
	}()
	return unwrap(err)
}

func unwrap(err error) (many []error, one error) {
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return nil, e.Unwrap()
	case interface{ Unwrap() []error }:
		return e.Unwrap(), nil
	}
	return nil, nil
}
