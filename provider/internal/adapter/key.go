package adapter

import (
	"context"
	"errors"
	"net/http"
	"os"
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

// A KeyConfig says where the key of an adapter comes from.
type KeyConfig struct {
	Name, Remedy string                                // of the provider, for the error if there is no key
	Fixed        string                                // the key
	Ask          func(context.Context) (string, error) // without Fixed, returns the key; may be nil
	Header       http.Header                           // of the host, which may authorize instead
	Own          string                                // the header that does, besides Authorization
	Trusted      bool                                  // a key from the environment may be sent
	Optional     bool                                  // requests may go without one
}

// Find returns the key, and the variable of the environment that it comes from: the first of these
// that is set. Without a key it is "".
func (c KeyConfig) Find(variables ...string) (key Key, variable string, err error) {
	switch fixed := strings.TrimSpace(c.Fixed); {
	case fixed != "":
		return Fixed(fixed), "", nil
	case c.Ask != nil:
		return Asked(c.Name, true, ReturnKey, c.Ask), "", nil
	case !c.Trusted || c.Header.Get("Authorization") != "" || c.Header.Get(c.Own) != "":
		return Fixed(""), "", nil
	}
	for _, name := range variables {
		if key := strings.TrimSpace(os.Getenv(name)); key != "" {
			return Fixed(key), name, nil
		}
	}
	if !c.Optional {
		err = &provider.Error{Class: fault.UserFixable, Provider: c.Name, Message: "no API key", Remedy: c.Remedy}
	}
	return Fixed(""), "", err
}
