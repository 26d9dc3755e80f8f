package gemini

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

const remedy = "set GEMINI_API_KEY or Config.APIKey to a key from https://aistudio.google.com/apikey"

// keyHeader is the header with the key, which is never part of a URL.
const keyHeader = "X-Goog-Api-Key"

// newKey finds the key: in the Config, else in the environment, if trusted says that it may be sent
// to the address.
func newKey(cfg *Config, trusted, optional bool) (adapter.Key, error) {
	key, _, err := adapter.KeyConfig{Name: Name, Remedy: remedy, Fixed: cfg.APIKey, Ask: cfg.Key, Header: cfg.Header,
		Own: keyHeader, Trusted: trusted, Optional: optional}.Find("GOOGLE_API_KEY", "GEMINI_API_KEY")
	return key, err
}

// Format writes the Config for every verb, without its key, the values of its headers and what may
// be secret in its address.
func (c Config) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "gemini.Config{Model:%q BaseURL:%q APIKey:%t Key:%t Header:%q}", c.Model,
		adapter.PublicURL(c.BaseURL), c.APIKey != "", c.Key != nil, slices.Sorted(maps.Keys(c.Header)))
}
