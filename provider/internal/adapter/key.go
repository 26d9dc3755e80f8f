package adapter

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Credential authorizes requests. The key is behind a function, so that fmt can't print it. The zero Credential belongs to
// a model that wasn't made by its constructor.
type Credential struct {
	// Get returns the key, or "" if requests go without one.
	Get func(ctx context.Context) (string, error)
	// Hide removes the key, and other secrets, from a text; see [Hiding].
	Hide func(text, key string) string
}

// Fixed returns a Credential with this key. With "", requests are sent without a key.
func Fixed(key string) Credential {
	return Credential{Get: func(context.Context) (string, error) { return key, nil }}
}

// Asked returns a Credential whose key comes from the host's function, without white space around it. An empty key is an error, and an
// error without a class is user-fixable. The errors are *[provider.Error] of the named provider.
func Asked(name string, ask func(context.Context) (string, error)) Credential {
	return Credential{Get: func(ctx context.Context) (string, error) {
		key, err := ask(ctx)
		if err == nil {
			if key = strings.TrimSpace(key); key != "" {
				return key, nil
			}
			err = errors.New("the function in Config.Key returned an empty key")
		}
		e := &provider.Error{Class: fault.Of(err), Provider: name, Message: "no API key: " + err.Error(), Err: err}
		if e.Class == fault.Permanent {
			e.Class, e.Remedy = fault.UserFixable, "make the function in Config.Key return a key"
		}
		return "", e
	}}
}

// NoKey returns the error for a missing key; the remedy says where to set one and where a person gets one.
func NoKey(name, remedy string) error {
	return &provider.Error{Class: fault.UserFixable, Provider: name, Message: "no API key", Remedy: remedy}
}

// Hider returns Hide for this key.
func (c *Credential) Hider(key string) func(string) string {
	return func(text string) string { return c.Hide(text, key) }
}

// Send sends a request with the key, and returns the key that was used last. If refused returns true for its *[provider.Error], Send
// gets the key again, and sends the request once more if the key is different.
func (c *Credential) Send(ctx context.Context, name string, refused func(*provider.Error) bool,
	send func(key string) (*http.Response, error)) (res *http.Response, key string, err error) {
	if c.Get == nil {
		return nil, "", fault.New(fault.Permanent, name+": the Model is empty; make it with New")
	}
	if key, err = c.Get(ctx); err != nil {
		return nil, "", err
	}
	res, err = send(key)
	var e *provider.Error
	if errors.As(err, &e) && refused(e) {
		again, keyErr := c.Get(ctx)
		switch {
		case keyErr != nil:
			return nil, "", keyErr
		case again != key:
			res, err = send(again)
			return res, again, err
		}
	}
	return res, key, err
}
