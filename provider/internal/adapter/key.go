package adapter

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Credential authorises requests. The key is behind a function, which no verb of fmt looks into. The zero Credential is that
// of a model that its constructor didn't make.
type Credential struct {
	// Get returns the key, or "" if requests go without one.
	Get func(ctx context.Context) (string, error)
	// Hide takes the key, and what else is secret, out of a text; see [Hiding].
	Hide func(text, key string) string
}

// Fixed is the Credential with this key; "": requests go without one.
func Fixed(key string) Credential {
	return Credential{Get: func(context.Context) (string, error) { return key, nil }}
}

// Asked is the Credential whose key the host's function gives, without the blanks around it. An empty key is an error, and an
// error without a class is one that a person can fix. The errors are *[provider.Error] of the provider of that name.
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

// NoKey is the error where there is no key at all; the remedy says where one belongs, and where a person gets one.
func NoKey(name, remedy string) error {
	return &provider.Error{Class: fault.UserFixable, Provider: name, Message: "no API key", Remedy: remedy}
}

// Hider returns Hide for this key.
func (c *Credential) Hider(key string) func(string) string {
	return func(text string) string { return c.Hide(text, key) }
}

// Send has a request sent with the key, and returns the key that was taken last. Where refused says so of a *[provider.Error], it
// asks for the key once more, and sends the request again if that is another one.
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
