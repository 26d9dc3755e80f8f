package gemini

import (
	"fmt"
	"os"
	"strings"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

const remedy = "set GEMINI_API_KEY or Config.APIKey to a key from https://aistudio.google.com/apikey"

// keyHeader is the header with the key, which is never part of a URL.
const keyHeader = "X-Goog-Api-Key"

// newKey finds the key: in the Config, else in the environment, if trusted says that it may be sent
// to the address.
func newKey(cfg *Config, trusted, optional bool) (adapter.Key, error) {
	if key := strings.TrimSpace(cfg.APIKey); key != "" {
		return adapter.Fixed(key), nil
	}
	if cfg.Key != nil {
		return adapter.Asked(Name, true, adapter.ReturnKey, cfg.Key), nil
	}
	if !trusted || cfg.Header.Get("Authorization") != "" || cfg.Header.Get(keyHeader) != "" {
		return adapter.Fixed(""), nil
	}
	for _, name := range []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"} {
		if key := strings.TrimSpace(os.Getenv(name)); key != "" {
			return adapter.Fixed(key), nil
		}
	}
	if optional {
		return adapter.Fixed(""), nil
	}
	return nil, adapter.NoKey(Name, remedy)
}

// String describes the Config without its secrets: the key, the headers and the address.
func (c Config) String() string {
	return fmt.Sprintf("gemini.Config{Model: %q, APIKey: %s, Key: %t, BaseURL: %s, Header: %s, Models: %d}",
		c.Model, adapter.Redacted(c.APIKey != ""), c.Key != nil, adapter.Redacted(c.BaseURL != ""),
		adapter.Redacted(len(c.Header) > 0), len(c.Models))
}

// GoString returns String.
func (c Config) GoString() string { return c.String() }

// Format writes String for every verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
