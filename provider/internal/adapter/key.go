package adapter

import (
	"context"
	"errors"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Key returns the key of a request; "" if requests go without one. It is a function, so that fmt
// can't print it.
type Key func(ctx context.Context) (string, error)

// Fixed returns a Key that is always the same. With "", requests are sent without a key.
func Fixed(key string) Key {
	return func(context.Context) (string, error) { return key, nil }
}

// ReturnKey is the remedy for a function of the host that returns no key.
const ReturnKey = "make the function in Config.Key return a key"

// Asked returns a Key that comes from the host's function, without white space around it. An empty
// key is an error if a key is needed, and an error without a class is user-fixable. The errors are
// *[provider.Error] of the named provider.
func Asked(name string, needed bool, remedy string, ask func(context.Context) (string, error)) Key {
	return func(ctx context.Context) (string, error) {
		key, err := ask(ctx)
		if err == nil {
			if key = strings.TrimSpace(key); key != "" || !needed {
				return key, nil
			}
			err = errors.New("the function in Config.Key returned an empty key")
		}
		e := &provider.Error{Class: fault.Of(err), Provider: name, Message: "no API key: " + err.Error(), Err: err}
		if e.Class == fault.Permanent {
			e.Class, e.Remedy = fault.UserFixable, remedy
		}
		return "", e
	}
}

// NoKey returns the error for a missing key; the remedy says where to set one and where a person
// gets one.
func NoKey(name, remedy string) error {
	return &provider.Error{Class: fault.UserFixable, Provider: name, Message: "no API key", Remedy: remedy}
}
