package anthropic

import (
	"fmt"
	"os"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

const remedy = "set ANTHROPIC_API_KEY or Config.APIKey to a key from https://platform.claude.com/settings/keys"

// A credential authorises requests.
type credential struct {
	adapter.Credential
	// option puts a key into a request; nil where there is none.
	option func(key string) option.RequestOption
}

// newCredential finds the key: what the Config says before what the environment does, which counts only where trusted says
// that it may be sent there.
func newCredential(cfg *Config, trusted, optional bool) (credential, error) {
	if key := strings.TrimSpace(cfg.APIKey); key != "" {
		return credential{adapter.Fixed(key), option.WithAPIKey}, nil
	}
	if cfg.Key != nil {
		return credential{adapter.Asked(Name, cfg.Key), option.WithAPIKey}, nil
	}
	keyless := credential{Credential: adapter.Fixed("")}
	if !trusted || cfg.Header.Get("Authorization") != "" || cfg.Header.Get("X-Api-Key") != "" {
		return keyless, nil
	}
	if key := strings.TrimSpace(os.Getenv("ANTHROPIC_API_KEY")); key != "" {
		return credential{adapter.Fixed(key), option.WithAPIKey}, nil
	}
	if token := strings.TrimSpace(os.Getenv("ANTHROPIC_AUTH_TOKEN")); token != "" {
		return credential{adapter.Fixed(token), option.WithAuthToken}, nil
	}
	if optional {
		return keyless, nil
	}
	return credential{}, adapter.NoKey(Name, remedy)
}

// String returns the Config without its secrets: the key, and what is in headers and in the address besides its host.
func (c Config) String() string {
	return fmt.Sprintf("anthropic.Config{Model: %q, APIKey: %s, Key: %t, BaseURL: %s, Header: %s, Models: %d}",
		c.Model, adapter.Redacted(c.APIKey != ""), c.Key != nil, adapter.Redacted(c.BaseURL != ""), adapter.Redacted(len(c.Header) > 0), len(c.Models))
}

// GoString returns what String does.
func (c Config) GoString() string { return c.String() }

// Format writes what String returns, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }
