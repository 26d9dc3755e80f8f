package gemini

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

const remedy = "set GEMINI_API_KEY or Config.APIKey to a key from https://aistudio.google.com/apikey"

// keyHeader is where a key is sent. It is never part of an address.
const keyHeader = "X-Goog-Api-Key"

// A credential authorises requests. The key is behind a function, which no verb of fmt looks into.
type credential struct {
	// get returns the key, or "" if requests go without one.
	get func(ctx context.Context) (string, error)
	// fresh says that asking again may give another key.
	fresh bool
	// hide takes the key, and the secrets in Config.Header, out of a text.
	hide func(text, key string) string
}

// hider returns hide for this key.
func (c *credential) hider(key string) func(string) string {
	return func(text string) string { return c.hide(text, key) }
}

// isOwn reports the provider's own address, to which the environment's key may go.
func isOwn(u *url.URL) bool {
	return u.Scheme == "https" && strings.EqualFold(u.Hostname(), "generativelanguage.googleapis.com") && (u.Port() == "" || u.Port() == "443")
}

// newCredential finds the key: what the Config says before what the environment does, which counts only where trusted says
// that it may be sent there.
func newCredential(cfg *Config, trusted, optional bool) (credential, error) {
	fixed := func(key string) credential {
		return credential{get: func(context.Context) (string, error) { return key, nil }}
	}
	if key := strings.TrimSpace(cfg.APIKey); key != "" {
		return fixed(key), nil
	}
	if cfg.Key != nil {
		return credential{get: asked(cfg.Key), fresh: true}, nil
	}
	if cfg.Header.Get("Authorization") != "" || cfg.Header.Get(keyHeader) != "" {
		return fixed(""), nil
	}
	if !trusted {
		return fixed(""), nil
	}
	for _, name := range []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"} {
		if key := strings.TrimSpace(os.Getenv(name)); key != "" {
			return fixed(key), nil
		}
	}
	if optional {
		return fixed(""), nil
	}
	return credential{}, noKey(nil)
}

// asked wraps the host's function: an empty key is an error, and an error without a class is one that a person can fix.
func asked(ask func(context.Context) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		key, err := ask(ctx)
		if err == nil {
			if key = strings.TrimSpace(key); key != "" {
				return key, nil
			}
			err = errors.New("the function in Config.Key returned an empty key")
		}
		if class := fault.Of(err); class != fault.Permanent {
			return "", &provider.Error{Class: class, Provider: Name, Message: "no API key: " + err.Error(), Err: err}
		}
		return "", noKey(err)
	}
}

func noKey(cause error) error {
	e := &provider.Error{Class: fault.UserFixable, Provider: Name, Message: "no API key", Remedy: remedy, Err: cause}
	if cause != nil {
		e.Message += ": " + cause.Error()
		e.Remedy = "make the function in Config.Key return a key"
	}
	return e
}

// hiding returns what takes a key, and the secrets among these headers, out of what a server said. Of what is shorter than 8
// bytes nothing is taken: it could be any word.
func hiding(h http.Header) func(text, key string) string {
	var secrets []string
	for name, values := range h {
		switch http.CanonicalHeaderKey(name) {
		case "Authorization", "Proxy-Authorization", "X-Api-Key", "X-Goog-Api-Key":
			for _, v := range values {
				secrets = append(secrets, strings.Fields(v)...)
			}
		}
	}
	return func(text, key string) string {
		for _, s := range slices.Concat(secrets, []string{key}) {
			if len(s) >= 8 {
				text = strings.ReplaceAll(text, s, "[redacted]")
			}
		}
		return text
	}
}

// scrub takes what must be hidden out of all that a server said in an error.
func scrub(e *provider.Error, hide func(string) string) {
	for _, s := range []*string{&e.Message, &e.Type, &e.Code, &e.RequestID} {
		*s = hide(*s)
	}
}

// String returns the Config without its secrets: the key, and what is in headers and in the address besides its host.
func (c Config) String() string {
	secret := func(set bool) string {
		if set {
			return "[redacted]"
		}
		return "[none]"
	}
	return fmt.Sprintf("gemini.Config{Model: %q, APIKey: %s, Key: %t, BaseURL: %s, Header: %s, Models: %d}",
		c.Model, secret(c.APIKey != ""), c.Key != nil, secret(c.BaseURL != ""), secret(len(c.Header) > 0), len(c.Models))
}

// GoString returns what String does.
func (c Config) GoString() string { return c.String() }

// Format writes what String returns, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
