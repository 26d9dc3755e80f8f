package fault

// maxVisited is how many errors one search looks at, so that it ends even if an error wraps itself. Honest errors wrap a
// handful of others.
const maxVisited = 10_000

// find calls look for err and for what it wraps until look says yes: an error before those that it wraps, and those in
// their order, each with all that it wraps in turn. An error whose methods panic (a nil pointer, most often) says and
// wraps nothing; the search goes on beside it.
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
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return nil, e.Unwrap()
	case interface{ Unwrap() []error }:
		return e.Unwrap(), nil
	}
	return nil, nil
}
