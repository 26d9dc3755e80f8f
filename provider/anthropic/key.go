package anthropic

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

const remedy = "set ANTHROPIC_API_KEY or Config.APIKey to a key from https://platform.claude.com/settings/keys"

// newKey finds the key: in the Config, else in the environment, if trusted says that it may be sent
// to the address. It also returns what puts the key into the headers.
func newKey(cfg *Config, trusted, optional bool) (adapter.Key, func(http.Header, string), error) {
	key, from, err := adapter.KeyConfig{Name: Name, Remedy: remedy, Fixed: cfg.APIKey, Ask: cfg.Key, Header: cfg.Header,
		Own: "X-Api-Key", Trusted: trusted, Optional: optional}.Find("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
	return key, func(h http.Header, key string) {
		if from == "ANTHROPIC_AUTH_TOKEN" {
			h.Set("Authorization", "Bearer "+key)
		} else {
			h.Set("X-Api-Key", key)
		}
	}, err
}

// Format writes the Config for every verb, without its key, the values of its headers and what may
// be secret in its address.
func (c Config) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "anthropic.Config{Model:%q BaseURL:%q APIKey:%t Key:%t Header:%q}", c.Model,
		adapter.PublicURL(c.BaseURL), c.APIKey != "", c.Key != nil, slices.Sorted(maps.Keys(c.Header)))
}
