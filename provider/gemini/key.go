package gemini

import (
	"fmt"
	"os"
	"strings"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

const remedy = "set GEMINI_API_KEY or Config.APIKey to a key from https://aistudio.google.com/apikey"

// keyHeader is where a key is sent. It is never part of an address.
const keyHeader = "X-Goog-Api-Key"

// newCredential finds the key: what the Config says before what the environment does, which counts only where trusted says
// that it may be sent there.
func newCredential(cfg *Config, trusted, optional bool) (adapter.Credential, error) {
	if key := strings.TrimSpace(cfg.APIKey); key != "" {
		return adapter.Fixed(key), nil
	}
	if cfg.Key != nil {
		return adapter.Asked(Name, cfg.Key), nil
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
	return adapter.Credential{}, adapter.NoKey(Name, remedy)
}

// String returns the Config without its secrets: the key, and what is in headers and in the address besides its host.
func (c Config) String() string {
	return fmt.Sprintf("gemini.Config{Model: %q, APIKey: %s, Key: %t, BaseURL: %s, Header: %s, Models: %d}",
		c.Model, adapter.Redacted(c.APIKey != ""), c.Key != nil, adapter.Redacted(c.BaseURL != ""), adapter.Redacted(len(c.Header) > 0), len(c.Models))
}

// GoString returns what String does.
func (c Config) GoString() string { return c.String() }

// Format writes what String returns, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
