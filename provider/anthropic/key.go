package anthropic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

const remedy = "set ANTHROPIC_API_KEY or Config.APIKey to a key from https://platform.claude.com/settings/keys"

// A credential authorises requests. The keys are behind functions, which no verb of fmt looks into.
type credential struct {
	// get returns the key, or "" if requests go without one.
	get func(ctx context.Context) (string, error)
	// option puts a key into a request; nil where there is none.
	option func(key string) option.RequestOption
	// fresh says that asking again may give another key.
	fresh bool
}

// newCredential finds the key: what the Config says before what the environment does.
func newCredential(cfg *Config, optional bool) (credential, error) {
	fixed := func(key string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return key, nil }
	}
	if key := strings.TrimSpace(cfg.APIKey); key != "" {
		return credential{get: fixed(key), option: option.WithAPIKey}, nil
	}
	if ask := cfg.Key; ask != nil {
		return credential{get: asked(ask), option: option.WithAPIKey, fresh: true}, nil
	}
	if cfg.Header.Get("Authorization") != "" || cfg.Header.Get("X-Api-Key") != "" {
		return credential{get: fixed("")}, nil
	}
	if key := strings.TrimSpace(os.Getenv("ANTHROPIC_API_KEY")); key != "" {
		return credential{get: fixed(key), option: option.WithAPIKey}, nil
	}
	if token := strings.TrimSpace(os.Getenv("ANTHROPIC_AUTH_TOKEN")); token != "" {
		return credential{get: fixed(token), option: option.WithAuthToken}, nil
	}
	if optional {
		return credential{get: fixed("")}, nil
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

// String returns the Config without its secrets: the key, and what is in headers and in the address besides its host.
func (c Config) String() string {
	secret := func(set bool) string {
		if set {
			return "[redacted]"
		}
		return "[none]"
	}
	return fmt.Sprintf("anthropic.Config{Model: %q, APIKey: %s, Key: %t, BaseURL: %s, Header: %s, Models: %d}",
		c.Model, secret(c.APIKey != ""), c.Key != nil, secret(c.BaseURL != ""), secret(len(c.Header) > 0), len(c.Models))
}

// GoString returns what String does.
func (c Config) GoString() string { return c.String() }

// Format writes what String returns, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
