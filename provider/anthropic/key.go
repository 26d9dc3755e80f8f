package anthropic

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

const remedy = "set ANTHROPIC_API_KEY or Config.APIKey to a key from https://platform.claude.com/settings/keys"

// newKey finds the key: in the Config, else in the environment, if trusted says that it may be sent
// to the address. It also returns what puts the key into the headers.
func newKey(cfg *Config, trusted, optional bool) (adapter.Key, func(http.Header, string), error) {
	own := func(h http.Header, key string) { h.Set("X-Api-Key", key) }
	if key := strings.TrimSpace(cfg.APIKey); key != "" {
		return adapter.Fixed(key), own, nil
	}
	if cfg.Key != nil {
		return adapter.Asked(Name, true, adapter.ReturnKey, cfg.Key), own, nil
	}
	if !trusted || cfg.Header.Get("Authorization") != "" || cfg.Header.Get("X-Api-Key") != "" {
		return adapter.Fixed(""), nil, nil
	}
	if key := strings.TrimSpace(os.Getenv("ANTHROPIC_API_KEY")); key != "" {
		return adapter.Fixed(key), own, nil
	}
	if token := strings.TrimSpace(os.Getenv("ANTHROPIC_AUTH_TOKEN")); token != "" {
		return adapter.Fixed(token), func(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) }, nil
	}
	if optional {
		return adapter.Fixed(""), nil, nil
	}
	return nil, nil, adapter.NoKey(Name, remedy)
}

// String describes the Config without its secrets: the key, the headers and the address.
func (c Config) String() string {
	return fmt.Sprintf("anthropic.Config{Model: %q, APIKey: %s, Key: %t, BaseURL: %s, Header: %s, Models: %d}",
		c.Model, adapter.Redacted(c.APIKey != ""), c.Key != nil, adapter.Redacted(c.BaseURL != ""),
		adapter.Redacted(len(c.Header) > 0), len(c.Models))
}

// GoString returns String.
func (c Config) GoString() string { return c.String() }

// Format writes String for every verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
